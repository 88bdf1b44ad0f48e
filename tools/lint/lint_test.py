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


class NamesTest(unittest.TestCase):
    def errors(self, source):
        report = Messages()
        lint.check_names(pathlib.Path("a.py"), source, report)
        return report.messages

    def test_a_name_that_is_defined_twice(self):
        for source, line, first in (
            ("def f():\n    pass\n\n\ndef f():\n    pass\n", 5, 1),
            ("class A:\n    def f(self):\n        pass\n\n    def g(self):\n        pass\n\n    def f(self):\n        pass\n", 8, 2),
            ("def f():\n    class A:\n        def f(self):\n            pass\n\n        async def f(self):\n            pass\n", 6, 3),
            ("class f:\n    pass\n\n\n@cache\ndef f():\n    pass\n", 6, 1),
        ):
            self.assertEqual(self.errors(source), [(line, "f replaces that of line {}: give it another name".format(first))], source)

    def test_names_that_are_shared_on_purpose(self):
        for source in (
            "class A:\n    def f(self):\n        pass\n\n\nclass B:\n    def f(self):\n        pass\n\n\ndef f():\n    pass\n",
            "class A:\n    @property\n    def f(self):\n        pass\n\n    @f.setter\n    def f(self, value):\n        pass\n",
            "@typing.overload\ndef f(a: int): ...\n\n\n@overload\ndef f(a: str): ...\n\n\ndef f(a):\n    pass\n",
            "@functools.singledispatch\ndef f(a):\n    pass\n\n\n@f.register(int)\ndef f(a):\n    pass\n",
            "if new:\n    def f():\n        pass\nelse:\n    def f():\n        pass\n",
        ):
            self.assertEqual(self.errors(source), [], source)


class NumbersTest(unittest.TestCase):
    def offences(self, source, name="a.cc"):
        report, self.allowed = Messages(), set()
        lint.check_numbers(pathlib.Path("compiler/schedule") / name, source, report, self.allowed)
        return [(line, message.split(":")[0]) for line, message in report.messages]

    def test_named_constants(self):
        for source, names in (
            ("constexpr int64_t kRows = 2;", ["kRows"]),
            ("inline constexpr double kCost = 1, kOther = 0;", ["kCost", "kOther"]),
            ("static constexpr int kTotal = sizeof(float);", ["kTotal"]),
            ("const int64_t rows = 2;", ["rows"]),
            ("const std::size_t rows = static_cast<size_t>(2), columns = count;", ["rows"]),
            ("const auto rows = int64_t{2} - 1;", ["rows"]),
            ("constexpr int64_t kRows{3};", ["kRows"]),
            ("static int64_t kRows = -1;", ["kRows"]),
            ("enum { kRows = 3 };", ["kRows"]),
            ("#define ROWS (3)", ["ROWS"]),
        ):
            self.assertEqual(self.offences("\n" + source), [(2, "the constant " + name) for name in names], source)

    def test_literals(self):
        for literal in ("5", "0x10", "1'000", "4.5", "0.9", ".5", "1e3", "8u", "100'000L", "0b101"):
            self.assertEqual(self.offences("\nint64_t a = b + {};".format(literal)), [(2, "the number " + literal)], literal)
        self.assertEqual(self.offences("F(16, 3);\nG(2.0 / 128);"), [(1, "the number 16"), (2, "the number 128")])

    def test_accepts_what_is_no_tuned_number(self):
        for source in (
            "// 16 rows\n/* 32\n 64 */ int a = 4;",
            'const std::string text = "128";',
            '#include "a16.h"',
            "const int64_t lanes = target.Lanes(kI32), rows = 2 * lanes;",
            "const double share = 1.0 / numbers.share;",
            "void F(const int64_t rows, int columns = 4);",
            "if (kOther == 2) x2 = 4.0;",
            "const Expr two = Expr(2);",
        ):
            self.assertEqual(self.offences(source), [], source)

    def test_allowed(self):
        self.assertLessEqual(len(lint.ALLOWED_NUMBERS), 20)
        for file, pattern, reason in lint.ALLOWED_NUMBERS:
            self.assertTrue(reason, pattern)
        source = "inline constexpr int64_t kSignBit = 128;"
        self.assertEqual(self.offences(source, "dot_parts.h"), [])
        self.assertEqual(len(self.allowed), 1)
        self.assertEqual(self.offences(source), [(1, "the constant kSignBit"), (1, "the number 128")])
        # An entry allows its own value only.
        self.assertEqual(self.offences(source.replace("128", "129"), "dot_parts.h"), [(1, "the constant kSignBit"), (1, "the number 129")])
        self.assertEqual(self.offences("a = DType::Int(32);"), [])
        self.assertEqual(self.offences("a = Min(32);"), [(1, "the number 32")])


if __name__ == "__main__":
    unittest.main()
