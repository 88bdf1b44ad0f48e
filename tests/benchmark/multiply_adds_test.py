# SPDX-License-Identifier: Apache-2.0
"""Checks the number of multiply-adds that is counted from the text of a graph."""

import subprocess
import sys
import tempfile
import unittest

from tests.benchmark import multiply_adds

MODEL = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 8, 8, 4), float32], %w: Tensor[(6, 4, 3, 3), float32],
          %d: Tensor[(4, 1, 3, 3), float32], %t: Tensor[(4, 2, 2, 2), float32],
          %a: Tensor[(3, 5, 7), float32], %b: Tensor[(3, 7, 2), float32],
          %q: Tensor[(2, 9), int8], %r: Tensor[(4, 9), int8]) {
  %0 = nn.conv2d(%x, %w, strides=[2, 2], padding=[1, 1], data_layout="NHWC");
  %1 = nn.conv2d(%x, %d, groups=4, data_layout="NHWC");
  %2 = nn.conv2d_transpose(%x, %t, strides=[2, 2], data_layout="NHWC");
  %3 = nn.relu(%0);
  %4 = nn.batch_matmul(%a, %b, transpose_a=False, transpose_b=False);
  %5 = qnn.dense(%q, %r, 1f, 0, 1f, 0);
  (%3, %1, %2, %4, %5)
}
"""
# Output positions x channels x taps. For the transposed convolution: data x outputs x taps.
COUNTS = (4 * 4 * 6 * 4 * 9, 6 * 6 * 4 * 9, 8 * 8 * 4 * 2 * 4, 3 * 5 * 2 * 7, 2 * 4 * 9)


class MultiplyAddsTest(unittest.TestCase):

    def test_products_count_and_nothing_else(self):
        with tempfile.NamedTemporaryFile("w", suffix=".relay") as model:
            model.write(MODEL)
            model.flush()
            text = subprocess.run([KILN, "compile", model.name, "--emit=after:infer-types"],
                                  stdout=subprocess.PIPE, text=True, check=True).stdout
        self.assertEqual(multiply_adds.count(text.splitlines()), sum(COUNTS))

    def test_layout_of_weights(self):
        line = ('  %1 = qnn.conv2d(%0, meta[relay.Constant][3] /* ty=Tensor[(16, 3, 3, 8), int8] */,'
                ' 1f64, 0, 1f64, 0, data_layout="NHWC", kernel_layout="OHWI") '
                '/* ty=Tensor[(1, 5, 5, 16), int32] */;')
        text = ["def @main(%x: Tensor[(1, 5, 5, 8), int8]) {",
                "  %0 = reshape(%x) /* ty=Tensor[(1, 5, 5, 8), int8] */;", line]
        self.assertEqual(multiply_adds.count(text), 5 * 5 * 16 * 9 * 8)


if __name__ == "__main__":
    KILN = sys.argv.pop(1)
    unittest.main()
