# SPDX-License-Identifier: Apache-2.0
"""docs/metadata.md names every message and field of the schema, and no other fields."""

import re
import sys
import unittest

PAGE, SCHEMA = sys.argv[1], sys.argv[2]


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class MetadataPageTest(unittest.TestCase):
    def setUp(self):
        self.fields = read(PAGE).split("## Fields")[1].split("\n## ")[0]
        self.schema = read(SCHEMA)

    def test_every_field_is_there(self):
        fields = re.findall(r"^  (?:repeated )?\w+ (\w+) = \d+;", self.schema, re.MULTILINE)
        self.assertGreater(len(fields), 50)
        for field in fields:
            with self.subTest(field):
                self.assertIn("`{}`".format(field), self.fields)

    def test_every_message_is_there(self):
        for message in re.findall(r"^message (\w+)", self.schema, re.MULTILINE):
            with self.subTest(message):
                self.assertIn("| `{}` |".format(message), self.fields)

    def test_first_columns_name_what_the_schema_has(self):
        for row in re.findall(r"^\| (`.*?) \|", self.fields, re.MULTILINE):
            for name in re.findall(r"`(\w+)`", row):
                with self.subTest(name):
                    self.assertRegex(self.schema, r"\b{}\b".format(name))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
