# SPDX-License-Identifier: Apache-2.0
"""Trained models below KILN_SHARED_DATA, compared with the outputs recorded there."""

import json
import os
import unittest

import kiln
import numpy

DATA = os.environ.get("KILN_SHARED_DATA", "")


def path(name):
    return os.path.join(DATA, name)


@unittest.skipUnless(DATA, "KILN_SHARED_DATA is not set")
class RealModelsTest(unittest.TestCase):
    def rows(self, model, inputs, expected):
        """Yields the model's output and the recorded output of each row."""
        loaded = kiln.compile(path(model)).load()
        for row, golden in zip(inputs, expected):
            yield loaded(row[None]), golden[None]

    def test_keyword_spotting_int8(self):
        """Bit-exact with TFLite Micro's kernels."""
        inputs = numpy.load(path("mlperf_tiny/kws/inputs_int8.npy"))[:100]
        expected = numpy.load(path("mlperf_tiny/kws/kws_ref_model.real1000.tflm.npy"))
        for found, golden in self.rows("mlperf_tiny/kws/kws_ref_model.tflite", inputs, expected):
            numpy.testing.assert_array_equal(found, golden)

    def test_quantization_of_keyword_spotting(self):
        """Scale and zero point turn features into inputs, and outputs into probabilities."""
        model = kiln.compile(path("mlperf_tiny/kws/kws_ref_model.tflite")).load()
        (features,), (classes,) = model.inputs, model.outputs
        self.assertEqual((classes.scale, classes.zero_point), (1 / 256, -128))
        floats = numpy.load(path("mlperf_tiny/kws/inputs_float32_first100.npy"))
        inputs = numpy.load(path("mlperf_tiny/kws/inputs_int8.npy"))[: len(floats)]
        found = numpy.round(floats / features.scale) + features.zero_point
        numpy.testing.assert_array_equal(numpy.clip(found, -128, 127).astype("int8").reshape(inputs.shape), inputs)

    def test_image_classification_float(self):
        inputs = numpy.load(path("mlperf_tiny/ic/inputs_uint8.npy"))[:20].astype("float32")
        expected = numpy.load(path("mlperf_tiny/ic/pretrainedResnet.real500.tflm.npy"))
        for found, golden in self.rows("mlperf_tiny/ic/pretrainedResnet.tflite", inputs, expected):
            numpy.testing.assert_allclose(found, golden, rtol=1e-4, atol=1e-5)

    def test_wake_word_as_a_stream(self):
        """The states begin at -128, their zero point, also after a reset. States of zeros give other outputs."""
        folder = path("tflite_models/mww_okay_nabu_v2")
        model = kiln.compile(os.path.join(folder, "model.tflite")).load()
        inputs = numpy.load(os.path.join(folder, "yes_stream.in_0.npy"))
        expected = numpy.load(os.path.join(folder, "yes_stream.out_0.tflm.npy"))
        self.assertEqual([state.initial_value for state in model.states], [-128.0] * 6)
        stream = model.stream()
        self.assertEqual({int(value) for state in stream.states.values() for value in state.ravel()}, {-128})
        for _ in range(2):
            numpy.testing.assert_array_equal([stream(step) for step in inputs], expected)
            stream.reset()
        stream.states = {name: numpy.zeros_like(state) for name, state in stream.states.items()}
        self.assertFalse(numpy.array_equal([stream(step) for step in inputs], expected))

    def test_onnx_with_several_inputs(self):
        """A noise suppressor that passes its state from step to step."""
        folder = path("onnx_models/dtln_1")
        model = kiln.compile(os.path.join(folder, "model.onnx")).load()
        with open(os.path.join(folder, "meta.json"), encoding="utf-8") as file:
            steps = json.load(file)["sets"]
        self.assertGreater(len(steps), 1)
        for step in steps:
            inputs, expected = (
                {tensor["name"]: numpy.load(os.path.join(folder, tensor["file"])) for tensor in step[kind]}
                for kind in ("inputs", "outputs")
            )
            outputs = model(**inputs)
            self.assertEqual(set(outputs.keys()), set(expected))
            for name, golden in expected.items():
                numpy.testing.assert_allclose(outputs[name], golden, rtol=1e-4, atol=1e-5)


if __name__ == "__main__":
    unittest.main()
