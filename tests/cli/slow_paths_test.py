# SPDX-License-Identifier: Apache-2.0
"""Notes on operators that are slow on a microcontroller, and --fail-on-slow."""

import os
import unittest

from tests.cli.cli_case import DIGITS, CliCase

MODEL = """#[version = "0.0.5"]
def @main(%x: Tensor[(2, 8), {0}], %y: Tensor[(2, 8), {0}]) {{
  add(multiply(%x, %y), %y)
}}
"""
# 8-bit products with weights that are not constant. No dot product instruction can read them in their layout.
BYTES = """#[version = "0.0.5"]
def @main(%x: Tensor[(4, 32), int8], %w: Tensor[(16, 32), int8]) {
  nn.dense(%x, %w, units=16, out_dtype="int32")
}
"""
INTEGERS = os.path.abspath("tests/firmware/models/integers.relay")
C = ["--runtime", "crt", "--interface", "c", "--codegen", "c"]
FLOAT = "float32 without a floating-point unit"
DOUBLE = "float64 without a unit of double precision"


class SlowPathsTest(CliCase):
    def notes(self, model, target, *options):
        """Returns the notes of a compilation that name slow operators."""
        result = self.kiln("compile", model, "-o", self.out, "--module-name", "m", *C, "--target", target, *options)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        return [line for line in result.stderr.decode().splitlines() if " slow on " in line]

    def test_floats_without_a_unit(self):
        model = self.write("m.relay", MODEL.format("float32"))
        for target in ("cortex-m0plus", "cortex-m3", "cortex-m4", "riscv32imac"):
            notes = self.notes(model, target)
            self.assertEqual(len(notes), 1, notes)
            self.assertRegex(
                notes[0], r"^kiln: note: node '.+' \(multiply add\) is slow on {}: {}, every operation a call; about \d+ operations$".format(target, FLOAT)
            )
        for target in ("cortex-m4f", "cortex-m7f", "cortex-m33f", "cortex-m55", "riscv32imafc", "host"):
            self.assertEqual(self.notes(model, target), [])

    def test_doubles(self):
        model = self.write("m.relay", MODEL.format("float64"))
        for target in ("cortex-m3", "cortex-m4f", "cortex-m7f", "riscv32imafc"):
            notes = self.notes(model, target)
            self.assertEqual(len(notes), 1, notes)
            self.assertIn(DOUBLE, notes[0])
        self.assertEqual(self.notes(model, "cortex-m55"), [])

    def test_integers(self):
        for target in ("cortex-m0plus", "cortex-m3", "cortex-m4f", "cortex-m55", "riscv32imac"):
            self.assertEqual(self.notes(INTEGERS, target, "--fail-on-slow"), [])
        model = self.write("m.relay", BYTES)
        for target in ("cortex-m4f", "cortex-m55"):
            notes = self.notes(model, target)
            self.assertEqual(len(notes), 1, notes)
            self.assertIn(" (nn.dense) is slow on {}: integer products one by one".format(target), notes[0])
        # The core has no such instruction, so there is no faster way.
        self.assertEqual(self.notes(model, "cortex-m3"), [])

    def test_failure(self):
        options = ["-o", self.out, *C, "--target", "cortex-m3", "--fail-on-slow"]
        self.refuses("--fail-on-slow: wanted no operator that is slow on the target, found:\n  node '", "compile", DIGITS, *options)
        self.refuses("node 'conv2 relu2' (nn.conv2d nn.bias_add nn.relu) is slow on cortex-m3: " + FLOAT, "compile", DIGITS, *options)
        self.refuses("--fail-on-slow: wanted no operator", "package", DIGITS, "--for", "cmake", *options)
        self.assertFalse(os.path.exists(self.out))

    def test_several_functions(self):
        lines = ["%{0} = exp(reverse(%{1}, axis=0))".format(i + 1, i if i else "x") for i in range(8)]
        text = "\n".join("  {};".format(line) for line in lines)
        model = self.write("m.relay", '#[version = "0.0.5"]\ndef @main(%x: Tensor[(8), float32]) {{\n{}\n  %8\n}}\n'.format(text))
        notes = self.notes(model, "cortex-m3", "--passes=-fuse")
        self.assertEqual(len(notes), 1)
        self.assertRegex(
            notes[0], r"^kiln: note: 8 functions are slow on cortex-m3: {}, .*; about \d+ operations, \d+ of them in node '.+' \(exp\)$".format(FLOAT)
        )
        options = ["-o", self.out, *C, "--target", "cortex-m3", "--passes=-fuse", "--fail-on-slow"]
        result = self.kiln("compile", model, *options)
        self.assertEqual(result.returncode, 2)
        self.assertIn("\n  3 more functions slow on cortex-m3: about ", result.stderr.decode())


if __name__ == "__main__":
    unittest.main()
