# SPDX-License-Identifier: Apache-2.0
"""Every core has flags in platform_mappings, and a board to run its programs."""

import json
import re
import sys
import unittest


class PlatformsTest(unittest.TestCase):
    def test_platform_mappings(self):
        with open("platform_mappings", encoding="utf-8") as file:
            text = file.read()
        blocks = re.findall(r"^  //tools/bazel/platforms:(\w+)\n    --distinct_host_configuration\n    --platform_suffix=-(\w+)$", text, re.M)
        self.assertEqual(blocks, [(core, core) for core in TABLES["cores"]])

    def test_boards(self):
        self.assertEqual(TABLES["boards"], TABLES["cores"])


if __name__ == "__main__":
    TABLES = json.loads(sys.argv.pop(1))
    unittest.main()
