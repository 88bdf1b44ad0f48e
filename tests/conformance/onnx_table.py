# SPDX-License-Identifier: Apache-2.0
"""The section of docs/onnx.md about ONNX's own cases, with a row per operator and opset. The page also stores the results.

  table = Table()
  table.add("Softmax", 13, result)   # a Result of onnx_backend.py
  page = table.written_into(page)
  kept = Table.read(page)
"""

import math
import re

# Reasons of cases that do not pass because they are not about tensors of numbers.
OTHER_THINGS = {"strings", "text", "a sequence or optional as input or output", "random numbers", "training", "image files"}

_HEADING = "## ONNX's own test cases\n"
_TEXT = """
`bazel run //tests/conformance:update_onnx_table` runs the cases of ONNX's Python package (version {version}) by ONNX's own runner, with Kiln as its backend
and LLVM for x86-64-v3, and writes this section; `//tests/conformance:onnx_backend_test` fails if a row is missing or worse than it says.
{passed} of {all} cases pass ({all_share}); of the {numbers} about tensors of numbers, {numbers_share}. The last column has the reason of each other
case, and how many there are.

- *ULP*: the largest difference from the expected output, in units in the last place of the largest magnitude of the tensor, in the tensor's own element type.
- *ULP by element*: how many floats lie between an element and the expected one, at most. It is large where a sum cancels to almost 0, and says little there.
- *Integers*: elements of integers, truth values, and floats of 8 and 4 bits that differ.
- Some expected outputs are written by hand with four digits: those of RoiAlign, and one of AveragePool.
- Values that are not finite on both sides have no distance; the runner compares them. A cell is empty where the cases have no outputs of the kind.
- A case of the expansion of one of ONNX's functions (`_expanded` in ONNX's names) counts as a case of the function.

| operator | opset | {columns} |
|---|---|---|---|---|---|---|
"""
_COLUMNS = ("passed", "ULP", "ULP by element", "integers", "not passed for")
_ROW = re.compile(r"^\| `([^`]+)` \| (\d+) \| (\d+) of (\d+) \|(.*)\|(.*)\|(.*)\|(.*)\|$", re.M)


def _rounded_up(number):
    """Rounds up to two digits, so that the number never exceeds the printed one."""
    if number == 0:
        return 0.0
    unit = 10.0 ** (math.floor(math.log10(number)) - 1)
    return float("%.2g" % (math.ceil(number / unit - 1e-9) * unit))


def _larger(a, b):
    return a if b is None else b if a is None else max(a, b)


class Row:
    def __init__(self):
        self.passed = self.all = 0
        self.ulps = self.element_ulps = self.integers = None
        self.reasons = {}  # number of cases by the reason for which they do not pass

    def add(self, result):
        self.all += 1
        if result.known:
            self.reasons[result.reason] = self.reasons.get(result.reason, 0) + 1
        if result.reason:
            return
        self.passed += 1
        self.ulps = _larger(self.ulps, result.error.ulps)
        self.element_ulps = _larger(self.element_ulps, result.error.element_ulps)
        self.integers = _larger(self.integers, result.error.integers)

    def cells(self):
        """Returns the printed cells, by column."""
        reasons = "; ".join("%s (%d)" % item for item in sorted(self.reasons.items()))
        errors = ("" if error is None else "%.2g" % error if column != "integers" else str(error) for column, error in self._errors().items())
        return dict(zip(_COLUMNS, ("%d of %d" % (self.passed, self.all), *errors, reasons)))

    def _errors(self):
        """Returns the errors with the precision in which they are printed."""
        errors = zip(_COLUMNS[1:4], (self.ulps, self.element_ulps, self.integers))
        return {column: error if error is None or column == "integers" else _rounded_up(error) for column, error in errors}

    def worse_than(self, kept, compares_floats):
        """Returns the differences from the page's row, empty if no result is worse."""
        found, stated = self.cells(), kept.cells()
        stated_errors = kept._errors()
        worse = [column for column, error in self._errors().items() if (error or 0) > (stated_errors[column] or 0)]
        if not compares_floats:
            worse = [column for column in worse if column == "integers"]
        worse += [column for column in ("passed", "not passed for") if found[column] != stated[column]]
        return ["%s: found '%s', the page says '%s'" % (column, found[column], stated[column]) for column in worse]


class Table:
    def __init__(self):
        self.rows = {}

    def add(self, operator, opset, result):
        self.rows.setdefault((operator, opset), Row()).add(result)

    @classmethod
    def read(cls, page):
        table = cls()
        for operator, opset, passed, count, *cells in _ROW.findall(page):
            row = table.rows[operator, int(opset)] = Row()
            row.passed, row.all = int(passed), int(count)
            row.ulps, row.element_ulps, row.integers = (float(cell) if cell.strip() else None for cell in cells[:3])
            row.integers = None if row.integers is None else int(row.integers)
            row.reasons = {reason: int(number) for reason, number in re.findall(r"([^;]+?) \((\d+)\)(?:; )?", cells[3].strip())}
        return table

    def passed(self):
        return sum(row.passed for row in self.rows.values())

    def count(self, without=()):
        """Returns the number of cases, except cases that do not pass for a reason in `without`."""
        reasons = [item for row in self.rows.values() for item in row.reasons.items()]
        return sum(row.all for row in self.rows.values()) - sum(number for reason, number in reasons if reason in without)

    def shares(self):
        """Returns the number of cases and the share that passes, for all cases and for those about tensors of numbers."""
        counts = [self.count(), self.count(OTHER_THINGS)]
        return [(count, self.passed() / count) for count in counts]

    def written_into(self, page, version):
        texts = {"version": version, "columns": " | ".join(_COLUMNS), "passed": "{:,}".format(self.passed())}
        for name, (count, share) in zip(("all", "numbers"), self.shares()):
            texts[name], texts[name + "_share"] = "{:,}".format(count), "%.1f %%" % (100 * share)
        rows = ("| %s |\n" % " | ".join(["`%s`" % key[0], str(key[1]), *row.cells().values()]) for key, row in sorted(self.rows.items()))
        start, end = _section(page)
        before = page[:start].rstrip("\n") + "\n\n"
        return before + _HEADING + _TEXT.format(**texts) + "".join(rows) + ("\n" if end < len(page) else "") + page[end:]


def _section(page):
    """Returns the begin and end of the section, or the page's end twice if there is none."""
    start = page.find(_HEADING)
    if start < 0:
        return len(page), len(page)
    end = page.find("\n## ", start + 1)
    return start, len(page) if end < 0 else end + 1
