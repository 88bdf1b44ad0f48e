# SPDX-License-Identifier: Apache-2.0
"""Runs the `kiln` command line in a child process. Keyword arguments become its options.

    run("compile", ["digits.onnx"], {"output": "out", "target": "x86-64-v3", "profile": True})

Because of the separate process, a crash or a lack of memory of the compiler becomes an exception, Ctrl-C ends a
compilation at once, and other Python threads keep running. The child ends with the thread that started it, and so with
Python, even if a signal kills Python (tools/kiln/parent_process.h). The logger "kiln" receives the child's notes as
warnings, its progress and the elapsed time as INFO, and its command line as DEBUG.
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
# Exit statuses of commands: the compared values differ; the model or an option is wrong.
DISAGREES, USERS_FAULT = 1, 2
# Prefixes of lines on standard error: error messages, notes and progress.
_SAYS, _NOTES, _PROGRESS = "kiln: ", "kiln: note: ", "kiln: progress: "
# A hint to --help, which Python callers do not have.
_ADVICE = "Run with --help for more information."
_UNKNOWN_OPTION = re.compile(r"unknown option '--([\w-]+)'(?:, perhaps '--([\w-]+)')?")
# Seconds between two lines of progress, if the log level shows them.
_SECONDS_OF_PROGRESS = "5"
_log = logging.getLogger("kiln")
# Time for a child to end after an interrupt. `kiln tune` writes its results during this time.
_SECONDS_TO_END = 10


def _text(value: Value) -> str:
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def _item(key: str, value: Union[Value, Tuple[int, ...]]) -> str:
    if isinstance(value, tuple):
        return key + ":" + "x".join(str(extent) for extent in value)
    return key + "=" + _text(value)


def arguments(options: Mapping[str, Option]) -> List[str]:
    """Returns keyword arguments as words of a command line. An option whose value is None is left out.

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
    """Ends the child and its own children, which form a process group."""
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
    """Returns the error message of a command, empty if there is none. Logs notes and progress while they arrive."""
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
    """Returns the error message for an unknown option, with the probably intended one if there is one.

    >>> no_option("tune", "tme", "time")
    "kiln.tune() has no option 'tme', perhaps 'time'"
    """
    return f"kiln.{function}() has no option '{name}'" + (f", perhaps '{nearest}'" if nearest else "")


def _of_options(command: str, message: str) -> str:
    """Turns a message about an unknown option of a command into one about a keyword of the Python function."""
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
    """Runs a command and returns its standard output.

    Args:
      command: the name of the command, such as "compile" or "inspect".
      operands: the model, library or file to process.
      options: the command's options, in the form that `arguments` accepts.
      answers: further exit statuses that are not errors. If the command prints something with such a status, the text is
        returned.
    Raises:
      ModelError: the command reports that the model or an option is wrong.
      CompilerError: the command failed in another way.
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
                # KILN_PARENT_PROCESS: the child ends when this thread ends.
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
