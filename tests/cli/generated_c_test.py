# SPDX-License-Identifier: Apache-2.0
"""What a user's C compiler makes of generated C, without flags of Kiln's."""

import glob
import os
import shutil
import subprocess
import tempfile
import unittest

KILN = os.path.abspath("tools/kiln/kiln")
DIGITS = os.path.abspath("models/digits/digits.onnx")
INCLUDE = os.path.abspath("runtime_crt/include")
COMPILERS = [compiler for compiler in ("gcc", "clang-19") if shutil.which(compiler)]


class GeneratedCTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def undefined(self, compiler, target):
        """The symbols that the compiled sources of the model want of other objects."""
        options = ["--runtime", "crt", "--interface", "c", "--codegen", "c", "--target", target]
        subprocess.run([KILN, "compile", DIGITS, "-o", self.folder, "--module-name", "digits"] + options, check=True)
        sources = glob.glob(os.path.join(self.folder, "digits*.c"))
        flags = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I" + self.folder, "-I" + INCLUDE]
        subprocess.run([compiler] + flags + ["-c"] + sources, cwd=self.folder, check=True)
        objects = glob.glob(os.path.join(self.folder, "*.o"))
        self.assertEqual(len(objects), len(sources))
        lines = subprocess.run(["nm", "-u"] + objects, stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()
        return {line.split()[1] for line in lines if line.strip().startswith("U ")}

    def test_fused_multiply_add_is_an_instruction(self):
        self.assertIn("gcc", COMPILERS)
        for compiler in COMPILERS:
            with self.subTest(compiler):
                with_fma = self.undefined(compiler, "x86-64-v3")
                self.assertTrue(with_fma)
                self.assertFalse(with_fma & {"fma", "fmaf"})


if __name__ == "__main__":
    unittest.main()
