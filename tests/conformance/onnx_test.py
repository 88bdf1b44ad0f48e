# SPDX-License-Identifier: Apache-2.0
"""Runs ONNX's own test cases by kiln check-onnx. The cases in onnx_unsupported.json are refused, and all others pass."""

import json
import os
import subprocess
import sys
import unittest

KILN = os.path.abspath("tools/kiln/kiln")
TABLE = os.path.abspath("tests/conformance/onnx_unsupported.json")
# Debian's package libonnx-testdata.
DATA = "/usr/share/libonnx-testdata/data"
SUITES = {"node": 932, "pytorch-converted": 82, "pytorch-operator": 35, "simple": 23}
CODEGEN, EXECUTOR = sys.argv.pop(1), sys.argv.pop(1)


def built_in(codegen):
    version = subprocess.check_output([KILN, "--version"], text=True)
    return any(line.startswith("code generators:") and codegen in line.replace(",", " ").split() for line in version.splitlines())


@unittest.skipUnless(os.path.isdir(DATA), f"{DATA} is not there; the package libonnx-testdata has it")
@unittest.skipUnless(built_in(CODEGEN), f"the compiler is built without {CODEGEN}")
class OnnxTest(unittest.TestCase):
    def check(self, suite):
        command = [KILN, "check-onnx", os.path.join(DATA, suite), "--codegen", CODEGEN, "--executor", EXECUTOR, "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertTrue(done.stdout, done.stderr)
        found = {row["case"]: row for row in json.loads(done.stdout)}
        self.assertEqual(len(found), SUITES[suite])
        with open(TABLE, encoding="utf-8") as table:
            refused = {row["case"].split("/", 1)[1]: row["why"] for row in json.load(table) if row["case"].startswith(suite + "/")}
        self.assertEqual(set(refused) - set(found), set(), "the table names cases that there are not")
        wrong = []
        for case, row in found.items():
            wanted = "unsupported" if case in refused else "passed"
            if row["outcome"] != wanted:
                wrong.append(f"{case}: {row['outcome']}, wanted {wanted}: {row['reason']}")
        self.assertEqual(wrong, [])

    def test_node(self):
        self.check("node")

    def test_simple(self):
        self.check("simple")

    def test_pytorch_operator(self):
        self.check("pytorch-operator")

    def test_pytorch_converted(self):
        self.check("pytorch-converted")


if __name__ == "__main__":
    unittest.main()
