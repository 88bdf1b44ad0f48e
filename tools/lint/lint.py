#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks textual house rules. Prints every violation as file:line: message and exits with 1 if there is one.

    tools/lint/lint.py        # all files that git tracks or would track

Checked: one SPDX line per source; the length of files and of the compiler's functions; no tabs, trailing blanks or missing last newline; a README.md in
every package; sorted lists in build files; copts on every C and C++ target; no paths of one machine; no markers of
unfinished work; commands in pages are marked, so that a test runs them; links of pages lead to files; no tuned numbers
in schedules; no name of Python that a class or a module defines twice.
"""

import ast
import os
import pathlib
import re
import subprocess
import sys

_LONG_LINES, _TOO_LONG_LINES = 400, 700
_LONG_FUNCTION = 80
_SPDX = "SPDX-License-Identifier: Apache-2.0"
_SOURCE_SUFFIXES = {".BUILD", ".S", ".bazel", ".bzl", ".c", ".cc", ".h", ".ld", ".proto", ".py", ".sh"}
_SOURCE_NAMES = {"WORKSPACE", "run"}
_CODE_SUFFIXES = {".bzl", ".c", ".cc", ".h", ".proto", ".py", ".sh"}
_SORTED_LISTS = re.compile(r"^\s+(data|deps|exports|hdrs|implementation_deps|srcs|textual_hdrs|tools) = \[$")
_BLOCK = re.compile(r"^( {0,2})(?!namespace|class|struct|enum|constexpr|const |extern|static const|//)\S.*\{$")
_CC_RULE = re.compile(r"^(cc_binary|cc_library|cc_test)\($")
_MACHINE_PATH = re.compile(r"(?<![\w.$}])/(home|root|Users)/\w")
_MARKER = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]) + r")\b|keep in " + "sync")
# A decorator of functions that share a name on purpose, without its arguments.
_SHARES_NAME = re.compile(r"(?:\w+\.)?overload|\w+\.(?:deleter|getter|register|setter)")

_FENCE = re.compile(r"^```(\S*)")
_COMMAND = re.compile(r"^(\.ci/run|arm-none-eabi-\S+|bazel|bazel-bin/\S+|git|kiln|python3|tools/\S+)( |$)")
_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)")
_RUN_PAGES = pathlib.Path("tests/docs/BUILD.bazel")

_SCHEDULES = pathlib.Path("compiler/schedule")
_MAX_NUMBER = 4  # larger literals in schedules need a row of compiler/target/machines, or an entry here
# Numbers of schedules that no machine changes: file (empty: all), pattern of the code, reason. At most 20 entries.
ALLOWED_NUMBERS = [
    ("", r"\bDType::\w+\(\d+\)", "the bits of a type"),
    ("", r"\bIsInteger\(\w+, \d+\)|\bbits (?:==|<=|>) \d+", "the bits of a type"),
    ("dot_parts.h", r"\bkSignBit = 128\b", "the sign bit of a byte"),
    ("dot_parts.h", r"\bkStackAlignment = 8\b", "the calling conventions of Arm and RISC-V align the stack to it"),
    ("fixed_point.cc", r"\b3[012]\b", "shifts of the fixed-point arithmetic of int32"),
    ("window.cc", r"\bkWordBytes = 4, kRowAlignment = 8\b", "LDRD reads aligned words"),
    ("winograd_transform.cc", r"\{\d,\s*\d,\s*\{[^{}]*\}\}", "the matrices of the algorithm"),
    ("winograd_transform.h", r"\bkWinogradTaps = 3\b", "the algorithm is for 3 x 3 taps"),
]
_HIDDEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])*\'|^#\s*include[^\n]*', re.S | re.M)
_ARITHMETIC = r"(?:std::)?(?:u?int(?:8|16|32|64)?_t|s?size_t|ptrdiff_t|(?:unsigned |long |short )*(?:int|long|short|unsigned)|float|double|auto)"
# A constant, with its declarators.
_CONSTANT = re.compile(r"\b(const|constexpr)\s+" + _ARITHMETIC + r"\s+([^;()]*?(?:=|\{)[^;]*);")
# A name of a constant without a type before it: of a variable, an enumerator or a macro.
_NAMED = re.compile(r"\bk[A-Z]\w*\s*(?:=(?!=)|\{)\s*[-+(]*[.\d]|#\s*define\s+\w+\s+[-+(]*[.\d]")
_NUMBER = re.compile(r"(?<![\w.])(0[xX][\da-fA-F']+|0[bB][01']+|(?:\d[\d']*\.?[\d']*|\.\d+)(?:[eE][-+]?\d+)?)[uUlLfF]*")


class Report:
    """Collects violations. A warning does not fail the run."""

    def __init__(self):
        self.errors = 0

    def error(self, path, line, message):
        self.errors += 1
        print("{}:{}: {}".format(path, line, message))

    def warning(self, path, line, message):
        print("{}:{}: warning: {}".format(path, line, message))


def list_files():
    output = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"], check=True, stdout=subprocess.PIPE
    ).stdout.decode()
    return sorted(pathlib.Path(name) for name in output.split("\0") if name and pathlib.Path(name).is_file())


def is_source(path):
    return path.suffix in _SOURCE_SUFFIXES or path.name in _SOURCE_NAMES


def is_build_file(path):
    return path.name == "BUILD.bazel" or path.suffix == ".BUILD"


def label_key(label):
    """Returns the sort key that buildifier uses for labels: labels of this package, of this repository, of other
    repositories.
    """
    phase = 1 if label.startswith(":") else 2 if label.startswith("//") else 3 if label.startswith("@") else 0
    return phase, re.split("[.:]", label)


def check_text(path, lines, report):
    if is_source(path) and not any(_SPDX in line for line in lines[:3]):
        report.error(path, 1, "says no " + _SPDX)
    if path.suffix in _CODE_SUFFIXES:
        if len(lines) > _TOO_LONG_LINES:
            report.error(path, len(lines), "over {} lines: split it along its nouns".format(_TOO_LONG_LINES))
        elif len(lines) > _LONG_LINES:
            report.warning(path, len(lines), "over {} lines".format(_LONG_LINES))
    for number, line in enumerate(lines, 1):
        if not is_source(path) and path.suffix != ".md":
            continue
        if line != line.rstrip():
            report.error(path, number, "blanks at the end of the line")
        if "\t" in line:
            report.error(path, number, "a tab")
        if _MACHINE_PATH.search(line):
            report.error(path, number, "names a path of one machine")
        if is_source(path) and _MARKER.search(line):
            report.error(path, number, "is left open: finish it, or write an issue")


def check_functions(path, lines, report):
    """No function of the compiler is long. A function begins at most two columns in, and ends in the column where it begins."""
    for number, line in enumerate(lines, 1):
        match = _BLOCK.match(line)
        if not match:
            continue
        end = next((i for i, other in enumerate(lines[number:], number + 1) if other.startswith(match.group(1) + "}")), number)
        if end - number + 1 > _LONG_FUNCTION:
            report.error(path, number, "a function of {} lines, wanted at most {}".format(end - number + 1, _LONG_FUNCTION))


def check_names(path, text, report):
    """No class and no module defines a name twice: the second function replaces the first, and a test among them never runs."""
    for scope in ast.walk(ast.parse(text, str(path))):
        lines = {}
        for item in scope.body if isinstance(scope, (ast.ClassDef, ast.Module)) else []:
            if not isinstance(item, (ast.AsyncFunctionDef, ast.ClassDef, ast.FunctionDef)):
                continue
            if any(_SHARES_NAME.fullmatch(ast.unparse(decorator).split("(")[0]) for decorator in item.decorator_list):
                continue
            first = lines.setdefault(item.name, item.lineno)
            if first != item.lineno:
                report.error(path, item.lineno, "{} replaces that of line {}: give it another name".format(item.name, first))


def value_of(literal):
    """Returns the value of a C++ literal of a number."""
    digits = literal.replace("'", "")
    return float(int(digits, 0)) if digits[:2].lower() in ("0x", "0b") else float(digits)


def is_number(value):
    """Tells if an expression of C++ has numbers and types only."""
    names = re.findall(r"[A-Za-z_]\w*", _NUMBER.sub("", value))
    return bool(_NUMBER.search(value)) and all(name == "static_cast" or re.fullmatch(_ARITHMETIC, name) for name in names)


def check_numbers(path, text, report, allowed):
    """Refuses named numbers and large literals in a schedule. Adds the entries of ALLOWED_NUMBERS that it needs to `allowed`."""

    def blank(match):
        return "\n" * match.group().count("\n")

    def error(offset, message):
        report.error(path, code.count("\n", 0, offset) + 1, message + ": make it a field of compiler/target/machine.h")

    code = _HIDDEN.sub(blank, text)
    for entry in ALLOWED_NUMBERS:
        if entry[0] in ("", path.name):
            code, count = re.subn(entry[1], blank, code)
            allowed.update([entry] * bool(count))
    named = set()
    for match in _CONSTANT.finditer(code):
        values = [part for part in re.split(r",\s*(?=\w+\s*=)", match.group(2)) if re.match(r"\w", part)]
        for part in values:
            if match.group(1) == "constexpr" or is_number(re.sub(r"^\w+\s*=?", "", part)):
                named.add((match.start(), "the constant " + re.match(r"\w+", part).group()))
    starts = {code.count("\n", 0, offset) for offset, _ in named}
    for match in _NAMED.finditer(code):
        if code.count("\n", 0, match.start()) not in starts:
            named.add((match.start(), "the constant " + re.search(r"\bk[A-Z]\w*|(?<=define)\s+\w+", match.group()).group().strip()))
    for offset, message in sorted(named):
        error(offset, message)
    for match in _NUMBER.finditer(code):
        value = value_of(match.group(1))
        if value > _MAX_NUMBER or value != int(value):
            error(match.start(), "the number " + match.group())


def check_build_file(path, lines, report):
    rule, rule_line, has_copts, has_sources = None, 0, False, False
    items = None
    for number, line in enumerate(lines, 1):
        match = _CC_RULE.match(line)
        if match:
            rule, rule_line, has_copts, has_sources = match.group(1), number, False, False
        elif rule and re.match(r"^\s+copts = ", line):
            has_copts = True
        elif rule and re.match(r"^\s+(srcs|hdrs) = ", line):
            has_sources = True
        elif rule and line == ")":
            if has_sources and not has_copts and path.suffix != ".BUILD":
                report.error(path, rule_line, rule + " without copts: name a list of //tools/bazel:copts.bzl")
            rule = None
        if _SORTED_LISTS.match(line):
            items = []
        elif items is not None:
            item = re.match(r'^\s+"([^"]*)",$', line)
            if not item:
                items = None
            else:
                if items and label_key(items[-1]) >= label_key(item.group(1)):
                    report.error(path, number, '"{}" is not in order'.format(item.group(1)))
                items.append(item.group(1))


def check_fences(path, lines, run_pages, report):
    """Checks that commands in a page are marked and that //tests/docs runs them."""
    language = None
    for number, line in enumerate(lines, 1):
        match = _FENCE.match(line)
        if match:
            language = match.group(1) if language is None else None
            if language == "sh" and '"//{}:{}"'.format("" if path.parent.name == "" else path.parent, path.name) not in run_pages:
                report.error(path, number, "has commands and is not named in {}".format(_RUN_PAGES))
        elif language == "" and _COMMAND.match(line):
            report.error(path, number, "is a command: mark the fence as ```sh, so that a test runs it")


def check_links(path, lines, report):
    """Checks that links of a page to files of this tree lead to a file. //tests/docs:site_test checks the headings."""
    in_fence = False
    for number, line in enumerate(lines, 1):
        in_fence ^= bool(_FENCE.match(line))
        for link in [] if in_fence else _LINK.findall(re.sub(r"`[^`]*`", "", line)):
            if not re.match(r"[a-z]+:", link) and not (path.parent / link).exists():
                report.error(path, number, "links to {}, which is not there".format(link))


def check_readmes(files, report):
    paths = set(files)
    packages = {path.parent for path in files if path.name == "BUILD.bazel"}
    tops = {pathlib.Path(path.parts[0]) for path in files if len(path.parts) > 1 and not path.parts[0].startswith(".")}
    for directory in sorted(packages | tops):
        if directory / "README.md" not in paths:
            report.error(directory, 1, "has no README.md")


def main():
    os.chdir(pathlib.Path(__file__).resolve().parent.parent.parent)
    files = list_files()
    report = Report()
    run_pages = _RUN_PAGES.read_text(encoding="utf-8")
    allowed = set()
    for path in files:
        if not is_source(path) and path.suffix != ".md":
            continue
        text = path.read_text(encoding="utf-8")
        if text and not text.endswith("\n"):
            report.error(path, 1, "the last line does not end")
        lines = text.splitlines()
        check_text(path, lines, report)
        if path.parts[0] == "compiler" and path.suffix in (".cc", ".h") and not path.stem.endswith("_test"):
            check_functions(path, lines, report)
            if _SCHEDULES in path.parents and path.parent.name != "testing":
                check_numbers(path, text, report, allowed)
        if is_build_file(path):
            check_build_file(path, lines, report)
        if path.suffix == ".py":
            check_names(path, text, report)
        if path.suffix == ".md":
            check_fences(path, lines, run_pages, report)
            check_links(path, lines, report)
    check_readmes(files, report)
    for entry in ALLOWED_NUMBERS:
        if entry not in allowed:
            report.error(pathlib.Path("tools/lint/lint.py"), 1, "allows {} in schedules, which have none".format(entry[1]))
    print("{} files, {} breaches".format(len(files), report.errors))
    return 1 if report.errors else 0


if __name__ == "__main__":
    sys.exit(main())
