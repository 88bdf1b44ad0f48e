# SPDX-License-Identifier: Apache-2.0
"""Files of two compilers: comments and the order of JSON may differ, and nothing else."""

import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

from tools.testing import compare_compilers

_COMPILER = """#!/usr/bin/env python3
import pathlib, sys
arguments = sys.argv
folder = arguments[arguments.index("-o") + 1]
if "cortex-m4f" in arguments:
    sys.exit("refused")
pathlib.Path(folder, "module.c").write_text("int x; /* {} */")
pathlib.Path(folder, "module.o").write_text("{}" + arguments[arguments.index("--target") + 1])
"""


class FilesTest(unittest.TestCase):
    def test_c_without_comments(self):
        same = compare_compilers.same_file
        self.assertTrue(same("m.c", b"int x;  // one", b"int x;  // two"))
        self.assertTrue(same("m.h", b"/* one\n*/int x;", b"/* two */int x;"))
        self.assertFalse(same("m.c", b"int x;", b"int y;"))
        self.assertFalse(same("m.c", b'const char* s = "// one";', b'const char* s = "// two";'))

    def test_json_and_objects(self):
        same = compare_compilers.same_file
        self.assertTrue(same("m.metadata.json", b'{"a": 1, "b": [2]}', b'{ "b": [2], "a": 1 }'))
        self.assertFalse(same("m.metadata.json", b'{"a": 1}', b'{"a": 2}'))
        self.assertFalse(same("m.o", b"ab", b"ac"))

    def test_files_that_exist_once(self):
        self.assertEqual(compare_compilers.different_files({"a.o": b"", "b.o": b""}, {"a.o": b"", "c.o": b""}), ["b.o", "c.o"])


class CommandTest(unittest.TestCase):
    def run_with(self, old, new, targets):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "model.onnx").write_text("")
            for compiler, object_text in (("old", old), ("new", new)):
                path = folder / compiler
                path.write_text(_COMPILER.format(compiler, object_text))
                path.chmod(path.stat().st_mode | stat.S_IXUSR)
            command = [sys.executable, "tools/testing/compare_compilers.py", folder / "old", folder / "new", folder, "--targets", targets]
            result = subprocess.run(command, stdout=subprocess.PIPE, universal_newlines=True, check=False)
            return result.returncode, result.stdout.replace(name, "")

    def test_equal_compilers(self):
        expected = "4 compilations of 1 models: 0 differ, 2 are refused by both\n"
        self.assertEqual(self.run_with("one", "one", "aarch64,cortex-m4f"), (0, expected))

    def test_differences_are_named(self):
        expected = ("/model.onnx, aarch64, llvm: module.o\n/model.onnx, aarch64, c: module.o\n"
                    "2 compilations of 1 models: 2 differ, 0 are refused by both\n")
        self.assertEqual(self.run_with("one", "two", "aarch64"), (1, expected))


if __name__ == "__main__":
    unittest.main()
