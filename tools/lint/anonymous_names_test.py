# SPDX-License-Identifier: Apache-2.0
"""Names of anonymous namespaces: planted breaches are found, and similar sources that compile together are accepted."""

import pathlib
import tempfile
import unittest

from tools.lint import anonymous_names


def private(text):
    return sorted(name for _, name in anonymous_names.parse("namespace a {\nnamespace {\n" + text + "\n}\n}\n").private)


class ParseTest(unittest.TestCase):
    def test_functions(self):
        self.assertEqual(private("int F() { return 1; }\nstd::map<int, A<B(int)>> G(int x) {\n  if (x) { H(); }\n}"), ["F", "G"])
        self.assertEqual(private("template <typename T, int N = (2)>\nT* F(T);\nauto G() -> int { return 1; }"), ["F", "G"])
        self.assertEqual(private("[[nodiscard]] bool F() noexcept { return {}; }\nFoo::Foo() : a_{1}, b_(2) {}\nint F;"), ["F"])
        self.assertEqual(private("bool operator==(A a, B b) { return true; }\nint A::Method() { return 1; }"), [])

    def test_constants(self):
        self.assertEqual(private("constexpr int kA = 3;\nconst char kB[] = {1, 2};\nconst std::vector<int> kC{1};"), ["kA", "kB", "kC"])
        self.assertEqual(private("constexpr auto kA = [](int x) { return x; };\nalignas(64) const int kB[2] = {};\nint c;"), ["c", "kA", "kB"])

    def test_types(self):
        self.assertEqual(private("struct A { int F(); int g = 0; };\nclass B final : public A {};\nenum class C : int { kD };"), ["A", "B", "C"])
        self.assertEqual(private("template <typename T>\nclass A;\nusing B = int;\nusing x::C;\nnamespace d = x::y;\nusing namespace e;"), ["A", "B", "C"])

    def test_text_that_declares_nothing(self):
        self.assertEqual(private('// int a;\n/* int b; */\n#define C \\\n  int c;\nconst char kD[] = R"x(}} int e; )" )x";'), ["kD"])
        self.assertEqual(private("static_assert(sizeof(int) == 4);\nKILN_REGISTER(A, B);\nint F() { int a; struct B {}; return '}'; }"), ["F"])

    def test_namespaces_and_lines(self):
        source = anonymous_names.parse('#include "b.h"\nnamespace a::b {\nint F();\nnamespace {\nint G();\nnamespace c {\nint H();\n}\n}\n}\nint I();\n')
        self.assertEqual({key: value.line for key, value in source.shared.items()}, {("a::b", "F"): 3, ("", "I"): 11})
        self.assertEqual({key: value.line for key, value in source.private.items()}, {("a::b", "G"): 5, ("a::b::c", "H"): 7})
        self.assertEqual(source.includes, ["b.h"])


class FindingsTest(unittest.TestCase):
    def findings(self, **texts):
        """Findings in files of namespace a::b. A double underscore stands for the dot of a name."""
        with tempfile.TemporaryDirectory() as folder:
            files = {name.replace("__", "."): text for name, text in texts.items()}
            for name, text in files.items():
                pathlib.Path(folder, name).write_text(text, encoding="utf-8")
            tree = anonymous_names.Tree(pathlib.Path(folder))
            sources = sorted(name for name in files if name.endswith(".cc"))
            return [(path, name, message) for path, _, name, message in anonymous_names.findings(tree, sources)]

    def test_same_name(self):
        source = "namespace a {\nnamespace {\n%s\n}\n}\n"
        for first, second in (("int F() {}", "int F(int x) {}"), ("const int F = 1;", "struct F {};"), ("using F = int;", "using F = long;"),
                              ("using x::F;", "int F() {}"), ("using x::F;", "using y::F;")):
            self.assertEqual(self.findings(x__cc=source % first, y__cc=source % second), [("y.cc", "F", "and so does x.cc")])
        for first, second in (("int F() {}", "int G() {}"), ("using F = int;", "using F = int;"), ("using x::F;", "using x::F;"), ("int F();\nint F() {}", "")):
            self.assertEqual(self.findings(x__cc=source % first, y__cc=source % second), [])
        # Names of different namespaces are different.
        self.assertEqual(self.findings(x__cc=source % "int F();", y__cc="namespace b {\nnamespace {\nint F();\n}\n}\n"), [])

    def test_hidden_name(self):
        header = '#include "h.h"\n'
        hides = "namespace a::b {\nnamespace {\n%s\n}\n}\n"
        uses = header + "namespace a::b {\nint G() { return %s; }\n}\n"
        outer, inner = "namespace a {\nint F(int x);\n}\n", "namespace a::b {\nint F(int x);\n}\n"
        found = [("x.cc", "F", "which hides that of h.h from y.cc")]
        self.assertEqual(self.findings(h__h=outer, x__cc=hides % "int F();", y__cc=uses % "F(1)"), found)
        self.assertEqual(self.findings(h__h=outer, x__cc=hides % "struct F {};", y__cc=uses % "F(1)"), found)
        self.assertEqual(self.findings(h__h=inner, x__cc=hides % "struct F {};", y__cc=uses % "F(1)"), found)
        # The header may come by another header.
        indirect = {"h__h": '#include "i.h"\n', "i__h": outer}
        self.assertEqual(self.findings(x__cc=hides % "int F();", y__cc=uses % "F(1)", **indirect), [("x.cc", "F", "which hides that of i.h from y.cc")])
        # An overload, a qualified name, another name, a member, and a source without the header or in the outer namespace.
        self.assertEqual(self.findings(h__h=inner, x__cc=hides % "int F();", y__cc=uses % "F(1)"), [])
        self.assertEqual(self.findings(h__h=outer, x__cc=hides % "int F();", y__cc=uses % "a::F(1) + b.F(1)"), [])
        self.assertEqual(self.findings(h__h=outer, x__cc=hides % "int E();", y__cc=uses % "F(1)"), [])
        self.assertEqual(self.findings(h__h=outer, x__cc=hides % "int F();", y__cc=(uses % "F(1)").replace(header, "")), [])
        self.assertEqual(self.findings(h__h=outer, x__cc=hides % "int F();", y__cc=(uses % "F(1)").replace("a::b", "a")), [])


class TargetsTest(unittest.TestCase):
    def test_sources(self):
        build_file = """
load("//tools/bazel:cc.bzl", "cc_library", "kiln_library", "kiln_test")
_NAMES = ["a", "b"]
kiln_library(name = "names", srcs = [name + ".cc" for name in _NAMES] + ["a.h"], deps = [":c"])
[cc_library(name = n, srcs = glob(files, exclude = ["*_test.cc"]), copts = C) for n, files in {"all": ["*.cc"]}.items()]
kiln_library(name = "chosen", srcs = ["a.cc"] + select({"x": ["b.cc"], "y": ["c.cc"]}))
kiln_test(name = "a_test")
"""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "inner").mkdir()
            for name in ("a.cc", "b.cc", "a_test.cc", "inner/c.cc"):
                (root / name).write_text("", encoding="utf-8")
            (root / "BUILD.bazel").write_text(build_file.replace('"*.cc"', '"**/*.cc"'), encoding="utf-8")
            targets = [[str(pathlib.Path(path).relative_to(root)) for path in target] for target in anonymous_names.targets_of(root / "BUILD.bazel")]
            self.assertEqual(targets, [["a.cc", "b.cc"], ["a.cc", "b.cc", "inner/c.cc"], []])
            (root / "inner/BUILD.bazel").write_text("", encoding="utf-8")
            self.assertEqual([len(target) for target in anonymous_names.targets_of(root / "BUILD.bazel")], [2, 2, 0])


if __name__ == "__main__":
    unittest.main()
