# SPDX-License-Identifier: Apache-2.0
"""kiln check-onnx over a folder of cases: digits with a right and a wrong output, and files that are not models."""

import json
import os
import shutil
import struct
import unittest

from tests.cli.cli_case import DIGITS, CliCase, needs_llvm


def varint(value):
    data = b""
    while value >= 128:
        data += bytes([value % 128 + 128])
        value //= 128
    return data + bytes([value])


def tensor(shape, floats):
    """Encodes an ONNX TensorProto of float32: dims, data_type, raw_data."""
    raw = struct.pack(f"<{len(floats)}f", *floats)
    dims = b"".join(b"\x08" + varint(extent) for extent in shape)
    return dims + b"\x10\x01" + b"\x4a" + varint(len(raw)) + raw


@needs_llvm
class CheckOnnxTest(CliCase):
    def setUp(self):
        super().setUp()
        # The expected output is the model's own result for an image of zeros.
        zeros = tensor([1, 1, 8, 8], [0.0] * 64)
        self.write("zeros.pb", zeros)
        self.succeeds("compile", DIGITS, "-o", self.out, "--module-name", "digits")
        self.succeeds("run", self.path("out/digits.so"), "--input", "image=" + self.path("zeros.pb"), "--output", self.path("results"))
        (name,) = os.listdir(self.path("results"))
        with open(self.path("results/" + name), "rb") as file:
            data = file.read()
        header = struct.unpack_from("<H", data, 8)[0]
        values = struct.unpack_from("<10f", data, 10 + header)
        shutil.rmtree(self.out)
        self.case("good", zeros, tensor([1, 10], values))
        self.case("wrong", zeros, tensor([1, 10], [v + 0.5 for v in values]))
        os.makedirs(self.path("cases/broken/test_data_set_0"))
        self.write("cases/broken/model.onnx", b"\xff\xff")

    def case(self, name, image, scores):
        folder = self.path(f"cases/{name}/test_data_set_0")
        os.makedirs(folder)
        shutil.copy(DIGITS, self.path(f"cases/{name}/model.onnx"))
        self.write(f"cases/{name}/test_data_set_0/input_0.pb", image)
        self.write(f"cases/{name}/test_data_set_0/output_0.pb", scores)

    def failing(self, *args):
        result = self.kiln("check-onnx", *args)
        self.assertEqual(result.returncode, 2, result.stderr.decode())
        return result.stdout.decode(), result.stderr.decode()

    def test_counts_and_tells_reasons(self):
        out, err = self.failing(self.path("cases"))
        self.assertEqual(out.splitlines()[-1], "1 passed, 2 failed, 0 unsupported")
        self.assertIn("\n    wrong\n", "\n" + out)
        self.assertIn("the file may be cut off\n    broken\n", out)
        self.assertIn("2 of 3 cases failed", err)

    def test_filter_and_folder_of_one_case(self):
        self.assertEqual(self.succeeds("check-onnx", self.path("cases"), "--filter", "goo"), "1 passed, 0 failed, 0 unsupported\n")
        self.assertEqual(self.succeeds("check-onnx", self.path("cases/good"), "--codegen", "c"), "1 passed, 0 failed, 0 unsupported\n")

    def test_tolerance(self):
        self.assertEqual(
            self.succeeds("check-onnx", self.path("cases"), "--filter", "wrong", "--atol", "1"), "1 passed, 0 failed, 0 unsupported\n"
        )

    def test_json(self):
        out, _ = self.failing(self.path("cases"), "--json")
        self.assertEqual([(row["case"], row["outcome"]) for row in json.loads(out)], [("broken", "failed"), ("good", "passed"), ("wrong", "failed")])

    def test_wrong_use(self):
        for arguments, text in [
            ((self.path("nowhere"),), "no such folder"),
            ((self.path("results"),), "found no model.onnx"),
            ((self.path("cases"), "--filter", "x"), "no case has 'x' in its name"),
            ((self.path("cases"), "--rtol", "-1"), "--rtol"),
        ]:
            self.refuses(text, "check-onnx", *arguments)


if __name__ == "__main__":
    unittest.main()
