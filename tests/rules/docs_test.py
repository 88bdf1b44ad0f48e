# SPDX-License-Identifier: Apache-2.0
"""docs/bazel.md lists the attributes and output groups of the rule, and the arguments of model_test."""

import json
import re
import unittest


def read(path):
    with open(path) as file:
        return file.read()


def listed(text, heading):
    """Returns the names in the first column of the first table after a line."""
    table = text.split(heading, 1)[1].split("|---", 1)[1].split("\n\n", 1)[0]
    cells = [line.split("|")[1] for line in table.splitlines()[1:]]
    return sorted(name for cell in cells for name in re.findall(r"`([^`]*)`", cell))


class DocsTest(unittest.TestCase):
    def setUp(self):
        self.page = read("docs/bazel.md")
        self.rule = json.loads(read("tests/rules/rule.json"))

    def test_attributes(self):
        self.assertEqual(listed(self.page, "## cc_model"), self.rule["attributes"])

    def test_output_groups(self):
        self.assertEqual(listed(self.page, "### Output groups"), self.rule["output_groups"])

    def test_arguments_of_model_test(self):
        signature = re.search(r"def model_test\((.*?)\):", read("tools/model_test.bzl"), re.S).group(1)
        arguments = [argument.split("=")[0].strip() for argument in signature.split(",\n")]
        self.assertEqual(listed(self.page, "## model_test"), sorted(set(arguments) - {"name"}))


if __name__ == "__main__":
    unittest.main()
