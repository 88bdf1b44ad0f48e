# SPDX-License-Identifier: Apache-2.0
"""`kiln import-check`: which models can be imported, and every obstacle for the others."""

import json
import unittest

from tests.cli.cli_case import DIGITS, MY_MOD, CliCase


class ImportCheckTest(CliCase):
    def test_models_that_can_be_imported(self):
        self.assertIn(" ok", self.succeeds("import-check", DIGITS, MY_MOD))
        rows = json.loads(self.succeeds("import-check", "--json", DIGITS))
        self.assertEqual([row["ok"] for row in rows], [True])
        self.assertGreater(rows[0]["nodes"], 0)
        self.assertEqual(rows[0]["reasons"], [])

    def test_models_that_cannot(self):
        broken = self.write("broken.onnx", b"\x08\x08")
        result = self.kiln("import-check", DIGITS, broken)
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stdout.decode(), r"broken.onnx .* 1 reason against it\n")
        self.assertIn("1 of 2 models cannot be imported: {}: found no".format(broken), result.stderr.decode())
        rows = json.loads(self.kiln("import-check", "--json", broken).stdout)
        self.assertFalse(rows[0]["ok"])
        self.assertTrue(rows[0]["reasons"])


if __name__ == "__main__":
    unittest.main()
