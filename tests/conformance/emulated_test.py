# SPDX-License-Identifier: Apache-2.0
"""Rows of models.json on AArch64 and RISC-V, emulated by QEMU. Integers must be equal, floats within the row's
tolerance.

Clang and LLD build the programs, which need no C library. Cases are skipped if one of these or the folder
KILN_SHARED_DATA is missing.
"""

import json
import os
import re
import shutil
import subprocess
import unittest

from tests.cli.cli_case import CODEGENS, CliCase
from tests.conformance.array_file import ArrayFile

DATA = os.environ.get("KILN_SHARED_DATA", "")
SOURCES = os.path.abspath("tests/conformance")
INCLUDE = os.path.abspath("runtime_crt/include")
CLANG = shutil.which("clang-19")
LLD = shutil.which("ld.lld-19")

# Number of steps per row, and the rows: small models of floats and of integers, with convolutions, products and
# recurrences. Code by LLVM runs on both machines for each row, C on one of them.
STEPS = 2
ROWS = [
    "hello_world_float",
    "hello_world_int8",
    "tinymaix_mnist_f",
    "tinymaix_mnist_q",
    "lstm2_tmc",
    "kws_int8",
    "dilated_conv",
    "tinymaix_mnist_resnet_q",
    "planestrike",
    "micro_speech",
]
# By machine: the target, LLVM's triple for Clang, Clang's options, and the emulator with its options.
MACHINES = {
    "aarch64": ("aarch64", "aarch64-linux-gnu", [], ["qemu-aarch64"]),
    "riscv64gc": ("riscv64gc", "riscv64-linux-gnu", ["-march=rv64gc", "-mabi=lp64d"], ["qemu-riscv64"]),
    "riscv64gcv": (
        "riscv64gcv",
        "riscv64-linux-gnu",
        ["-march=rv64gcv", "-mabi=lp64d"],
        ["qemu-riscv64", "-cpu", "rv64,v=true,vlen=128"],
    ),
}
# Instructions that the code of int8 rows must contain: the instruction, the machine, additional CPU features, and the
# rows. The emulators support them.
INT8_ROWS = ["kws_int8", "tinymaix_mnist_resnet_q", "micro_speech"]
INSTRUCTIONS = [
    ("smlal", "aarch64", "", INT8_ROWS),
    ("sdot", "aarch64", "+dotprod", INT8_ROWS),
    ("smmla", "aarch64", "+dotprod,+i8mm", ["kws_int8"]),
    ("vwmacc", "riscv64gcv", "", INT8_ROWS),
]


class EmulatedTest(CliCase):
    def skip_without(self, machine, codegen):
        if not DATA:
            self.skipTest("KILN_SHARED_DATA does not name the folder with the models")
        emulator = MACHINES[machine][3][0]
        missing = [name for name, path in ((emulator, shutil.which(emulator)), ("clang-19", CLANG), ("ld.lld-19", LLD)) if not path]
        if missing or codegen not in CODEGENS:
            self.skipTest("no " + ", ".join(missing or [codegen]))

    def build(self, row, machine, codegen, features=""):
        """Builds the program of a model. Returns the sizes of its inputs and outputs."""
        target, triple, options, _ = MACHINES[machine]
        target += " -mattr=" + features if features else ""
        if features and codegen == "c":
            options = options + ["-march=armv8.2-a" + features.replace(",", "")]
        arguments = ["--module-name", "m", "--runtime", "crt", "--interface", "c", "--codegen", codegen, "--target", target]
        self.succeeds("compile", os.path.join(DATA, row["model"]), "-o", self.out, *arguments)
        program = self.path("program")
        command = [CLANG, "--target=" + triple, "-O2", "-ffreestanding"]
        model = "m.o" if codegen == "llvm" else "m.c"
        files = [os.path.join(SOURCES, "emulated_program.c"), os.path.join(self.out, "m_model.c"), os.path.join(self.out, model)]
        command += options + ["-I" + INCLUDE, "-I" + self.out]
        link = ["-nostdlib", "-static", "-fuse-ld=" + LLD, "-DMODEL=m"]
        subprocess.run(command + link + files + ["-o", program], check=True)
        if codegen == "c":
            # Without the C compiler's vectorization, which could produce the same instruction.
            own_vectors = ["-fno-vectorize", "-fno-slp-vectorize"]
            subprocess.run(command + own_vectors + ["-S", files[-1], "-o", self.path("m.s")], check=True)
        with open(os.path.join(self.out, "m.h"), encoding="utf-8") as file:
            header = file.read()
        macro = r"^#define TVMGEN_M_{}_\w+_SIZE_BYTES (\d+)$"
        sizes = [[int(size) for size in re.findall(macro.format(kind), header, re.M)] for kind in ("INPUT", "OUTPUT")]
        shutil.rmtree(self.out)
        return program, sizes

    def check(self, row, machine, codegen, features=""):
        program, (input_bytes, output_bytes) = self.build(row, machine, codegen, features)
        inputs = [ArrayFile(os.path.join(DATA, path)) for path in row["inputs"]]
        expected = [ArrayFile(os.path.join(DATA, path)) for path in row["expected"]]
        self.assertEqual((len(inputs), len(expected)), (len(input_bytes), len(output_bytes)))
        self.assertFalse({"offset", "scale", "state"} & row.keys(), "inputs are given as their files have them")
        steps = min(STEPS, len(inputs[0].bytes) // input_bytes[0])
        data = b"".join(array.step(step, size) for step in range(steps) for array, size in zip(inputs, input_bytes))
        result = subprocess.run(MACHINES[machine][3] + [program], input=data, stdout=subprocess.PIPE)
        self.assertEqual(result.returncode, 0)
        at = 0
        for step in range(steps):
            for array, size in zip(expected, output_bytes):
                self.compare(array.values(result.stdout[at : at + size]), array.values(array.step(step, size)), row)
                at += size
        self.assertEqual((steps > 0, len(result.stdout)), (True, at))

    def check_instruction(self, row, instruction, machine, features, codegen):
        if codegen == "c":
            self.check(row, machine, "c", features)
            with open(self.path("m.s"), encoding="utf-8") as file:
                self.assertRegex(file.read(), r"\b{}\b".format(instruction))
            return
        target = MACHINES[machine][0] + (" -mattr=" + features if features else "")
        assembly = self.succeeds("compile", os.path.join(DATA, row["model"]), "--emit=asm", "--runtime", "crt", "--target", target)
        self.assertRegex(assembly, r"\b{}\b".format(instruction))
        if features:  # Without features, `check` has already run it.
            self.check(row, machine, "llvm", features)

    def compare(self, found, wanted, row):
        if "relative" not in row:
            self.assertEqual(found, wanted)
            return
        largest = max(abs(value) for value in wanted)
        for value, other in zip(found, wanted):
            self.assertLessEqual(abs(value - other), max(row["relative"] * largest, row.get("absolute", 0)))


def add_cases():
    with open(os.path.join(SOURCES, "models.json"), encoding="utf-8") as file:
        rows = {row["name"]: row for row in json.load(file)}
    for number, machine in enumerate(MACHINES):
        for codegen in ("llvm", "c"):
            for name in ROWS if codegen == "llvm" else ROWS[number :: len(MACHINES)]:

                def case(self, row=rows[name], machine=machine, codegen=codegen):
                    self.skip_without(machine, codegen)
                    self.check(row, machine, codegen)

                setattr(EmulatedTest, "test_{}_{}_{}".format(name, machine, codegen), case)

    for instruction, machine, features, names in INSTRUCTIONS:
        for name in names:
            for codegen in ("llvm", "c"):

                def case(self, row=rows[name], what=(instruction, machine, features, codegen)):
                    self.skip_without(what[1], what[3])
                    self.check_instruction(row, *what)

                setattr(EmulatedTest, "test_{}_{}_{}".format(name, instruction, codegen), case)


add_cases()

if __name__ == "__main__":
    unittest.main()
