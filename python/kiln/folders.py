# SPDX-License-Identifier: Apache-2.0
"""Folders for files that are of no use when their object is gone.

A process that is killed leaves its folders behind. Making the next one removes them: a folder is locked as long as the process that
made it lives. The command line does the same (compiler/base/temporary_folder.h), so that each also removes what the other has left.
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

# The name is one that nobody gives a folder: all that have it and are not locked are removed.
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
    if os.getpid() == process:  # A fork leaves the folder to its parent.
        shutil.rmtree(path, ignore_errors=True)
    os.close(descriptor)


class Folder:
    """An empty folder in the place for temporary files, which is removed with the object, or by `remove()`."""

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
                continue  # The name is taken, or another process took the folder for an abandoned one.
            with contextlib.suppress(OSError):  # A file system may have no locks; nothing is then removed as abandoned.
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            # Another process may have removed it before it was locked.
            if _is_at(descriptor, self.path):
                break
            os.close(descriptor)
        self.remove = weakref.finalize(self, _remove, self.path, descriptor, os.getpid())


def without_folders(text: str) -> str:
    """Text of a command as its user understands it: a model that lies in such a folder is "the model", and other files lose the folder."""
    folder = re.escape(tempfile.gettempdir() + os.sep) + _NAME.pattern + "/"
    text = re.sub(folder + r"reference/model(\.onnx)?(?![\w.])", "the reference", text)
    text = re.sub(folder + r"model(\.onnx)?(?![\w.])", "the model", text)
    return re.sub(folder, "", text)


@contextlib.contextmanager
def scratch_folder() -> Iterator[str]:
    """A folder for files of one command, which is gone afterwards."""
    folder = Folder()
    try:
        yield folder.path
    finally:
        folder.remove()
