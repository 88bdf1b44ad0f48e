# SPDX-License-Identifier: Apache-2.0
"""The annotations, by mypy --strict: of the package, and of a program that uses it."""

import os
import subprocess
import tempfile
import unittest

import kiln

_PACKAGE = os.path.dirname(kiln.__file__)
_PROGRAM = """
import kiln, numpy
library: kiln.Library = kiln.compile("m.onnx", target="host", pool=["a:any"], input={"x": (1, 2)}, no_winograd=True)
model: kiln.Model = library.load(threads=2)
y = model(numpy.zeros(3), out=numpy.zeros(4), scale=numpy.ones(1))
report: str = library.report()
"""


@unittest.skipUnless(os.path.exists("/usr/bin/mypy"), "Debian's package mypy is not installed")
class TypesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls._folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls._folder.cleanup)

    def mypy(self, program):
        path = os.path.join(self._folder.name, "program.py")
        with open(path, "w") as file:
            file.write(program)
        command = ["/usr/bin/mypy", "--strict", "--cache-dir", os.path.join(self._folder.name, "cache"), "-p", "kiln", "-m", "program"]
        environment = dict(os.environ, MYPYPATH=os.path.dirname(_PACKAGE) + ":" + self._folder.name)
        return subprocess.run(command, env=environment, capture_output=True, text=True, cwd=self._folder.name)

    def test_annotations(self):
        good = self.mypy(_PROGRAM)
        self.assertEqual(good.returncode, 0, good.stdout + good.stderr)
        bad = self.mypy(_PROGRAM + "library.load(threads='two')\n")
        self.assertIn('incompatible type "str"', bad.stdout)


if __name__ == "__main__":
    unittest.main()
