# SPDX-License-Identifier: Apache-2.0
"""Generated C for compilers that do not identify as gcc or clang, and with --optimize size. On boards in QEMU, the outputs are equal to those
of gcc's code for speed, to the byte.

    compilers_test BOARDS    BOARDS is JSON, as for tflite_models.py

The tests use gcc and clang without the macros that identify them. A byte before the model's data makes their alignment depend
on the declarations in the file.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

from tests.firmware.board import Board, codegens

DIGITS = "models/digits/digits.onnx"

# Depthwise convolutions with strides 2 and 1 and one output per channel, each after padding on all sides.
WINDOWS = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 20, 20, 12), int8], output_tensor_names=["y"]) {
  %1 = nn.pad(%x, -128i8, pad_width=[[0, 0], [1, 1], [1, 1], [0, 0]]);
  %2 = qnn.conv2d(%1, full(3i8, shape=[1, 3, 3, 12], dtype="int8"), 0.0235f64, -128, 0.01f64, 0, strides=[2, 2], padding=[0, 0, 0, 0], groups=12,
                  channels=12, kernel_size=[3, 3], data_layout="NHWC", kernel_layout="IHWO", out_dtype="int32");
  %3 = qnn.requantize(nn.bias_add(%2, full(7, shape=[12], dtype="int32"), axis=-1), 0.0002f64, 0, 0.01f64, -128, rounding="TFLITE",
                      out_dtype="int8");
  %4 = nn.pad(%3, -128i8, pad_width=[[0, 0], [1, 1], [1, 1], [0, 0]]);
  %5 = qnn.conv2d(%4, full(5i8, shape=[1, 3, 3, 12], dtype="int8"), 0.0235f64, -128, 0.01f64, 0, padding=[0, 0, 0, 0], groups=12,
                  channels=12, kernel_size=[3, 3], data_layout="NHWC", kernel_layout="IHWO", out_dtype="int32");
  %6 = qnn.requantize(nn.bias_add(%5, full(9, shape=[12], dtype="int32"), axis=-1), 0.0002f64, 0, 0.01f64, -128, rounding="TFLITE",
                      out_dtype="int8");
  %7 = qnn.conv2d(%6, full(3i8, shape=[1, 1, 12, 8], dtype="int8"), 0.01f64, -128, 0.01f64, 0, padding=[0, 0, 0, 0], channels=8,
                  kernel_size=[1, 1], data_layout="NHWC", kernel_layout="HWIO", out_dtype="int32");
  qnn.requantize(nn.bias_add(%7, full(2, shape=[8], dtype="int32"), axis=-1), 0.0001f64, 0, 0.01f64, -128, rounding="TFLITE",
                 out_dtype="int8")
}
"""
# Floating-point units have a square root instruction. A compiler uses it if errno need not be set, or in assembly.
ROOTS = """#[version = "0.0.5"]
def @main(%x: Tensor[(64,), float32], output_tensor_names=["y"]) { sqrt(abs(%x)) }
"""
MODELS = {"digits": DIGITS, "windows": None, "roots": None}
TENSORS = {"digits": ("image", "probabilities"), "windows": ("x", "y"), "roots": ("x", "y")}

PAD = "char pad_before[1];\n"
MAIN = """#include "m.h"
#include "runtime_crt/platform/bare_metal/semihosting.h"

extern char pad_before[1];
static %(element)s input[TVMGEN_M_INPUT_%(INPUT)s_SIZE_BYTES / sizeof(%(element)s)];
static %(element)s output[TVMGEN_M_OUTPUT_%(OUTPUT)s_SIZE_BYTES / sizeof(%(element)s)];

int main(void) {
  const struct tvmgen_m_inputs inputs = {.%(input)s = input};
  const struct tvmgen_m_outputs outputs = {.%(output)s = output};
  const unsigned char* bytes = (const unsigned char*)output;
  uint32_t hash = (uint32_t)pad_before[0];
  unsigned i, state = 1;
  for (i = 0; i < sizeof(input) / sizeof(input[0]); ++i) {
    state = state * 1103515245u + 12345u;
    input[i] = (%(element)s)((int)(state >> 16 & 255u) - 128);
  }
  if (tvmgen_m_run(&inputs, &outputs) != 0) return 1;
  for (i = 0; i < sizeof(output); ++i) hash = (hash ^ bytes[i]) * 16777619u;
  SemihostingWriteHex(hash);
  return 0;
}
"""

# A header of the C library for clang, which has none for Arm without an operating system.
STRING_H = "#include <stddef.h>\nvoid* memcpy(void* to, const void* from, size_t bytes);\n"

NOBODY = ["-U__GNUC__", "-U__clang__"]
# C99 has no syntax for alignment, so no assembly is used. KILN_ASSEMBLY declares that the compiler accepts assembly.
# The last is IAR's macro.
OTHERS = {
    "c99": ["-std=c99"] + NOBODY,
    "c11": ["-std=c11"] + NOBODY,
    "with_assembly": ["-std=c11", "-DKILN_ASSEMBLY=1"] + NOBODY,
    "iar": ["-std=c11", "-D__ICCARM__"] + NOBODY,
}
WITH_ASSEMBLY = ("with_assembly", "iar")
# Instructions that need features of the core. Helium's are also generated without assembly.
MNEMONICS = {"cortex_m4f": "sxtb16", "cortex_m55": "vadd.i32"}


class Compilers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.write("include/string.h", STRING_H)
        self.models = dict(MODELS, windows=self.write("windows.relay", WINDOWS), roots=self.write("roots.relay", ROOTS))

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def board(self, name):
        folder = os.path.join(self.folder, name)
        os.makedirs(folder, exist_ok=True)
        return Board(name, BOARDS[name], folder)

    def sources(self, board, model, optimize="speed", codegen="c"):
        folder = board.path("{}_{}_{}".format(model, optimize, codegen))
        way = "llvm" if codegen == "llvm" else "c"
        made, _ = board.model(self.models[model], way, options=(), optimize=optimize)
        os.rename(made, folder)
        return folder

    def output(self, board, model, folder, code, name):
        """Returns the program's output, a hash of the model's outputs."""
        input_name, output_name = TENSORS[model]
        names = {"input": input_name, "output": output_name, "INPUT": input_name.upper(), "OUTPUT": output_name.upper()}
        names["element"] = "int8_t" if model == "windows" else "float"
        objects = [
            board.compile(self.write("pad.c", PAD), name + "_pad"),
            code,
            board.compile(self.write("main.c", MAIN % names), name + "_main", ["-I" + folder]),
        ]
        image = board.link(objects, name)
        return board.run(image)

    def count(self, code, mnemonic):
        lines = subprocess.run(["arm-none-eabi-objdump", "-d", code], stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()
        return sum("\t" + mnemonic in line for line in lines)

    def test_compilers_that_are_not_known(self):
        for board_name, mnemonic in MNEMONICS.items():
            board = self.board(board_name)
            for model in MODELS:
                folder = self.sources(board, model)
                source = os.path.join(folder, "m.c")
                known = board.compile(source, model)
                expected = self.output(board, model, folder, known, model)
                if model == "windows":
                    self.assertGreater(self.count(known, mnemonic), 0)
                for other, flags in OTHERS.items():
                    for compiler in (board.gcc(), board.clang() + ["-isystem", os.path.join(self.folder, "include")]):
                        name = "_".join([model, other, os.path.basename(compiler[0])])
                        with self.subTest(board=board_name, name=name):
                            code = board.compile(source, name, flags, compiler)
                            self.assertEqual(self.output(board, model, folder, code, name), expected)
                            if model == "windows":
                                is_of_feature = board_name == "cortex_m55" or other in WITH_ASSEMBLY
                                self.assertEqual(self.count(code, mnemonic) > 0, is_of_feature)
                            if model == "roots":
                                self.assertEqual(self.count(code, "vsqrt.f32") > 0, other in WITH_ASSEMBLY)

    def test_code_for_size(self):
        """Windows with two strides, whose functions share code."""
        for board_name in MNEMONICS:
            board = self.board(board_name)
            folder = self.sources(board, "windows")
            expected = self.output(board, "windows", folder, board.compile(os.path.join(folder, "m.c"), "speed"), "speed")
            for codegen in codegens():
                with self.subTest(board=board_name, codegen=codegen):
                    folder = self.sources(board, "windows", "size", codegen)
                    code = os.path.join(folder, "m.o") if codegen == "llvm" else board.compile(os.path.join(folder, "m.c"), "size")
                    self.assertEqual(self.output(board, "windows", folder, code, "size_" + codegen), expected)
                    if board_name == "cortex_m4f":
                        # Both tiles use the loop in assembly, and no products of two numbers.
                        self.assertGreaterEqual(self.count(code, "smlatb"), 2)


if __name__ == "__main__":
    BOARDS = json.loads(sys.argv[1])
    unittest.main(argv=sys.argv[:1])
