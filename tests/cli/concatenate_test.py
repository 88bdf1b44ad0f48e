# SPDX-License-Identifier: Apache-2.0
"""A model with concatenations in place must give the same bits on both executors, with both code generators, and with
several threads."""

import json
import os
import unittest

from tests.cli.cli_case import CODEGENS, CliCase

MODEL = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 24, 24, 32), float32], %w: Tensor[(3, 3, 32, 32), float32]) {
  %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1], data_layout="NHWC", kernel_layout="HWIO");
  %1 = nn.relu(%0);
  %2 = concatenate((%1, sigmoid(%x)), axis=3);
  %3 = concatenate((%2, nn.relu(tanh(%2)), %x), axis=3);
  %4 = concatenate((exp(%x), nn.max_pool2d(%x, pool_size=[3, 3], padding=[1, 1, 1, 1], layout="NHWC")), axis=3);
  (%3, reshape(%4, newshape=[-1]), nn.softmax(nn.softmax(%2)))
}
"""
INPUTS = ["--input", "x=random", "w=random"]
OUTPUTS = ("output0", "output1", "output2")


class ConcatenateTest(CliCase):
    def setUp(self):
        super().setUp()
        self.model = self.write("m.relay", MODEL)

    def compile(self, *options):
        out = self.path("_".join(("out",) + options))
        self.succeeds("compile", self.model, "-o", out, "--module-name", "m", *options)
        return os.path.join(out, "m.so")

    def test_same_bits(self):
        wanted = self.path("wanted")
        self.succeeds("run", self.compile(), *INPUTS, "--threads", "1", "--output", wanted)
        checks = ["--rtol", "0", "--atol", "0", "--check"]
        checks += ["%s=%s" % (name, os.path.join(wanted, name + ".npy")) for name in OUTPUTS]
        for codegen in CODEGENS:
            for executor in "aot", "graph":
                library = self.compile("--codegen", codegen, "--executor", executor)
                for threads in "1", "4":
                    with self.subTest(codegen=codegen, executor=executor, threads=threads):
                        self.succeeds("run", library, *INPUTS, "--threads", threads, *checks)

    def test_calls_that_write_one_output_share_its_storage(self):
        library = self.compile("--executor", "graph")
        with open(library.replace(".so", ".graph.json"), encoding="utf-8") as file:
            graph = json.load(file)
        storage, shapes = graph["attrs"]["storage_id"][1], graph["attrs"]["shape"][1]
        node, output, _ = graph["heads"][0]
        entry = graph["node_row_ptr"][node] + output
        self.assertEqual(shapes[entry], [1, 24, 24, 160])
        writers = [i for i, id in enumerate(storage) if id == storage[entry]]
        # The writers are the convolution, sigmoid, tanh, and the copy of x.
        self.assertEqual([shapes[i] for i in writers], [[1, 24, 24, 160]] * 4)


if __name__ == "__main__":
    unittest.main()
