#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the lines of product code by top folder, and compares two commits.

    tools/testing/count_code.py                    # HEAD
    tools/testing/count_code.py v0.1.0             # another commit
    tools/testing/count_code.py v0.1.0 HEAD        # two commits and their difference

A line counts if it is neither blank nor only a comment. Product code is C, C++, assembler, linker scripts, protocol buffers, Python and shell. Build files,
tests, benchmarks, test data and pages are not counted.
"""

import argparse
import collections
import io
import os
import pathlib
import re
import subprocess
import sys
import tokenize

_C_SUFFIXES = {".S", ".c", ".cc", ".fbs", ".h", ".hpp", ".ld", ".proto"}
_SUFFIXES = _C_SUFFIXES | {".py", ".sh"}
_NO_PRODUCT_FOLDERS = {"docs", "testdata", "testing", "tests", "third_party"}
_NO_PRODUCT_NAMES = re.compile(r"test_|.*_(benchmark|hunt|test|tests)$|testing$")
# A comment of C, or a token that can hide its beginning.
_C_TOKEN = re.compile(
    r'R"(?P<delimiter>\w*)\(.*?\)(?P=delimiter)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])*\'|(?P<comment>//[^\n]*|/\*.*?\*/)',
    re.S,
)


def is_product(path):
    """True for a path of git, with slashes."""
    path = pathlib.PurePosixPath(path)
    return path.suffix in _SUFFIXES and not _NO_PRODUCT_FOLDERS & set(path.parts[:-1]) and not _NO_PRODUCT_NAMES.match(path.stem)


def python_lines(text):
    """The number of lines with a token other than a comment or a text that is a statement, such as a docstring."""
    lines, begins = set(), True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
            begins = True
        elif token.type not in (tokenize.COMMENT, tokenize.NL, tokenize.ENDMARKER):
            if not (begins and token.type == tokenize.STRING):
                lines.update(range(token.start[0], token.end[0] + 1))
            begins = False
    return len(lines)


def without_c_comments(text):
    """The text of C or C++ without its comments. Their line breaks stay."""
    return _C_TOKEN.sub(lambda match: re.sub(r"[^\n]", "", match.group()) if match.group("comment") else match.group(), text)


def code_lines(path, text):
    if path.endswith(".py"):
        return python_lines(text)
    if path.endswith(".sh"):
        return sum(bool(line.strip()) and not line.lstrip().startswith("#") for line in text.splitlines())
    return sum(bool(line.strip()) for line in without_c_comments(text).splitlines())


def count(commit):
    """Returns the lines of product code of a commit by top folder."""
    names = subprocess.run(["git", "ls-tree", "-r", "-z", commit], check=True, stdout=subprocess.PIPE).stdout.decode().split("\0")
    # mode, type, hash and, after a tab, the path.
    entries = [(entry.split()[2], entry.split("\t")[1]) for entry in filter(None, names) if entry.startswith("100")]
    entries = [(blob, path) for blob, path in entries if is_product(path)]
    request = "".join(blob + "\n" for blob, _ in entries).encode()
    answer = io.BytesIO(subprocess.run(["git", "cat-file", "--batch"], check=True, input=request, stdout=subprocess.PIPE).stdout)
    totals = collections.Counter()
    for _, path in entries:
        num_bytes = int(answer.readline().split()[2])
        totals[path.split("/")[0] if "/" in path else "."] += code_lines(path, answer.read(num_bytes).decode())
        answer.read(1)
    return totals


def table(names, counts):
    """The lines of text that show the counts of one or two commits."""
    rows = [[folder] + [totals[folder] for totals in counts] for folder in sorted(set().union(*counts))]
    rows.append(["total"] + [sum(totals.values()) for totals in counts])
    if len(counts) == 2:
        rows = [row + ["{:+d}".format(row[2] - row[1])] for row in rows]
        names = names + ["difference"]
    return ["{:<16}".format(row[0]) + "".join("{:>14}".format(str(cell)[:12]) for cell in row[1:]) for row in [["folder"] + names] + rows]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commit", nargs="?", default="HEAD")
    parser.add_argument("other", nargs="?", help="a commit to compare with the first")
    arguments = parser.parse_args()
    os.chdir(pathlib.Path(__file__).resolve().parent.parent.parent)
    commits = [commit for commit in (arguments.commit, arguments.other) if commit]
    print("\n".join(table(commits, [count(commit) for commit in commits])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
