# SPDX-License-Identifier: Apache-2.0
"""Temporary folders that are removed with the object that owns them.

A killed process cannot remove its folders. The next process that creates one removes them: a process locks its folders
while it lives, so a folder without a lock is abandoned. The command line uses the same names and locks
(compiler/base/temporary_folder.h), so that each removes abandoned folders of the other.
"""

import contextlib
import fcntl
import os
import random
import re
import shutil
import string
import tempfile
import weakref
from typing import Iterator

# The name is unlikely for any other folder: every folder with such a name that is not locked is removed.
_PREFIX, _CHARACTERS = ".kiln-scratch-", 6
_NAME = re.compile(re.escape(_PREFIX) + "[0-9A-Za-z]{%d}" % _CHARACTERS)
_names = random.SystemRandom()


def _open(path: str) -> int:
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)


def _remove_if_abandoned(path: str) -> None:
    with contextlib.suppress(OSError):
        descriptor = _open(path)
        try:
            if os.fstat(descriptor).st_uid == os.geteuid():
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
        finally:
            os.close(descriptor)


def _remove_abandoned(place: str) -> None:
    with contextlib.suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            if _NAME.fullmatch(entry.name):
                _remove_if_abandoned(entry.path)


def _is_at(descriptor: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except FileNotFoundError:
        return False


def _remove(path: str, descriptor: int, process: int) -> None:
    if os.getpid() == process:  # After a fork, only the parent removes the folder.
        shutil.rmtree(path, ignore_errors=True)
    os.close(descriptor)


class Folder:
    """An empty folder in the system's place for temporary files. It is removed with the object or by `remove()`."""

    def __init__(self) -> None:
        place = tempfile.gettempdir()
        _remove_abandoned(place)
        while True:
            name = "".join(_names.choices(string.ascii_letters + string.digits, k=_CHARACTERS))
            self.path = os.path.join(place, _PREFIX + name)
            try:
                os.mkdir(self.path, 0o700)
                descriptor = _open(self.path)
            except (FileExistsError, FileNotFoundError):
                if not os.path.isdir(place):
                    raise
                continue  # The name is taken, or another process removed the folder as abandoned.
            with contextlib.suppress(OSError):  # On a file system without locks, no folder is removed as abandoned.
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            # Another process may have removed the folder before it was locked.
            if _is_at(descriptor, self.path):
                break
            os.close(descriptor)
        self.remove = weakref.finalize(self, _remove, self.path, descriptor, os.getpid())


def without_folders(text: str) -> str:
    """Removes temporary folders from a command's text. A model in such a folder becomes "the model"."""
    folder = re.escape(tempfile.gettempdir() + os.sep) + _NAME.pattern + "/"
    text = re.sub(folder + r"reference/model(\.onnx)?(?![\w.])", "the reference", text)
    text = re.sub(folder + r"model(\.onnx)?(?![\w.])", "the model", text)
    return re.sub(folder, "", text)


@contextlib.contextmanager
def scratch_folder() -> Iterator[str]:
    """Yields the path of a folder for the files of one command, and removes the folder afterwards."""
    folder = Folder()
    try:
        yield folder.path
    finally:
        folder.remove()
