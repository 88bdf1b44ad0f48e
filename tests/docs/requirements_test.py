# SPDX-License-Identifier: Apache-2.0
"""docs/requirements.md names every requirement, each with tests. .ci/run checks with Bazel that these tests exist."""

import re
import sys
import unittest

SECTIONS = {"A": 9, "B": 7, "C": 6, "D": 4, "E": 2, "F": 4, "G": 1, "I": 3}
PAGE = sys.argv[1]


class RequirementsTest(unittest.TestCase):
    def setUp(self):
        with open(PAGE) as file:
            rows = re.findall(r"^\| ([A-Z]\d+) \| (.+) \| (.+) \|$", file.read(), re.MULTILINE)
        self.labels = [(identifier, re.findall(r"`(//[^`]+)`", tests)) for identifier, _, tests in rows]

    def test_every_requirement_has_its_line(self):
        wanted = ["{}{}".format(section, i + 1) for section, count in SECTIONS.items() for i in range(count)]
        self.assertEqual([identifier for identifier, _ in self.labels], wanted)

    def test_every_line_names_tests(self):
        for identifier, labels in self.labels:
            with self.subTest(identifier):
                self.assertTrue(labels, "no test shows it")
                self.assertEqual(len(labels), len(set(labels)))
                for label in labels:
                    self.assertRegex(label, r"^//[a-z0-9_/]*:[a-z0-9_]+_test(_[a-z]+)?$")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
