# SPDX-License-Identifier: Apache-2.0
"""8-bit weights that ONNX's DequantizeLinear reads: their size in the library, the note, and the results."""

import array
import json
import os
import random
import re
import unittest

from tests.cli.cli_case import CliCase, needs_llvm, npy

FLOAT32, UINT8, INT8 = 1, 2, 3
ROWS = 2


def number(value):
    """Encodes an unsigned number as a protobuf varint."""
    written = b""
    while value > 127:
        written += bytes([value & 127 | 128])
        value >>= 7
    return written + bytes([value])


def field(key, value):
    """Encodes a field of a protobuf message. The value is a number, or a text, bytes or message."""
    if isinstance(value, int):
        return number(key << 3) + number(value)
    data = value.encode() if isinstance(value, str) else value
    return number(key << 3 | 2) + number(len(data)) + data


def tensor(name, dtype, shape, data):
    return b"".join(field(1, extent) for extent in shape) + field(2, dtype) + field(8, name) + field(9, data)


def port(name, shape):
    dims = b"".join(field(1, field(1, extent)) for extent in shape)
    return field(1, name) + field(2, field(1, field(1, FLOAT32) + field(2, dims)))


def node(op, inputs, output, attributes=b""):
    return b"".join(field(1, name) for name in inputs) + field(2, output) + field(4, op) + attributes


def floats(values):
    return array.array("f", values).tobytes()


class Model:
    """The model y = x w with a scale per column of the weights, and the data and result of one run.

    All numbers are multiples of a quarter, which float32 represents exactly.
    """

    def __init__(self, dtype, zero_point, depth=256, columns=192):
        source = random.Random(zero_point)
        least = 0 if dtype == UINT8 else -128
        weights = [[source.randrange(least, least + 256) for _ in range(columns)] for _ in range(depth)]
        scales = [source.choice([0.25, 0.5, 1.0]) for _ in range(columns)]
        data = [[source.randrange(-8, 9) for _ in range(depth)] for _ in range(ROWS)]
        self.x = npy("<f4", (ROWS, depth), floats(value for row in data for value in row))
        result = []
        for row in data:
            sums = [0] * columns
            for value, of_depth in zip(row, weights):
                sums = [total + value * (weight - zero_point) for total, weight in zip(sums, of_depth)]
            result += [total * scale for total, scale in zip(sums, scales)]
        self.y = npy("<f4", (ROWS, columns), floats(result))
        axis = field(5, field(1, "axis") + field(3, 1) + field(20, 2))
        graph = field(1, node("DequantizeLinear", ["w", "s", "z"], "f", axis)) + field(1, node("MatMul", ["x", "f"], "y"))
        graph += field(2, "g")
        graph += field(5, tensor("w", dtype, [depth, columns], bytes(weight & 255 for row in weights for weight in row)))
        graph += field(5, tensor("s", FLOAT32, [columns], floats(scales)))
        graph += field(5, tensor("z", dtype, [columns], bytes([zero_point & 255] * columns)))
        graph += field(11, port("x", [ROWS, depth])) + field(12, port("y", [ROWS, columns]))
        self.onnx = field(1, 8) + field(8, field(2, 17)) + field(7, graph)


class ByteWeightsTest(CliCase):
    @needs_llvm
    def test_bytes_and_numbers(self):
        for dtype, zero_point in ((INT8, 0), (UINT8, 128), (UINT8, 100)):
            with self.subTest(dtype=dtype, zero_point=zero_point):
                model = Model(dtype, zero_point)
                path, x, y = self.write("m.onnx", model.onnx), self.write("x.npy", model.x), self.write("y.npy", model.y)
                constants, sizes, notes = [], [], []
                for optimize in ("speed", "size"):
                    result = self.kiln("compile", path, "-o", optimize, "--module-name", "m", "--optimize", optimize)
                    self.assertEqual(result.returncode, 0, result.stderr)
                    library = self.path(optimize + "/m.so")
                    self.succeeds("run", library, "--input", "x=" + x, "--check", "y=" + y, "--rtol", "1e-6")
                    with open(self.path(optimize + "/m.metadata.json"), encoding="utf-8") as file:
                        constants.append(int(json.load(file)["functions"][0]["constant_size_bytes"]))
                    # The size of a library depends on the target, so that it is measured for one.
                    self.succeeds("compile", path, "-o", "v4", "--module-name", "m", "--optimize", optimize, "--target", "x86-64-v4")
                    sizes.append(os.path.getsize(self.path("v4/m.so")))
                    notes.append(result.stderr.decode())
                # The model fits into the L2 cache, so floats are faster.
                self.assertIn("1 weight that the model stores in 8 bits is stored as floats in the library", notes[0])
                self.assertNotIn("stored as floats", notes[1])
                self.assertGreater(constants[0] - constants[1], 2.9 * 256 * 192)
                self.assertGreater(sizes[0] - sizes[1], 2.9 * 256 * 192)

    def test_inspect(self):
        path = self.write("m.onnx", Model(INT8, 0).onnx)
        for target in ("x86-64-v3", "cortex-m4f"):
            text = self.succeeds("inspect", path, "--target", target)
            self.assertIn("1 weight that the model stores in 8 bits is stored as floats in the library", text)

    @needs_llvm
    def test_a_weight_that_the_cache_does_not_keep(self):
        # As floats, the weights take 1228800 bytes. The target's L2 cache has 1 MiB.
        path = self.write("m.onnx", Model(INT8, 0, depth=1024, columns=300).onnx)
        for target, has_bytes in (("x86-64-v3", True), ("x86-64", False)):
            result = self.kiln("compile", path, "--emit=scheduled", "--target", target)
            self.assertEqual(result.stderr, b"")
            loops = result.stdout.decode()
            self.assertEqual("int8[" in loops, has_bytes, target)
            self.assertEqual(re.search(r"float32\(w\d+\[", loops) is not None, has_bytes, target)


if __name__ == "__main__":
    unittest.main()
