# SPDX-License-Identifier: Apache-2.0
"""`kiln quantize`: digits in int8 is as accurate as in float32 and computes with integers. Errors in samples are
reported."""

import json
import os
import re
import shutil
import struct
import subprocess
import unittest

from tests.cli.cli_case import DIGITS, MY_MOD, CliCase, needs_llvm, npy

CLASSIFY = os.path.abspath("models/digits/classify")
SAMPLES = os.path.abspath("models/digits/calibration/image.npy")
IMAGES = os.path.abspath("models/digits/test_images.npy")
LABELS = os.path.abspath("models/digits/test_labels.npy")


def floats(shape, values):
    return npy("<f4", shape, struct.pack(f"<{len(values)}f", *values))


class QuantizeCase(CliCase):
    def setUp(self):
        super().setUp()
        self.model = self.path("int8.onnx")

    def samples(self, files):
        """Writes a folder of samples from file contents by name, and returns its path."""
        for name, data in files.items():
            os.makedirs(os.path.dirname(self.path("samples/" + name)), exist_ok=True)
            self.write("samples/" + name, data)
        return self.path("samples")

    def quantize(self, *options):
        return self.succeeds("quantize", DIGITS, "--calibration", os.path.dirname(SAMPLES), "-o", self.model, *options)


class DigitsTest(QuantizeCase):
    def accuracy(self, model):
        """Returns the percentage of images that are read correctly."""
        self.succeeds("compile", model, "-o", self.out, "--module-name", "digits")
        text = subprocess.check_output([CLASSIFY, self.path("out/digits.so"), IMAGES, LABELS]).decode()
        return float(re.search(r"\((\d+\.\d+) %\)", text).group(1))

    @needs_llvm
    def test_every_method_loses_less_than_a_point(self):
        wanted = self.accuracy(DIGITS)
        for method in "minmax", "percentile", "entropy":
            with self.subTest(method):
                self.quantize("--method", method)
                self.assertLess(wanted - self.accuracy(self.model), 1)

    def test_all_products_are_integer(self):
        for options in [], ["--method", "entropy"], ["--symmetric"], ["--no-per-channel"]:
            with self.subTest(options):
                self.quantize(*options)
                graph = self.succeeds("compile", self.model, "--emit=after:integer-products")
                self.assertEqual(len(re.findall(r"= qnn\.conv2d\(", graph)), 3, graph)
                self.assertEqual(len(re.findall(r"= qnn\.dense\(", graph)), 1, graph)
                self.assertIsNone(re.search(r"= nn\.(conv2d|dense)\(", graph), graph)

    def test_report(self):
        text = self.quantize("--json", self.path("report.json"))
        self.assertIn("over 100 samples", text)
        self.assertIn("worst layers by themselves: ", text)
        with open(self.path("report.json"), encoding="utf-8") as file:
            report = json.load(file)
        layers = {layer["name"]: layer for layer in report["layers"]}
        self.assertEqual(list(layers), ["image", "conv1", "conv2", "conv3", "dense"])
        self.assertEqual(layers["conv1"]["operators"], "Conv+Relu")
        self.assertEqual((layers["image"]["min"], layers["image"]["max"], layers["image"]["zero_point"]), (0, 1, -128))
        self.assertNotIn("scale", layers["dense"])
        for layer in layers.values():
            self.assertGreater(layer["alone"]["sqnr_db"], 30)
            self.assertGreater(layer["model"]["sqnr_db"], 30)
            self.assertGreater(layer["model"]["largest_difference"], 0)
        self.assertEqual(report["outputs"][0]["name"], "probabilities")
        self.assertEqual([layer["name"] for layer in report["float_layers"]], ["softmax"])
        self.assertIn(report["worst_layers"][0], layers)

    def test_layers_that_are_kept(self):
        self.quantize("--keep-float", "conv1,dense", "--json", self.path("report.json"))
        with open(self.path("report.json"), encoding="utf-8") as file:
            why = {layer["name"]: layer["why"] for layer in json.load(file)["float_layers"]}
        self.assertEqual(why["conv1"], "--keep-float names it")
        graph = self.succeeds("compile", self.model, "--emit=after:integer-products")
        self.assertEqual(len(re.findall(r"= qnn\.conv2d\(", graph)), 2, graph)
        self.assertEqual(len(re.findall(r"= nn\.(conv2d|dense)\(", graph)), 2, graph)

    def test_the_same_bytes_twice(self):
        contents = []
        for _ in range(2):
            self.quantize("--method", "percentile")
            with open(self.model, "rb") as file:
                contents.append(file.read())
        self.assertEqual(contents[0], contents[1])

    def test_samples_in_many_shapes(self):
        image = [i / 64 for i in range(64)]
        for files in [
            {"a.npy": floats((1, 1, 8, 8), image), "b.npy": floats((8, 8), image)},
            {"a.npy": floats((2, 8, 8), image * 2)},
            {"a.npy": floats((2, 1, 1, 8, 8), image * 2)},
            {"image/a.npy": floats((2, 1, 8, 8), image * 2), "other.txt": b""},
        ]:
            folder = self.samples(files)
            self.assertIn("over 2 samples", self.succeeds("quantize", DIGITS, "--calibration", folder, "-o", self.model))
            shutil.rmtree(folder)
        self.assertIn("over 7 samples", self.quantize("--samples", "7"))


class WrongUseTest(QuantizeCase):
    def wrong(self, words, *arguments):
        """Checks that nothing is written, and that the message contains `words`."""
        self.refuses(words, "quantize", *arguments)
        self.assertFalse(os.path.exists(self.model))

    def wrong_samples(self, words, files):
        folder = self.samples(files)
        self.wrong(words, DIGITS, "--calibration", folder, "-o", self.model)
        shutil.rmtree(folder)

    def test_samples(self):
        self.wrong("nowhere: no such folder", DIGITS, "--calibration", self.path("nowhere"), "-o", self.model)
        self.wrong_samples("samples: found no .npy file in this folder, wanted one at least", {"a.txt": b""})
        self.wrong_samples(
            "a.npy: found the shape (1, 1, 7, 8), wanted (1, 1, 8, 8), or several of these along a leading axis, for the input 'image'",
            {"a.npy": floats((1, 1, 7, 8), [0.0] * 56)},
        )
        self.wrong_samples("a.npy: found uint8, wanted float32 for the input 'image'", {"a.npy": npy("|u1", (8, 8), bytes(64))})
        self.wrong_samples(
            "a.npy: found nan in sample 1, wanted finite numbers for the input 'image'",
            {"a.npy": floats((2, 8, 8), [0.0] * 127 + [float("nan")])},
        )
        self.wrong_samples("a.npy: not a .npy file", {"a.npy": b"PK"})

    def test_models(self):
        self.quantize()
        twice = self.path("twice.onnx")
        self.refuses("the model is quantized already", "quantize", self.model, "--calibration", SAMPLES, "-o", twice)
        self.assertFalse(os.path.exists(twice))
        os.remove(self.model)
        self.wrong("found Relay text, wanted an ONNX model", MY_MOD, "--calibration", SAMPLES, "-o", self.model)
        broken = self.write("broken.onnx", b"\x08\x08")
        self.wrong("broken.onnx: ", broken, "--calibration", SAMPLES, "-o", self.model)

    def test_output(self):
        options = [DIGITS, "--calibration", SAMPLES]
        os.mkdir(self.path("folder"))
        self.wrong("-o", *options, "-o", self.path("folder"))
        self.write("file", b"")
        self.wrong("file", *options, "-o", self.path("file/int8.onnx"))
        self.wrong("--json", *options, "-o", self.model, "--json", self.path("folder"))
        copy = self.path("copy.onnx")
        shutil.copy(DIGITS, copy)
        self.refuses("copy.onnx", "quantize", copy, "--calibration", SAMPLES, "-o", copy)
        samples = self.samples({"a.npy": floats((1, 1, 8, 8), [0.5] * 64)})
        self.refuses("a.npy", "quantize", DIGITS, "--calibration", samples, "-o", os.path.join(samples, "a.npy"))

    def test_options(self):
        options = [DIGITS, "--calibration", SAMPLES, "-o", self.model]
        self.wrong("--method: found 'kl', wanted minmax, percentile or entropy", *options, "--method", "kl")
        percentile = [*options, "--method", "percentile", "--percentile"]
        self.wrong("--percentile: found 101, wanted a number from 50 to 100", *percentile, "101")
        self.wrong("--percentile: found nan, wanted a number from 50 to 100", *percentile, "nan")
        self.wrong("--percentile: found --method minmax, wanted percentile", *options, "--percentile", "99")
        self.wrong("--samples", *options, "--samples", "-1")
        self.wrong("the model has no node 'conv9' and none that computes it", *options, "--keep-float", "conv9")
        self.wrong("--op-types: found 'Softmax', wanted operators that have an int8 form: Add, ", *options, "--op-types", "Softmax")
        self.wrong("no layer can be quantized", *options, "--op-types", "Add")


if __name__ == "__main__":
    unittest.main()
