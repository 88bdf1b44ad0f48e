# SPDX-License-Identifier: Apache-2.0
"""Findings of the checks of text: each rule finds a breach and accepts the text without it."""

import pathlib
import unittest

from tools.lint import lint, prose


class Messages(lint.Report):
    """The errors of a report as a list."""

    def __init__(self):
        super().__init__()
        self.messages = []

    def error(self, path, line, message):
        self.messages.append((line, message))


class ProseTest(unittest.TestCase):
    def rules(self, name, source):
        return [(finding.line, finding.rule) for finding in prose.findings_of(pathlib.Path(name), source)]

    def test_openings(self):
        self.assertEqual(self.rules("a.cc", "// What it is.\nint a;\n// The value.\n"), [(1, "opening")])
        self.assertEqual(self.rules("a.cc", "int a;  // the sum\nint b;  // Of the parts\n"), [(2, "opening")])
        # A block that continues is one comment, and so is a comment after the license.
        self.assertEqual(self.rules("a.cc", "int a;  // the sum\n        // Of the parts\n"), [])
        self.assertEqual(self.rules("a.cc", "// SPDX-License-Identifier: Apache-2.0\n// How it works.\n"), [(1, "opening")])
        self.assertEqual(self.rules("a.cc", 'const char* a = "// What";\n/* Where it is. */\n'), [(2, "opening")])
        self.assertEqual(self.rules("a.py", '"""Which one."""\n\n\ndef f():\n    """The one."""\n'), [(1, "opening")])
        self.assertEqual(self.rules("a.sh", "#!/bin/sh\n# Whether it runs.\n"), [(2, "opening")])
        self.assertEqual(self.rules("a.md", "Text.\n\n- Those.\n\n```\nWhat\n```\n\n| That |\n"), [(3, "opening"), (9, "opening")])

    def test_phrases_sentences_and_columns(self):
        self.assertEqual(self.rules("a.md", "The parts, of\nwhich one is large, and `of which` no other.\n"), [(1, "phrase")])
        self.assertEqual(self.rules("a.md", "word " * 36 + "\n"), [(1, "long")])
        self.assertEqual(self.rules("a.md", "word " * 35 + "\n"), [])
        self.assertEqual(self.rules("a.cc", "// Short.\n// " + "x" * 98 + "\n"), [(2, "columns")])
        self.assertEqual(self.rules("a.cc", 'const char* a = "// {}";\n'.format("x" * 98)), [])

    def test_limits(self):
        self.assertEqual(prose.above({"a": {"long": 2}}, {"a": {"long": 2}}), [])
        self.assertEqual(len(prose.above({"a": {"long": 3}, "b": {"phrase": 1}}, {"a": {"long": 2}})), 2)


class FunctionsTest(unittest.TestCase):
    def test_length(self):
        for lines, wanted in ((78, []), (79, [(2, "a function of 81 lines, wanted at most 80")])):
            report = Messages()
            source = ["namespace kiln {", "int F() {"] + ["  G();"] * lines + ["}", "}  // namespace kiln"]
            lint.check_functions(pathlib.Path("compiler/f.cc"), source, report)
            self.assertEqual(report.messages, wanted)


if __name__ == "__main__":
    unittest.main()
