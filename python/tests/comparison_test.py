# SPDX-License-Identifier: Apache-2.0
"""Results of compare and validate, and their errors for wrong arguments."""

import importlib.util
import math
import os
import unittest

import kiln
import numpy
from python.tests.case import DIGITS, MY_MOD, Case

try:
    import onnx
    import onnx.numpy_helper
except ImportError:
    onnx = None

CALIBRATION = "models/digits/calibration/image.npy"


def image():
    return numpy.load(CALIBRATION)[:1].reshape(1, 1, 8, 8).astype("float32")


class CompareTest(Case):
    def compare(self, model=DIGITS, against=None, **options):
        return kiln.compare(model, against, values={"image": image()}, **options)

    @unittest.skipUnless(onnx and hasattr(onnx, "numpy_helper"), "Debian's package python3-onnx is not installed")
    def test_a_planted_error_is_found_and_named(self):
        model = onnx.load(DIGITS)
        (weights_of,) = [node.input[1] for node in model.graph.node if node.output[0] == "conv2.out"]
        (constant,) = [each for each in model.graph.initializer if each.name == weights_of]
        weights = onnx.numpy_helper.to_array(constant).copy()
        weights[5, 3, 1, 1] += 0.5
        constant.CopyFrom(onnx.numpy_helper.from_array(weights, weights_of))

        comparison = self.compare(model, DIGITS)
        self.assertFalse(comparison)
        off = comparison.first_off
        self.assertEqual((off.name, off.layer, off.dtype, off.shape), ("conv2.relu", "conv2 relu2", "float32", (1, 32, 8, 8)))
        self.assertEqual(off.worst.position[:2], (0, 5))  # the channel with the wrong weight
        self.assertAlmostEqual(abs(off.worst.found - off.worst.wanted), off.largest, places=5)
        self.assertLessEqual(off.differing, 64)
        self.assertIsInstance(off.ulp, int)
        self.assertIsNone(off.quanta)
        self.assertLess(off.cosine, 1)
        before = comparison.tensors[0]
        self.assertEqual((before.name, before.off, before.largest, before.worst), ("conv1.relu", False, 0, None))
        line = [line for line in str(comparison).splitlines() if " conv2.relu " in line]
        self.assertRegex("".join(line), r"^first off +\d")

    def test_models_agree(self):
        """A model agrees with itself under other options. The model is a path, bytes or an object in memory."""
        with open(DIGITS, "rb") as file:
            content = file.read()
        for model, against, name in ((DIGITS, None, DIGITS), (content, DIGITS, "model"), (DIGITS, content, DIGITS)):
            comparison = self.compare(model, against, against_options="--codegen c")
            self.assertTrue(comparison)
            self.assertIsNone(comparison.first_off)
            self.assertEqual((comparison.model, comparison.missing), (name, ()))
            self.assertEqual(comparison.tensors[-1].name, "probabilities")
            self.assertIn("0 of 8 tensors are off", str(comparison))
            self.assertNotIn("/.kiln-", str(comparison) + comparison.page)

    def test_shows_itself(self):
        comparison = self.compare(against_options="--codegen c")
        header, *rows = str(comparison).splitlines()[1:]
        self.assertEqual(header.split(), "largest mean cosine ulp quanta differing tensor layer type".split())
        self.assertTrue(rows[0].endswith("conv1.relu     conv1 relu1  float32 (1, 16, 8, 8)"), rows[0])
        self.assertEqual(repr(comparison), str(comparison))
        self.assertIn("All tensors agree.", comparison.page)
        shown = comparison._repr_html_()
        self.assertTrue(shown.startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;'), shown[:80])
        self.assertEqual(shown.count('"'), 4)  # the quotes of the element itself; quotes in the page are escaped

    def test_arrays_of_another_framework(self):
        probabilities = kiln.compile(DIGITS).load()(image())
        comparison = self.compare(against={"probabilities": probabilities})
        self.assertEqual([tensor.name for tensor in comparison.tensors], ["probabilities"])
        self.assertTrue(comparison)
        self.assertEqual(self.compare(against={"probabilities": probabilities + 1}).first_off.name, "probabilities")
        # The output's name is not a valid file name.
        names = b'#[version = "0.0.5"]\ndef @main(%x: Tensor[(2), float32]) {\n  add(%x, 1f)\n}\n'
        (output,) = kiln.compile(names).load().outputs
        x = numpy.array([1, 2], "float32")
        self.assertTrue(kiln.compare(names, {output.name: x + 1}, values={"x": x}))

    def test_shapes_that_do_not_fit(self):
        (tensor,) = self.compare(against={"probabilities": numpy.zeros((1, 9), "float32")}).tensors
        self.assertTrue(tensor.off)
        self.assertTrue(math.isnan(tensor.largest) and math.isnan(tensor.mean) and math.isnan(tensor.cosine))
        self.assertIsNone(tensor.worst)

    def test_numbers_that_are_not_finite(self):
        wanted = numpy.full((1, 10), numpy.nan, "float32")
        (tensor,) = self.compare(against={"probabilities": wanted}).tensors
        self.assertTrue(tensor.off)
        self.assertTrue(math.isnan(tensor.worst.wanted))

    def test_quantized(self):
        kiln.quantize(DIGITS, self.path("int8.onnx"), {"image": numpy.load(CALIBRATION)})
        comparison = self.compare(self.path("int8.onnx"), DIGITS)
        row = {tensor.name: tensor for tensor in comparison.tensors}["conv1.relu_quantized"]
        self.assertEqual((row.reference_name, row.off), ("conv1.relu", False))
        self.assertGreater(row.quanta, 0)

    @unittest.skipUnless(importlib.util.find_spec("onnxruntime"), "the package onnxruntime is not installed")
    def test_onnx_runtime(self):
        self.assertTrue(self.compare(against="onnxruntime"))

    def test_a_python_without_onnx_runtime(self):
        """The interpreter is the current one unless another is named."""
        self.refuses(kiln.ModelError, "'no-python' cannot be run", self.compare, against="onnxruntime", python="no-python")

    def test_refusals(self):
        numbers = numpy.zeros((2, 2), "float32")
        for error, words, args, kwargs in (
            (kiln.ModelError, "wanted --against, --against-options or both", [DIGITS], {}),
            (kiln.ModelError, "nowhere.onnx", [DIGITS, "nowhere.onnx"], {}),
            (kiln.ModelError, "found no file of a tensor", [DIGITS, {"other": numbers}], {}),
            (kiln.ModelError, "found 'other', which is no input of", [DIGITS, MY_MOD], {"values": {"other": numbers}}),
            (kiln.ModelError, "input 'image': found Tensor[(2, 2), float32]", [DIGITS, DIGITS], {"values": {"image": numbers}}),
            (TypeError, "input 'image': found list, wanted an array", [DIGITS, DIGITS], {"values": {"image": [1]}}),
            (TypeError, "found an array of Python objects", [DIGITS, DIGITS], {"values": {"image": numpy.array([None])}}),
            (TypeError, "tensor 'probabilities': found int", [DIGITS, {"probabilities": 1}], {}),
            (TypeError, "found int, wanted a model", [DIGITS, 7], {}),
        ):
            with self.subTest(words):
                self.refuses(error, words, kiln.compare, *args, **kwargs)


class ValidateTest(Case):
    @classmethod
    def setUpClass(cls):
        cls.images = numpy.load(CALIBRATION)
        cls.library = kiln.compile(DIGITS)
        model = cls.library.load()
        cls.expected = numpy.concatenate([model(each.reshape(1, 1, 8, 8)) for each in cls.images])

    def test_agrees(self):
        for model in (DIGITS, str(self.library.write(self.folder)[-1])):
            validation = kiln.validate(model, self.images, {"probabilities": self.expected})
            self.assertTrue(validation)
            (output,) = validation.outputs
            self.assertEqual((output.name, output.samples, output.equal_samples), ("probabilities", 100, 100))
            self.assertEqual((output.values, output.largest_difference, output.same_argmax), (1000, 0, 100))
            self.assertEqual([(each.first, each.last, each.values) for each in output.histogram], [(0, 0, 1000)])
            self.assertIsNone(validation.instructions)
            self.assertIn("on this machine", validation.where)

    def test_a_planted_error_is_found(self):
        wrong = self.expected.copy()
        wrong[7, 3] += 0.25
        validation = kiln.validate(DIGITS, {"image": self.images}, wrong)
        self.assertFalse(validation)
        (output,) = validation.outputs
        self.assertEqual((output.equal_samples, output.values_beyond_bounds, output.worst_sample), (99, 1, 7))
        self.assertAlmostEqual(output.largest_difference, 0.25, places=5)
        self.assertEqual(output.unit, "ULP")
        self.assertEqual(sum(each.values for each in output.histogram), 1000)
        self.assertIn("1 of 1000 beyond the tolerance", str(validation))
        self.assertEqual(repr(validation), str(validation))
        self.assertIn("<pre>" + DIGITS, validation._repr_html_())
        self.assertTrue(kiln.validate(DIGITS, self.images, wrong, atol=0.3))

    def test_files(self):
        numpy.save(self.path("expected.npy"), self.expected)
        self.assertTrue(kiln.validate(DIGITS, CALIBRATION, {"probabilities": self.path("expected.npy")}))
        self.assertEqual(os.listdir(self.folder), ["expected.npy"])

    def test_refusals(self):
        for error, words, model, inputs, expected in (
            (kiln.ModelError, "found 100 and 99 samples", DIGITS, self.images, self.expected[1:]),
            (kiln.ModelError, "wanted NAME=FILE; the model has the inputs a, b", MY_MOD, self.images, self.expected),
            (kiln.ModelError, "--expected: found 'other=", DIGITS, self.images, {"other": self.expected}),
            (kiln.ModelError, "float64] in", DIGITS, self.images.astype("float64"), self.expected),
            (kiln.ModelError, "none.npy", DIGITS, "none.npy", self.expected),
            (TypeError, "inputs: found int, wanted an array", DIGITS, 7, self.expected),
            (TypeError, "expected 'probabilities': found NoneType", DIGITS, self.images, {"probabilities": None}),
        ):
            with self.subTest(words):
                self.refuses(error, words, kiln.validate, model, inputs, expected)


if __name__ == "__main__":
    unittest.main()
