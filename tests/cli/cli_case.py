# SPDX-License-Identifier: Apache-2.0
"""Helpers for the tests of the command line."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import tempfile
import termios
import unittest

KILN = os.path.abspath("tools/kiln/kiln")
DIGITS = os.path.abspath("models/digits/digits.onnx")
MY_MOD = os.path.abspath("models/my_mod/my_mod.relay")

# The built-in code generators.
CODEGENS = re.search("^code generators: (.*)$", subprocess.check_output([KILN, "--version"]).decode(), re.M).group(1).split(", ")
needs_llvm = unittest.skipUnless("llvm" in CODEGENS, "the compiler is built without LLVM, which makes objects")


def npy(descr, shape, data):
    """Returns a NumPy file in version 1 of the format."""
    header = str({"descr": descr, "fortran_order": False, "shape": shape}).encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


class CliCase(unittest.TestCase):
    """Runs the tool in an empty folder, self.folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.out = self.path("out")

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data.encode() if isinstance(data, str) else data)
        return self.path(name)

    def kiln(self, *args):
        return subprocess.run(
            [KILN] + list(args), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder
        )

    def in_terminal(self, columns, *args, environment=()):
        """Returns the text that a run writes to a terminal with this number of columns."""
        controller, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        variables = dict(os.environ, TERM="xterm")
        variables.pop("NO_COLOR", None)
        variables.update(environment)
        process = subprocess.Popen(
            [KILN] + list(args), stdin=subprocess.DEVNULL, stdout=terminal, stderr=terminal, cwd=self.folder, env=variables
        )
        os.close(terminal)
        written = b""
        while True:
            try:
                piece = os.read(controller, 1 << 16)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            written += piece
        os.close(controller)
        self.assertEqual(process.wait(), 0, written.decode())
        return written.decode().replace("\r\n", "\n")

    def succeeds(self, *args):
        result = self.kiln(*args)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        return result.stdout.decode()

    def refuses(self, words, *args):
        """Checks that the run fails with a user error, that its message contains `words`, and that there is no output
        folder."""
        result = self.kiln(*args)
        message = result.stderr.decode()
        self.assertEqual(result.returncode, 2, message)
        self.assertIn(words, message)
        self.assertEqual(result.stdout, b"")
        self.assertFalse(os.path.exists(self.out))

    def without_checksums(self, text):
        """Returns the text without SHA-256 sums, because one of them is that of the options."""
        return re.sub("[0-9a-f]{64}", "", text)

    def files(self, folder):
        """Returns the bytes of all files below `folder`, by relative path."""
        contents = {}
        for path, _, names in os.walk(folder):
            for name in names:
                with open(os.path.join(path, name), "rb") as file:
                    contents[os.path.relpath(file.name, folder)] = file.read()
        return contents
