# SPDX-License-Identifier: Apache-2.0
"""Lines of code: comments, blank lines and tests do not count."""

import collections
import os
import pathlib
import subprocess
import tempfile
import unittest

from tools.testing import count_code


class CodeLinesTest(unittest.TestCase):
    def test_c(self):
        self.assertEqual(count_code.code_lines("a.cc", "// A\n\nint a;  // B\n/* C\n   D */\nint b; /* E\n */ int c;\n"), 3)
        self.assertEqual(count_code.code_lines("a.h", 'const char* a = "/*";\nint b;\nconst char* c = "*/";\n'), 3)
        self.assertEqual(count_code.code_lines("a.cc", 'auto a = R"(\n// text\n\n)";\nint b = 1\'000;  // C\n'), 4)

    def test_python_and_shell(self):
        source = '"""A page.\n\nMore.\n"""\n\n# A\nimport os\n\n\ndef f():\n    """What."""\n    return """a\n# b\n"""  # c\n'
        self.assertEqual(count_code.code_lines("a.py", source), 5)
        self.assertEqual(count_code.code_lines("a.sh", "#!/bin/sh\n\n  # A\necho '# b'  # c\n"), 1)

    def test_product(self):
        for path in ("compiler/graph/parse.cc", "runtime_crt/start.S", "tools/kiln/main.h", "setup.py"):
            self.assertTrue(count_code.is_product(path), path)
        for path in ("a/parse_test.cc", "a/test_ops.h", "tests/a.cc", "python/tests/a.py", "a/testdata/b.h", "docs/a.py", "a/b.md", "a/BUILD.bazel"):
            self.assertFalse(count_code.is_product(path), path)


class CommitsTest(unittest.TestCase):
    def test_two_commits(self):
        home = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
                subprocess.run(git + ["init", "-q"], check=True)
                pathlib.Path("one").mkdir()
                for text, tag in (("int a;\n", "first"), ("int a;\n// b\nint c;\n", "second")):
                    pathlib.Path("one", "ä b.cc").write_text(text, encoding="utf-8")
                    pathlib.Path("one", "b_test.cc").write_text(text, encoding="utf-8")
                    pathlib.Path("c.py").write_text("import os\n", encoding="utf-8")
                    subprocess.run(git + ["add", "."], check=True)
                    subprocess.run(git + ["commit", "-q", "-m", tag], check=True)
                    subprocess.run(git + ["tag", tag], check=True)
                counts = [count_code.count(tag) for tag in ("first", "second")]
            finally:
                os.chdir(home)
        self.assertEqual(counts, [{"one": 1, ".": 1}, {"one": 2, ".": 1}])
        lines = [line.split() for line in count_code.table(["first", "second"], counts)]
        self.assertEqual(lines, [["folder", "first", "second", "difference"], [".", "1", "1", "+0"], ["one", "1", "2", "+1"], ["total", "2", "3", "+1"]])

    def test_one_commit(self):
        lines = count_code.table(["HEAD"], [collections.Counter({"a": 2, "b": 3})])
        self.assertEqual([line.split() for line in lines], [["folder", "HEAD"], ["a", "2"], ["b", "3"], ["total", "5"]])


if __name__ == "__main__":
    unittest.main()
