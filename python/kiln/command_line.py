# SPDX-License-Identifier: Apache-2.0
"""The `kiln` command line in a child process, with keyword arguments for its options.

    run("compile", ["digits.onnx"], {"output": "out", "target": "x86-64-v3", "profile": True})

A process of its own means that a crash or a lack of memory is an exception here, that Ctrl-C ends a compilation at once, and that
Python's other threads go on. The child ends with the thread that started it, and so with Python, also if a signal ends that
(tools/kiln/parent_process.h). The logger "kiln" gets its notes as warnings, its progress and its time as INFO, and its command line
as DEBUG.
"""

import contextlib
import logging
import os
import pathlib
import re
import shlex
import signal
import subprocess
import time
from typing import List, Mapping, Optional, Sequence, Tuple, Union

from kiln.errors import CompilerError, ModelError
from kiln.folders import scratch_folder, without_folders

Value = Union[None, bool, int, float, str, "os.PathLike[str]"]
Option = Union[Value, Sequence[Value], Mapping[str, Union[Value, Tuple[int, ...]]]]

PROGRAM = str(pathlib.Path(__file__).parent / "bin" / "kiln")
# Statuses of commands: what was compared is not the same; the model or an option is wrong.
DISAGREES, USERS_FAULT = 1, 2
# How lines of standard error begin: all that are no progress, and those of them that are no errors.
_SAYS, _NOTES, _PROGRESS = "kiln: ", "kiln: note: ", "kiln: progress: "
# In Python there is no --help.
_ADVICE = "Run with --help for more information."
_UNKNOWN_OPTION = re.compile(r"unknown option '--([\w-]+)'(?:, perhaps '--([\w-]+)')?")
# Between two lines of progress, if somebody reads them.
_SECONDS_OF_PROGRESS = "5"
_log = logging.getLogger("kiln")
# For a child that has been interrupted: `kiln tune` writes what it has found.
_SECONDS_TO_END = 10


def _text(value: Value) -> str:
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def _item(key: str, value: Union[Value, Tuple[int, ...]]) -> str:
    if isinstance(value, tuple):
        return key + ":" + "x".join(str(extent) for extent in value)
    return key + "=" + _text(value)


def arguments(options: Mapping[str, Option]) -> List[str]:
    """The command line's form of keyword arguments; None is as if the keyword were not there.

    >>> arguments({"target": "cortex-m4f", "no_winograd": True, "pool": ["tcm:32K", "ram:any"]})
    ['--target=cortex-m4f', '--no-winograd', '--pool=tcm:32K', '--pool=ram:any']
    >>> arguments({"input": {"data": (1, 3, 224, 224)}, "constant": {"rate": 16000}, "headers": False, "tuning": None})
    ['--input=data:1x3x224x224', '--constant=rate=16000', '--headers=false']
    """
    words = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is None:
            continue
        if isinstance(value, bool):
            words.append(flag if value else flag + "=false")
        elif isinstance(value, Mapping):
            words += [flag + "=" + _item(key, item) for key, item in value.items()]
        elif isinstance(value, Sequence) and not isinstance(value, str):
            words += [flag + "=" + _text(item) for item in value]
        else:
            words.append(flag + "=" + _text(value))
    return words


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Ends the child and its own children, which are a group of processes."""
    try:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=_SECONDS_TO_END)
    finally:
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def _message(process: "subprocess.Popen[bytes]") -> str:
    """What a command says is wrong, as far as anything is. Notes and progress are logged as they come."""
    lines: List[str] = []
    for line in process.stderr or ():
        text = without_folders(line.decode("utf-8", "replace").rstrip())
        if text == _ADVICE:
            continue
        if text.startswith(_NOTES):
            _log.warning("%s", text[len(_NOTES) :])
            continue
        if text.startswith(_PROGRESS):
            _log.info("%s", text[len(_PROGRESS) :])
            continue
        if not text.startswith(_SAYS):
            _log.info("%s", text)
        lines.append(text)
    message = "\n".join(lines).strip()
    return message[len(_SAYS) :] if message.startswith(_SAYS) else message


def no_option(function: str, name: str, nearest: str = "") -> str:
    """The message about an option that a function does not have, and perhaps the one that was meant.

    >>> no_option("tune", "tme", "time")
    "kiln.tune() has no option 'tme', perhaps 'time'"
    """
    return f"kiln.{function}() has no option '{name}'" + (f", perhaps '{nearest}'" if nearest else "")


def _of_options(command: str, message: str) -> str:
    """A message about an option of the command line as one about a keyword of the function of the same name."""
    match = _UNKNOWN_OPTION.fullmatch(message)
    if match is None:
        return message
    return no_option(*((word or "").replace("-", "_") for word in (command, *match.groups())))


def run(
    command: str,
    operands: Sequence[str] = (),
    options: Optional[Mapping[str, Option]] = None,
    answers: Sequence[int] = (),
) -> str:
    """What the command prints on standard output.

    Args:
      command: "compile", "inspect" and so on.
      operands: the model, library or file that it is about.
      options: the command's options; `arguments` says how they are spelt.
      answers: the statuses besides 0 with which what it prints is the answer too, so that they are no exceptions.
    Raises:
      ModelError: the command says that the model or an option is wrong.
      CompilerError: it failed otherwise.
    """
    words = [PROGRAM, command, *arguments(options or {}), "--", *operands]
    _log.debug("running %s", shlex.join(words))
    begin = time.monotonic()
    progress = {"KILN_PROGRESS": _SECONDS_OF_PROGRESS} if _log.isEnabledFor(logging.INFO) else {}
    with scratch_folder() as folder, open(os.path.join(folder, "output"), "w+b") as output_file:
        try:
            process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=output_file,
                stderr=subprocess.PIPE,
                # This thread waits for the child.
                env=dict(os.environ, TMPDIR=folder, KILN_PARENT_PROCESS=str(os.getpid()), **progress),
                start_new_session=True,
            )
        except OSError as error:
            raise CompilerError(f"the command line of this package cannot be run: {error}") from error
        with process:
            try:
                message = _message(process)
                process.wait()
            except BaseException:
                _end(process)
                raise
        output_file.seek(0)
        output = output_file.read()
    _log.info("%s: %.1f s", without_folders(" ".join(["kiln", command, *operands])), time.monotonic() - begin)
    if process.returncode == 0 or (process.returncode in answers and output):
        return output.decode("utf-8", "replace")
    if process.returncode == USERS_FAULT:
        raise ModelError(_of_options(command, message))
    if process.returncode < 0:
        name = signal.Signals(-process.returncode).name
        raise CompilerError(f"kiln {command} was ended by {name}" + (": " + message if message else ""))
    raise CompilerError(message or f"kiln {command} ended with status {process.returncode}")
