# SPDX-License-Identifier: Apache-2.0
"""`kiln compare` finds a planted error (in a weight, a layout or a rounding) and names the layer; references of every
kind."""

import importlib.util
import json
import os
import shutil
import sys
import unittest

import numpy
import onnx
from onnx import helper, numpy_helper

from tests.cli.cli_case import DIGITS, MY_MOD, CliCase

CALIBRATION = os.path.abspath("models/digits/calibration/image.npy")


def parts_of(model):
    """Returns nodes by the name of their output, and constants by name."""
    return {node.output[0]: node for node in model.graph.node}, {tensor.name: tensor for tensor in model.graph.initializer}


def change(constants, name, values):
    constants[name].CopyFrom(numpy_helper.from_array(numpy.ascontiguousarray(values), name))


class CompareCase(CliCase):
    def setUp(self):
        super().setUp()
        self.image = self.path("image.npy")
        numpy.save(self.image, numpy.load(CALIBRATION)[:1].reshape(1, 1, 8, 8).astype(numpy.float32))

    def compare(self, model, *options):
        """Returns the comparison as JSON, and the completed process."""
        result = self.kiln("compare", model, "--values", "image=" + self.image, "--format", "json", *options)
        self.assertIn(result.returncode, (0, 1), result.stderr.decode())
        self.assertTrue(result.stdout, result.stderr.decode())
        return json.loads(result.stdout), result

    def broken(self, source, plant):
        """Writes a copy of a model, changed by `plant(model, nodes, constants)`."""
        model = onnx.load(source)
        plant(model, *parts_of(model))
        path = self.path("broken.onnx")
        onnx.save(model, path)
        return path

    def int8(self):
        path = self.path("int8.onnx")
        self.succeeds("quantize", DIGITS, "--calibration", CALIBRATION, "-o", path)
        return path

    def finds(self, tensor, layer, broken, reference):
        comparison, result = self.compare(broken, "--against", reference)
        self.assertEqual(comparison["first_off"], tensor)
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"the first tensor that is off is '{tensor}'", result.stderr.decode())
        rows = {row["name"]: row for row in comparison["tensors"]}
        self.assertIn(layer, rows[tensor]["layer"].split())
        return rows


class PlantedErrorsTest(CompareCase):
    def test_one_weight(self):
        def plant(_model, nodes, constants):
            name = nodes["conv2.out"].input[1]
            weights = numpy_helper.to_array(constants[name]).copy()
            weights[5, 3, 1, 1] += 0.5
            change(constants, name, weights)

        rows = self.finds("conv2.relu", "conv2", self.broken(DIGITS, plant), DIGITS)
        self.assertFalse(rows["conv1.relu"]["off"])
        self.assertEqual(rows["conv1.relu"]["error"]["largest"], 0)
        # Only one of 32 channels has other values.
        self.assertLessEqual(rows["conv2.relu"]["error"]["differing"], 64)

    def test_one_layout(self):
        def plant(model, _nodes, _constants):
            """Flattens the features with the channels last."""
            nodes = list(model.graph.node)
            at = next(i for i, node in enumerate(nodes) if node.output[0] == "flat")
            swap = helper.make_node("Transpose", [nodes[at].input[0]], ["moved"], name="move", perm=[0, 2, 3, 1])
            nodes[at].input[0] = "moved"
            del model.graph.node[:]
            model.graph.node.extend(nodes[:at] + [swap] + nodes[at:])

        rows = self.finds("flat", "flatten", self.broken(DIGITS, plant), DIGITS)
        self.assertFalse(rows["conv3.pool"]["off"])

    def test_one_rounding(self):
        def plant(model, nodes, constants):
            """Rounds the result of conv2 down."""
            quantize = nodes["conv2.relu_quantized"]
            half = numpy_helper.to_array(constants[quantize.input[1]]) * numpy.float32(0.499)
            model.graph.initializer.append(numpy_helper.from_array(half, "half"))
            lower = helper.make_node("Sub", [quantize.input[0], "half"], ["lowered"], name="lower")
            at = list(model.graph.node).index(quantize)
            quantize.input[0] = "lowered"
            model.graph.node.insert(at, lower)

        int8 = self.int8()
        rows = self.finds("conv2.relu_quantized", "conv2", self.broken(int8, plant), int8)
        self.assertFalse(rows["conv1.relu_quantized"]["off"])
        self.assertAlmostEqual(rows["conv2.relu_quantized"]["error"]["quanta"], 1)


class ReferencesTest(CompareCase):
    def agrees(self, model, *options):
        comparison, result = self.compare(model, *options)
        self.assertIsNone(comparison["first_off"])
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        return {row["name"]: row for row in comparison["tensors"]}

    def test_other_options(self):
        rows = self.agrees(DIGITS, "--against-options", "--passes=-fuse,-convert-layout --codegen c")
        self.assertEqual(list(rows)[-1], "probabilities")
        self.assertEqual(rows["conv1.relu"]["layer"], "conv1 relu1")
        self.assertEqual(rows["conv1.relu"]["type"], {"dtype": "float32", "shape": [1, 16, 8, 8]})
        self.assertNotIn("conv1.out", rows)

    def test_all_tensors(self):
        self.assertIn("conv1.out", self.agrees(DIGITS, "--against-options=--codegen c", "--all"))

    def test_quantised_and_real_numbers(self):
        int8 = self.int8()
        for model, reference, name, other in [
            (int8, DIGITS, "conv1.relu_quantized", "conv1.relu"),
            (DIGITS, int8, "conv1.relu", "conv1.relu_quantized"),
        ]:
            row = self.agrees(model, "--against", reference)[name]
            self.assertEqual(row["reference_name"], other)
            self.assertGreater(row["error"]["cosine"], 0.999)
            self.assertLess(row["error"]["quanta"], 20)
            self.assertGreater(row["error"]["largest"], 0)

    def test_folder(self):
        folder = self.path("tensors")
        os.mkdir(folder)
        shutil.copy(self.image, os.path.join(folder, "image.npy"))
        self.succeeds("compile", DIGITS, "-o", self.out, "--module-name", "digits")
        self.succeeds("run", self.path("out/digits.so"), "--input", "image=" + self.image, "--output", folder)
        self.assertEqual(list(self.agrees(DIGITS, "--against", folder)), ["probabilities"])
        # The image in the folder is the input.
        text = self.succeeds("compare", DIGITS, "--against", folder)
        self.assertIn("0 of 1 tensors are off", text)
        values = numpy.load(os.path.join(folder, "probabilities.npy"))
        numpy.save(os.path.join(folder, "probabilities.npy"), values + numpy.float32(0.01))
        self.assertEqual(self.compare(DIGITS, "--against", folder)[0]["first_off"], "probabilities")

    @unittest.skipUnless(importlib.util.find_spec("onnxruntime"), "the package onnxruntime is not installed")
    def test_onnx_runtime(self):
        self.agrees(DIGITS, "--against", "onnxruntime", "--python", sys.executable)
        int8 = self.int8()
        rows = self.agrees(int8, "--against", "onnxruntime", "--python", sys.executable)
        self.assertEqual(rows["conv2.relu_quantized"]["error"]["differing"], 0)
        self.agrees(int8, "--against", "onnxruntime:" + DIGITS, "--python", sys.executable)

    def test_page(self):
        page = self.path("compare.html")
        self.kiln("compare", DIGITS, "--against-options=--codegen c", "--html", page)
        with open(page, encoding="utf-8") as file:
            text = file.read()
        self.assertIn("All tensors agree.", text)
        self.assertIn("<td>conv1 relu1</td>", text)
        self.assertNotIn("http", text.replace("http-equiv", ""))


class BoardTest(CompareCase):
    def rows(self, model, *options):
        comparison, result = self.compare(model, *options)
        return comparison, {row["name"]: row for row in comparison["tensors"]}, result

    def test_int8_has_the_same_bits_in_every_layer(self):
        comparison, rows, result = self.rows(self.int8(), "--against", "board:cortex-m4f")
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        self.assertEqual(comparison["reference"], self.path("int8.onnx") + " on cortex-m4f in QEMU")
        quantised = [row for name, row in rows.items() if name.endswith("_quantized")]
        self.assertGreater(len(quantised), 3)
        self.assertEqual({row["error"]["differing"] for row in quantised}, {0})

    def test_float32_agrees(self):
        comparison, rows, result = self.rows(DIGITS, "--against", "board:riscv32imac")
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        self.assertIsNone(comparison["first_off"])
        self.assertIn("conv2.relu", rows)

    def test_the_first_layer_that_differs_is_named(self):
        def plant(_model, nodes, constants):
            name = nodes["conv2.out"].input[1]
            change(constants, name, numpy_helper.to_array(constants[name]) + numpy.float32(0.01))

        broken = self.broken(DIGITS, plant)
        comparison, rows, result = self.rows(broken, "--against", DIGITS, "--against-options=--target cortex-m4f")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(comparison["first_off"], "conv2.relu")
        self.assertFalse(rows["conv1.relu"]["off"])
        self.assertIn("the first tensor that is off is 'conv2.relu'", result.stderr.decode())

    def test_wrong_boards(self):
        for board, text in [
            ("host", "--against: found the board 'host', wanted a microcontroller's target, such as board:cortex-m4f"),
            ("", "--against: found the board '', wanted a microcontroller's target"),
            ("cortex-m0plus", "for which there is no emulated board; wanted one of cortex-m3,"),
        ]:
            with self.subTest(board):
                self.refuses(text, "compare", DIGITS, "--against", "board:" + board)


class WrongUseTest(CompareCase):
    def test_references(self):
        self.refuses("compare: found no reference, wanted --against, --against-options or both", "compare", DIGITS)
        self.refuses("nowhere.onnx", "compare", DIGITS, "--against", "nowhere.onnx")
        self.refuses("found Relay text, wanted an ONNX model", "compare", MY_MOD, "--against", "onnxruntime")
        self.refuses(
            "--python: 'no-python' cannot be run: No such file or directory",
            *["compare", DIGITS, "--against", "onnxruntime", "--python", "no-python"],
        )
        script = self.write("python", "#!/bin/sh\nexec " + sys.executable + ' -S "$@"\n')
        os.chmod(script, 0o755)
        self.refuses(
            "wanted onnx, onnxruntime and numpy: install them with pip, or name another interpreter with --python",
            *["compare", DIGITS, "--against", "onnxruntime", "--python", script],
        )
        os.mkdir(self.path("empty"))
        self.refuses("in empty, wanted one such as probabilities.npy", "compare", DIGITS, "--against", "empty")
        chain = helper.make_node("Relu", ["image"], ["other"])
        info = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, 1, 8, 8]) for name in ("image", "other")]
        onnx.save(helper.make_model(helper.make_graph([chain], "other", info[:1], info[1:])), self.path("other.onnx"))
        self.refuses("found no tensor in other.onnx that", "compare", DIGITS, "--against", "other.onnx")

    def test_options(self):
        same = ["compare", DIGITS, "--against-options=--codegen c"]
        files = ["--values", "image=" + self.image]
        self.assertEqual(self.succeeds(*same, *files, "--json"), self.succeeds(*same, *files, "--format", "json"))
        self.refuses("--format: found 'xml', wanted table or json", *same, "--format", "xml")
        self.refuses("--html: found an empty text, wanted a value", *same, "--html", "")
        self.refuses("--values: found 'other', which is no input of", *same, "--values", "other=" + self.image)
        self.refuses("--against-options: found '--no-such'", "compare", DIGITS, "--against-options=--no-such")
        self.refuses("name a model with --against", "compare", DIGITS, "--against-options=other.onnx")
        numpy.save(self.image, numpy.zeros((2, 2), numpy.float32))
        self.refuses(
            "input 'image': found Tensor[(2, 2), float32], wanted Tensor[(1, 1, 8, 8), float32]",
            *[*same, "--values", "image=" + self.image],
        )
        self.refuses("--cosine", *same, "--cosine", "2")


if __name__ == "__main__":
    unittest.main()
