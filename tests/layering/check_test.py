# SPDX-License-Identifier: Apache-2.0
"""Tests layering_test.check on single dependencies, with a small table."""

import unittest

from tests.layering import layering_test

_LAYERS = {
    "compiler/base": ["@com_google_absl"],
    "compiler/codegen/c": ["compiler/base"],
    "compiler/graph": ["compiler/base", "@com_google_absl"],
}
_ALLOWED = [
    ("//compiler/graph:graph", "//compiler/base:base"),
    ("//compiler/graph:graph", "//compiler/graph:graph.cc"),
    ("//compiler/graph/text:parse", "//compiler/graph:graph"),
    ("//compiler/graph:graph", "@com_google_absl//absl/status:statusor"),
    ("//compiler/graph:graph", "//tools/bazel:with_llvm"),
    ("//tools:kiln", "//compiler/graph:graph"),
    ("@llvm//:llvm", "@llvm//:headers"),
]
_FORBIDDEN = [
    ("//compiler/base:base", "//compiler/graph:graph"),
    ("//compiler/base:base", "//tests/golden:helper"),
    ("//compiler/base:base", "@llvm//:llvm"),
    ("//compiler/codegen/c:c", "//compiler/codegen/llvm:llvm"),
    ("//compiler/graph:graph", "//compiler/graph_pipeline:graph_pipeline"),
    ("//compiler:compile", "//compiler/graph:graph"),
    ("//compiler/graph:graph", "//compiler/base64:base64"),
    ("//compiler/unknown:unknown", "//compiler/base:base"),
]


class CheckTest(unittest.TestCase):
    def test_allowed(self):
        for edge in _ALLOWED:
            with self.subTest(edge):
                self.assertIsNone(layering_test.check(*edge, _LAYERS, ["tools"]))

    def test_forbidden(self):
        for edge in _FORBIDDEN:
            with self.subTest(edge):
                self.assertIsNotNone(layering_test.check(*edge, _LAYERS, ["tools"]))


if __name__ == "__main__":
    unittest.main()
