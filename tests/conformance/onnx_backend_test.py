# SPDX-License-Identifier: Apache-2.0
"""Runs ONNX's own cases by ONNX's own runner. The table of docs/onnx.md has a row for each operator and opset, and no
result is worse than its row."""

import os
import unittest
import zlib

import numpy

from tests.conformance import onnx_backend
from tests.conformance.onnx_table import Row, Table

with open("docs/onnx.md", encoding="utf-8") as _page:
    PAGE = _page.read()


def _in_this_shard(operator):
    count = int(os.environ.get("TEST_TOTAL_SHARDS", 1))
    return zlib.crc32(operator.encode()) % count == int(os.environ.get("TEST_SHARD_INDEX", 0))


def _shard_zero(test):
    return unittest.skipUnless(os.environ.get("TEST_SHARD_INDEX", "0") == "0", "the first shard has it")(test)


class OnnxBackendTest(unittest.TestCase):
    """Each shard runs whole rows. The status file tells Bazel that the test supports sharding."""

    @classmethod
    def setUpClass(cls):
        if "TEST_SHARD_STATUS_FILE" in os.environ:
            with open(os.environ["TEST_SHARD_STATUS_FILE"], "w", encoding="utf-8"):
                pass
        cls.cases = onnx_backend.Cases()

    @unittest.skipUnless(onnx_backend.can_run(), "the machine has no AVX2")
    def test_cases(self):
        found, failures = Table(), []
        for name, (operator, opset) in sorted(self.cases.about.items()):
            if _in_this_shard(operator):
                result = self.cases.run(name)
                found.add(operator, opset, result)
                if result.reason and not result.known:
                    failures.append("%s: %s" % (name, result.reason))
        self.assertEqual(failures, [])
        self.assertGreater(len(found.rows), 0)
        kept = Table.read(PAGE).rows
        worse = [
            "%s %d: %s" % (*key, text) for key, row in found.rows.items() for text in row.worse_than(kept.get(key, Row()), onnx_backend.IS_X86)
        ]
        self.assertEqual(worse, [], "bazel run //tests/conformance:update_onnx_table renews the table")

    @_shard_zero
    def test_the_table_has_these_rows_and_no_others(self):
        self.assertEqual(set(Table.read(PAGE).rows), set(self.cases.about.values()))

    @_shard_zero
    def test_97_percent_of_those_about_numbers_pass(self):
        self.assertGreaterEqual(Table.read(PAGE).shares()[-1][1], 0.97)


@_shard_zero
class TableTest(unittest.TestCase):
    def result(self, found, wanted, reason=""):
        result = onnx_backend.Result()
        result.reason, result.known = reason, bool(reason)
        result.error.add(numpy.array(found), numpy.array(wanted))
        return result

    def test_errors(self):
        one = numpy.float32(1)
        after = numpy.nextafter(one, numpy.float32(2))
        error = self.result([after, -one], [one, -one]).error
        self.assertEqual((error.ulps, error.element_ulps, error.integers), (1, 1, None))
        error = self.result([numpy.float32(-1e-45), 8 * one], [numpy.float32(1e-45), 8 * one]).error
        self.assertEqual(error.element_ulps, 2)
        self.assertLess(error.ulps, 1e-30)
        error = self.result([numpy.inf, 1.5], [numpy.inf, 1.5]).error
        self.assertEqual((error.ulps, error.element_ulps), (0, 0))
        error = self.result([1, 2, 3], [1, 3, 4]).error
        self.assertEqual((error.ulps, error.element_ulps, error.integers), (None, None, 2))

    def test_written_and_read(self):
        table = Table()
        table.add("Exp", 13, self.result([1.0000001], [1.0]))
        table.add("Exp", 13, self.result([1], [1], "strings"))
        table.add("Not", 1, self.result([True, False], [True, True]))
        page = table.written_into("# Page\n", "1")
        self.assertEqual(table.written_into(page + "\n## Next\n", "1"), page + "\n## Next\n")
        read = Table.read(page)
        self.assertEqual({key: row.cells() for key, row in read.rows.items()}, {key: row.cells() for key, row in table.rows.items()})
        self.assertEqual(read.shares(), [(3, 2 / 3), (2, 1)])
        for key, row in table.rows.items():
            self.assertEqual(row.worse_than(read.rows[key], True), [])

    def test_worse(self):
        kept, found = Row(), Row()
        kept.add(self.result([1.0], [1.0]))
        found.add(self.result([1.0000001], [1.0]))
        self.assertEqual([text.split(":")[0] for text in found.worse_than(kept, True)], ["ULP", "ULP by element"])
        self.assertEqual(found.worse_than(kept, False), [])
        self.assertEqual(kept.worse_than(found, True), [])
        found.add(self.result([1.0], [1.0], "strings"))
        self.assertEqual([text.split(":")[0] for text in found.worse_than(kept, False)], ["passed", "not passed for"])


if __name__ == "__main__":
    unittest.main()
