# SPDX-License-Identifier: Apache-2.0
"""Makes system calls of the tool fail, one after the other. The tool must end with an error, and leave all of its files or none.

    bazel test //tests/faults:faults_test                              # a selection if there are many points
    bazel test //tests/faults:faults_test --test_arg=--points=100000   # every point; takes hours
"""

import os
import subprocess
import sys
import tempfile
import unittest

KILN = os.path.abspath("tests/faults/kiln_with_libc_malloc")
SMALL = os.path.abspath("models/my_mod/my_mod.relay")
THREADED = os.path.abspath("models/digits/digits.onnx")
FAULTS = os.path.abspath("tests/faults/libpreload.so")
KINDS = ["malloc", "write", "mmap", "dlopen", "thread"]
# Maximum number of points per kind and command.
POINTS = int(next((argument[len("--points=") :] for argument in sys.argv if argument.startswith("--points=")), 12))


class FaultsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.mkdir(self.path("tmp"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def kiln(self, command, **faults):
        environment = dict(os.environ, TMPDIR=self.path("tmp"), **faults)
        if faults:
            environment["LD_PRELOAD"] = FAULTS
        return subprocess.run(
            [KILN] + command, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def contents(self, folder):
        """Returns the files by path, or none if there is no folder."""
        files = {}
        for place, _, names in os.walk(self.path(folder)):
            for name in names:
                with open(os.path.join(place, name), "rb") as file:
                    files[os.path.relpath(os.path.join(place, name), self.path(folder))] = file.read()
        return files

    def count(self, kind, command):
        result = self.kiln(command, KILN_FAULT_KIND=kind, KILN_FAULT_COUNT=self.path("count"))
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.path("count")) as file:
            return int(file.read())

    def check(self, command):
        """Checks `command`, which writes to the folder "out"."""
        self.assertEqual(self.kiln(command).returncode, 0)
        whole = self.contents("out")
        self.assertTrue(whole)
        for kind in KINDS:
            calls = self.count(kind, command)
            number = min(calls, POINTS)
            failures = 0
            for i in range(number):
                at = i * calls // number
                with self.subTest(kind=kind, at=at, of=calls):
                    subprocess.run(["rm", "-rf", self.path("out")], check=True)
                    result = self.kiln(command, KILN_FAULT_KIND=kind, KILN_FAULT_AT=str(at))
                    # A library that cannot be loaded is a user error.
                    self.assertIn(result.returncode, (0, 2) if kind == "dlopen" else (0, 1), result.stderr.decode()[-2000:])
                    self.assertEqual(self.contents("out"), {} if result.returncode else whole)
                    self.assertEqual(os.listdir(self.path("tmp")), [])
                    if result.returncode:
                        failures += 1
                        self.assertIn(b"kiln: ", result.stderr)
            print("{}: {}: {} of {} calls failed, {} of these ended the command".format(command[0], kind, number, calls, failures))

    def test_compile(self):
        self.check(["compile", SMALL, "-o", "out"])

    def test_run(self):
        self.assertEqual(self.kiln(["compile", THREADED, "-o", "lib"]).returncode, 0)
        self.check(["run", "lib/digits.so", "--threads", "4", "--input", "image=random", "--output", "out"])


if __name__ == "__main__":
    unittest.main(argv=[argument for argument in sys.argv if not argument.startswith("--points=")])
