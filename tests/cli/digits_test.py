# SPDX-License-Identifier: Apache-2.0
"""The digits example of models/digits/README.md: from the ONNX file to the share of images that are read correctly."""

import os
import subprocess
import tempfile
import unittest

KILN = os.path.abspath("tools/kiln/kiln")
CLASSIFY = os.path.abspath("models/digits/classify")
MODEL = os.path.abspath("models/digits/digits.onnx")
IMAGES = os.path.abspath("models/digits/test_images.npy")
LABELS = os.path.abspath("models/digits/test_labels.npy")


class DigitsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def classify(self, *options):
        subprocess.run([KILN, "compile", MODEL, "-o", self.folder, "--module-name", "digits"] + list(options), check=True)
        library = os.path.join(self.folder, "digits.so")
        return subprocess.run([CLASSIFY, library, IMAGES, LABELS], check=True, stdout=subprocess.PIPE).stdout.decode()

    def test_aot(self):
        text = self.classify()
        self.assertIn("Right:   356 of 359 images that the model has never seen (99.16 %)", text)
        self.assertIn("This is a ", text)

    def test_graph(self):
        self.assertIn("(99.16 %)", self.classify("--executor", "graph"))

    def test_c(self):
        self.assertIn("(99.16 %)", self.classify("--codegen", "c"))

    def test_every_x86_64(self):
        self.assertIn("(99.16 %)", self.classify("--target", "x86-64"))

    def test_wrong_files(self):
        for args in ([], [MODEL, IMAGES], [os.path.join(self.folder, "none.so"), IMAGES]):
            result = subprocess.run([CLASSIFY] + args, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertIn(result.returncode, (1, 2))
            self.assertNotEqual(result.stderr, b"")


if __name__ == "__main__":
    unittest.main()
