# SPDX-License-Identifier: Apache-2.0
"""Checks the annotations with mypy --strict, in the package and in a program that uses it."""

import inspect
import os
import re
import subprocess
import sys
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
numbers: tuple[int, int] = (model.num_threads, model.nbytes)
name: str = library.path.name if library.path is not None else ""
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
        # Versions before 1.7 need a flag for Unpack.
        unpack = "--enable-incomplete-feature=Unpack"
        command = ["/usr/bin/mypy", "--strict", unpack, "--cache-dir", os.path.join(self._folder.name, "cache"), "-p", "kiln", "-m", "program"]
        environment = dict(os.environ, MYPYPATH=os.path.dirname(_PACKAGE) + ":" + self._folder.name)
        return subprocess.run(command, env=environment, capture_output=True, text=True, cwd=self._folder.name)

    def test_annotations(self):
        good = self.mypy(_PROGRAM)
        self.assertEqual(good.returncode, 0, good.stdout + good.stderr)
        bad = self.mypy(_PROGRAM + "library.load(threads='two')\n")
        self.assertIn('incompatible type "str"', bad.stdout)
        for call, words in (("traget='host'", 'Unexpected keyword argument "traget"'), ("threads='two'", 'incompatible type "str"')):
            self.assertIn(words, self.mypy("import kiln\nkiln.compile('m.onnx', {})\n".format(call)).stdout)


class OptionsTest(unittest.TestCase):
    def test_options_are_those_of_the_command(self):
        text = subprocess.run([sys.executable, "-m", "kiln", "compile", "--help"], check=True, capture_output=True, text=True).stdout
        options = set(re.findall(r"^ +(?:-\w,)?--([a-z][a-z-]*)", text, re.MULTILINE))
        self.assertGreater(len(options), 20)
        typed = {name.replace("_", "-") for name in kiln.CompileOptions.__annotations__}
        self.assertEqual(typed, options - {"help", "output", "emit"})

    def test_help_names_them(self):
        parameters = inspect.signature(kiln.compile).parameters
        self.assertEqual(list(parameters)[:3], ["model", "example_inputs", "dynamic_shapes"])
        self.assertLessEqual(set(kiln.CompileOptions.__annotations__), set(parameters))
        self.assertIn("workspace_io", str(inspect.signature(kiln.emit)))


if __name__ == "__main__":
    unittest.main()
