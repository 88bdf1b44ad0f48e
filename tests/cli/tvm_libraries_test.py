# SPDX-License-Identifier: Apache-2.0
"""The tool's behavior on libraries that TVM 0.9 built."""

import json
import os
import struct
import unittest

from tests.cli.cli_case import CliCase, npy

AOT = os.path.abspath("tests/tvm_compat/tvm_aot.so")
GRAPH = os.path.abspath("tests/tvm_compat/tvm_graph.so")


class TvmLibrariesTest(CliCase):
    def test_run(self):
        array = self.write("x.npy", npy("<f4", (4,), struct.pack("<4f", 1, 2, 3, 4)))
        text = self.succeeds("run", AOT, "--input", "x=" + array)
        self.assertEqual(text, "output0 Tensor[(4,), float32]: 2 4 6 8\noutput1 Tensor[(2, 2), int8]: 2 4 6 8\n")
        text = self.succeeds("run", GRAPH, "--input", "x=" + array)
        self.assertEqual(text, "output0 Tensor[(4,), float32]: 2 4 6 8\n")

    def test_bench(self):
        for library, executor in ((AOT, "aot"), (GRAPH, "graph")):
            result = json.loads(self.succeeds("bench", library, "--seconds", "0.01", "--json"))
            self.assertEqual((result["module"], result["executor"]), ("default", executor))

    def test_inspect(self):
        self.refuses("add --load, which loads the library and runs its code", "inspect", AOT)
        text = self.succeeds("inspect", "--load", AOT)
        for words in ("module default for unknown: called from C, C++ and Python", "executor aot", "output1", "fast_var 16 bytes", "constant_0"):
            self.assertIn(words, text)
        text = self.succeeds("inspect", "--load", GRAPH)
        for words in ("module default for unknown: ", "executor graph", "p0", "the graph executor keeps its tensors in 0 bytes"):
            self.assertIn(words, text)
        metadata = json.loads(self.succeeds("inspect", GRAPH, "--json", "--load"))
        self.assertEqual([function["name"] for function in metadata["functions"]], ["", "tvmgen_default_fused_add"])


if __name__ == "__main__":
    unittest.main()
