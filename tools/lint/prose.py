#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plain English: counts what readers stumble over in comments and documents, and lets the counts only fall.

    tools/lint/prose.py                   # checks the tree against tools/lint/prose_limits.json
    tools/lint/prose.py --list [PATH...]  # prints each finding below the paths as file:line: rule: text
    tools/lint/prose.py --update          # lowers the limits to the counts of today

CONTRIBUTING.md has the rules. Findings in comments have a limit per rule and package; documents have none.
"""

import argparse
import collections
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tokenize

_LIMITS = pathlib.Path("tools/lint/prose_limits.json")
_C_SUFFIXES = {".S", ".c", ".cc", ".h", ".hpp", ".ld", ".proto"}
_PYTHON_SUFFIXES = {".BUILD", ".bazel", ".bzl", ".py"}
_MAX_WORDS = 35
_MAX_COLUMNS = 100
_OPENING = re.compile(r"(How|Of|That|Those|What|Where|Whether|Which)\b")
_PHRASES = re.compile(r"\b(of which|those that|(?:is|are|was|were|be) said|behind)\b", re.I)
# A token of C that hides "//" or "/*", or a comment.
_C_TOKEN = re.compile(
    r'R"(?P<delimiter>\w*)\(.*?\)(?P=delimiter)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])*\'|(?P<line>//[^\n]*)|(?P<block>/\*.*?\*/)',
    re.S,
)
_SENTENCE_END = re.compile(r"(?<!\be\.g)(?<!\bi\.e)[.!?:;](?=\s|$)")

Block = collections.namedtuple("Block", "line text")
Finding = collections.namedtuple("Finding", "line rule text")


def merged(comments, lines):
    """Blocks of comments given as (line, column, text).

    A comment after code begins a block. The lines after it, in the same column and without code, continue the block.
    """
    blocks, last = [], None
    for line, column, text in comments:
        if last == (line - 1, column) and not lines[line - 1][:column].strip():
            blocks[-1] = Block(blocks[-1].line, blocks[-1].text + "\n" + text)
        else:
            blocks.append(Block(line, text))
        last = line, column
    return blocks


def c_comments(source):
    comments = []
    for match in _C_TOKEN.finditer(source):
        start = match.start()
        line, column = source.count("\n", 0, start) + 1, start - source.rfind("\n", 0, start) - 1
        if match.group("line"):
            comments.append((line, column, match.group("line").lstrip("/").strip()))
        elif match.group("block"):
            # No other comment is in this column, so that the block is not continued.
            comments.append((line, -line, re.sub(r"^\s*\*+ ?", "", match.group("block")[2:-2], flags=re.M).strip()))
    return merged(comments, source.splitlines())


def python_comments(source):
    comments, begins = [], True
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        line, column = token.start
        if token.type == tokenize.COMMENT:
            comments.append((line, column, token.string.lstrip("#").strip()))
        elif token.type == tokenize.STRING and begins and token.string.endswith('"""'):
            comments.append((line, -line, token.string.strip('rf"').strip()))
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            begins = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    return merged(comments, source.splitlines())


def shell_comments(source):
    lines = source.splitlines()
    comments = [(n, line.index("#"), line.strip().lstrip("#").strip()) for n, line in enumerate(lines, 1) if re.match(r"\s*#[^!]", line)]
    return merged(comments, lines)


def paragraphs(source):
    """The paragraphs, items and rows of a page, without its code."""
    blocks, fenced, last = [], False, None
    for number, line in enumerate(source.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        text = "" if fenced or line.lstrip().startswith(("```", "#", "<")) else re.sub(r"`[^`]*`", "CODE", line.strip())
        if text.startswith("|"):
            blocks += [Block(number, cell.strip()) for cell in text.strip("|").split("|") if cell.strip(" -:")]
            last = None
        elif text and last == number - 1 and not re.match(r"([-*]|\d+\.) ", text):
            blocks[-1] = Block(blocks[-1].line, blocks[-1].text + "\n" + text)
            last = number
        elif text:
            blocks.append(Block(number, re.sub(r"^([-*]|\d+\.) ", "", text)))
            last = number
    return blocks


def blocks_of(path, source):
    if path.suffix in _C_SUFFIXES:
        return c_comments(source)
    if path.suffix in _PYTHON_SUFFIXES or path.name == "WORKSPACE":
        return python_comments(source)
    if path.suffix == ".sh" or path.name == "run":
        return shell_comments(source)
    return paragraphs(source) if path.suffix == ".md" else []


def findings_of(path, source):
    lines = source.splitlines()
    for line, text in blocks_of(path, source):
        for number in range(line, line + text.count("\n") + 1 if path.suffix in _C_SUFFIXES | {".bzl"} else line):
            if len(lines[number - 1]) > _MAX_COLUMNS:
                yield Finding(number, "columns", "{} columns".format(len(lines[number - 1])))
        text = re.sub(r"\ASPDX-License-Identifier.*\n?", "", text)
        text = re.sub(r"\A[A-Za-z_]\w*: (?=[A-Z])", "", text)
        if _OPENING.match(text):
            yield Finding(line, "opening", text.splitlines()[0])
        for match in _PHRASES.finditer(re.sub(r"\s+", " ", text)):
            yield Finding(line, "phrase", match.group())
        for sentence in _SENTENCE_END.split(text):
            if len(re.findall(r"[A-Za-z][\w'-]*", sentence)) > _MAX_WORDS:
                yield Finding(line, "long", " ".join(sentence.split())[:80])


def tracked_files():
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.decode().split("\0")
    return sorted(path for path in map(pathlib.Path, filter(None, names)) if path.is_file())


def above(counts, limits):
    """A line for each count that is above its limit."""
    message = "{0}: {2} findings of '{1}', wanted at most {3}: tools/lint/prose.py --list {0}"
    rows = [(package, rule, count) for package, row in sorted(counts.items()) for rule, count in sorted(row.items())]
    limited = [(*row, limits.get(row[0], {}).get(row[1], 0)) for row in rows]
    return [message.format(*row) for row in limited if row[2] > row[3]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    modes = parser.add_mutually_exclusive_group()
    modes.add_argument("--list", nargs="*", metavar="PATH", help="prints the findings below these paths, by default all")
    modes.add_argument("--update", action="store_true", help="lowers the limits to the counts")
    arguments = parser.parse_args()
    os.chdir(pathlib.Path(__file__).resolve().parent.parent.parent)
    counts, places = {}, []
    for path in tracked_files():
        if "testdata" in path.parts or (path.suffix not in _C_SUFFIXES | _PYTHON_SUFFIXES | {".md", ".sh"} and path.name not in ("WORKSPACE", "run")):
            continue
        for finding in findings_of(path, path.read_text(encoding="utf-8")):
            package = str(path.parent)
            row = counts.setdefault(package, {})
            row[finding.rule] = row.get(finding.rule, 0) + 1
            places.append((path, finding))
    if arguments.list is not None:
        for path, finding in places:
            if not arguments.list or any(str(path).startswith(prefix) for prefix in arguments.list):
                print("{}:{}: {}: {}".format(path, finding.line, finding.rule, finding.text))
        return 0
    limits = json.loads(_LIMITS.read_text(encoding="utf-8"))
    worse = above(counts, limits)
    if arguments.update and not worse:
        _LIMITS.write_text(json.dumps(counts, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print("\n".join(worse) if worse else "{} findings in {} packages, none above its limit".format(len(places), len(counts)))
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
