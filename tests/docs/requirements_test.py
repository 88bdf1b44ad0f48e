# SPDX-License-Identifier: Apache-2.0
"""docs/requirements.md names every requirement, and tests that exist."""

import re
import sys
import unittest

SECTIONS = {"A": 9, "B": 7, "C": 6, "D": 4, "E": 2, "F": 4, "G": 1, "I": 3}
PAGE, TESTS = sys.argv[1:3]


class RequirementsTest(unittest.TestCase):
    def setUp(self):
        with open(PAGE) as file:
            rows = re.findall(r"^\| ([A-Z]\d+) \| (.+) \| (.+) \|$", file.read(), re.MULTILINE)
        self.labels = [(identifier, re.findall(r"`(//[^`]+)`", tests)) for identifier, _, tests in rows]

    def test_every_requirement_has_its_line(self):
        wanted = ["{}{}".format(section, i + 1) for section, count in SECTIONS.items() for i in range(count)]
        self.assertEqual([identifier for identifier, _ in self.labels], wanted)

    def test_every_line_names_tests_that_exist(self):
        with open(TESTS) as file:
            tests = set(file.read().split())
        for identifier, labels in self.labels:
            with self.subTest(identifier):
                self.assertTrue(labels, "no test shows it")
                for label in labels:
                    self.assertIn(label, tests)
        self.assertEqual(tests, {label for _, labels in self.labels for label in labels}, "the list in BUILD.bazel")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
