#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the coverage of each package from the output of `llvm-cov export`.

    report.py [--require FOLDER=PERCENT]... [--list FOLDER]... coverage.json

A branch is one outcome of a condition, so `if (a && b)` has four. --list prints each branch below FOLDER that no test
takes. With --require the exit status is 1 if fewer than PERCENT of the branches below FOLDER are taken.
"""

import argparse
import collections
import dataclasses
import json
import os
import sys

# Folders whose subfolders count as packages.
_DEEP = ("compiler", "tools")


@dataclasses.dataclass
class Counts:
  files: int = 0
  lines: int = 0
  lines_covered: int = 0
  branches: int = 0
  branches_covered: int = 0

  def add(self, summary):
    self.files += 1
    self.lines += summary["lines"]["count"]
    self.lines_covered += summary["lines"]["covered"]
    self.branches += summary["branches"]["count"]
    self.branches_covered += summary["branches"]["covered"]


def percent(covered, count):
  return 100.0 * covered / count if count else 100.0


def package_of(path):
  parts = os.path.dirname(path).split("/")
  return "/".join(parts[:2] if parts[0] in _DEEP else parts[:1])


def is_product(path):
  """True if the file belongs to Kiln's product and is not a test."""
  return not path.startswith(("/", "bazel-out/", "external/", "tests/")) and "/testing/" not in path and not (
      os.path.splitext(path)[0].endswith("_test"))


def read_files(coverage):
  """Returns llvm-cov's data for the files of the product, by path."""
  files = {os.path.normpath(f["filename"]): f for f in coverage["data"][0]["files"]}
  return {path: f for path, f in sorted(files.items()) if is_product(path)}


def counts_below(files, folder):
  counts = Counts()
  for path, file in files.items():
    if path.startswith(folder.rstrip("/") + "/"):
      counts.add(file["summary"])
  return counts


def untaken_branches(file):
  """Yields (line, outcome) of each branch that no test takes, in order."""
  for branch in file["branches"]:
    line, count_true, count_false = branch[0], branch[4], branch[5]
    if count_true == 0:
      yield line, "true"
    if count_false == 0:
      yield line, "false"


def print_table(files):
  packages = collections.defaultdict(Counts)
  total = Counts()
  for path, file in files.items():
    packages[package_of(path)].add(file["summary"])
    total.add(file["summary"])
  print("| package | files | lines | covered | branches | covered |")
  print("|---|---|---|---|---|---|")
  for package, c in [*sorted(packages.items()), ("all", total)]:
    print(f"| {package} | {c.files} | {c.lines} | {percent(c.lines_covered, c.lines):.1f} % | {c.branches} | "
          f"{percent(c.branches_covered, c.branches):.1f} % |")


def unmet(files, requirements):
  """Yields a text for each FOLDER=PERCENT that does not hold."""
  for requirement in requirements:
    folder, _, wanted = requirement.partition("=")
    counts = counts_below(files, folder)
    found = percent(counts.branches_covered, counts.branches)
    if counts.files == 0:
      yield f"{folder}: no file of it was measured"
    elif found < float(wanted):
      yield f"{folder}: {found:.2f} % of the branches are taken by tests, {wanted} wanted"


def main(arguments):
  parser = argparse.ArgumentParser(description="Prints the coverage of each package.")
  parser.add_argument("--require", action="append", default=[], metavar="FOLDER=PERCENT")
  parser.add_argument("--list", action="append", default=[], metavar="FOLDER")
  parser.add_argument("coverage", help="what `llvm-cov export` wrote")
  options = parser.parse_args(arguments)
  with open(options.coverage, encoding="utf-8") as f:
    files = read_files(json.load(f))
  print_table(files)
  for path, file in files.items():
    if any(path.startswith(folder.rstrip("/") + "/") for folder in options.list):
      for line, outcome in untaken_branches(file):
        print(f"{path}:{line}: never {outcome}")
  texts = list(unmet(files, options.require))
  for text in texts:
    print(text, file=sys.stderr)
  return 1 if texts else 0


if __name__ == "__main__":
  sys.exit(main(sys.argv[1:]))
