# SPDX-License-Identifier: Apache-2.0
"""Every stage prints the text of its file in this folder, and every stage and pass has a file."""

import difflib
import os
import re
import subprocess
import sys
import unittest

from tests.golden import golden

WITHOUT_LLVM = "--without_llvm"
MAX_DIFF_LINES = 60


def read(name):
    with open(os.path.join(golden.FOLDER, name), encoding="utf-8") as file:
        return file.read()


def complaint(*arguments):
    """Returns the error message for a command line that the compiler refuses."""
    model = os.path.join(golden.FOLDER, "convolution.relay")
    result = subprocess.run([golden.KILN, "compile", model] + list(arguments), stderr=subprocess.PIPE)
    return result.stderr.decode()


class GoldenTest(unittest.TestCase):
    def test_texts(self):
        for case in golden.CASES:
            with self.subTest(case.expected):
                if case.needs_llvm and WITHOUT_LLVM in ARGUMENTS:
                    self.skipTest("the compiler is built without LLVM")
                self.assertTrue(os.path.exists(os.path.join(golden.FOLDER, case.expected)), "missing; " + golden.UPDATE)
                expected, found = read(case.expected), case.run()
                if expected == found:
                    continue
                diff = list(
                    difflib.unified_diff(
                        expected.splitlines(), found.splitlines(), case.expected, case.command(), n=2, lineterm=""
                    )
                )
                if len(diff) > MAX_DIFF_LINES:
                    diff[MAX_DIFF_LINES:] = ["… and {} more lines".format(len(diff) - MAX_DIFF_LINES)]
                diff.append("If this is what it should print:   " + golden.UPDATE)
                self.fail("\n" + "\n".join(diff))

    def test_twice_the_same(self):
        for case in golden.CASES:
            if not case.needs_llvm:
                self.assertEqual(case.run(), case.run(), case.command())

    def test_every_stage_has_a_case(self):
        stages = re.search(r"wanted one of (.*)", complaint("--emit=bake")).group(1).split(", ")
        self.assertGreater(len(stages), 10)
        covered = {re.sub(":.*", ":<pass>", case.stage) for case in golden.CASES}
        self.assertEqual(set(stages), covered)

    def test_every_pass_does_something_in_its_case(self):
        passes = re.search(r"these have: (.*)", complaint("--emit=after:bake")).group(1).split(", ")
        self.assertGreater(len(passes), 5)
        before = "graph"
        for name in passes:
            with self.subTest(name):
                stage = "after:" + name
                cases = [case for case in golden.CASES if case.stage == stage]
                self.assertNotEqual(cases, [], "no case")
                for case in cases:
                    self.assertNotEqual(golden.emit(case.model, ["--emit=" + before] + case.arguments[1:]), case.run())
                before = stage

    def test_no_file_without_a_case(self):
        files = {name for name in os.listdir(golden.FOLDER) if name.endswith(".txt")}
        self.assertEqual(files, {case.expected for case in golden.CASES}, golden.UPDATE)


if __name__ == "__main__":
    ARGUMENTS = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
