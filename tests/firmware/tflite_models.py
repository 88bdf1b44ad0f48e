# SPDX-License-Identifier: Apache-2.0
"""Integer TFLite models on boards in QEMU, against the outputs of TFLite Micro, to the byte, and against tflite_figures.txt: what each
takes of a board, and the instructions of an inference.

    tflite_models BOARDS             tests; skips where KILN_SHARED_DATA does not name the folder with the models
    tflite_models --update BOARDS    writes tflite_figures.txt

BOARDS is JSON: how each is started and compiled for. The files of a model are those of its row in tests/conformance/models.json.
Inputs and outputs lie in the workspace, so that the RAM is all that the model takes beside the stack.
"""

import json
import os
import string
import struct
import subprocess
import sys
import tempfile
import unittest

from tools.firmware import measure
from tools.firmware.run_images import emulator_command

KILN = os.path.abspath("tools/kiln/kiln")
BARE_METAL = "runtime_crt/platform/bare_metal/"
DATA = os.environ.get("KILN_SHARED_DATA", "")
# Models and how many of their steps run: an inference of the larger ones takes the emulator a second or more.
STEPS = {
    "ad01_int8": 2,
    "kws_int8": 2,
    "ic_resnet_int8": 2,
    "vww_96_int8": 2,
    "hello_world_int8": 16,
    "micro_speech": 4,
    "tinymaix_cifar10_q": 2,
    "tinymaix_mnist_q": 4,
    "tinymaix_mnist_resnet_q": 2,
}
# Those that are compiled with --optimize size, too; the names of these images end in _size.
FOR_SIZE_TOO = ("ad01_int8", "kws_int8", "ic_resnet_int8", "vww_96_int8")
C_FLAGS = ["-std=c99", "-ffp-contract=off", "-fno-math-errno", "-ffunction-sections", "-fdata-sections", "-I."]
RUN_SECONDS = 300
FIGURES = "tests/firmware/tflite_figures.txt"
HOW_TO_RENEW = "Renewed by `bazel run //tests/firmware:update_tflite_figures`."

PROGRAM = string.Template(
    """#include <stdint.h>
#include <string.h>
#include "m.h"
#include "runtime_crt/platform/bare_metal/semihosting.h"
#include "runtime_crt/platform/bare_metal/stack_usage.h"

static const unsigned char inputs[$steps][$input_bytes] = {$inputs};
static const unsigned char expected[$steps][$output_bytes] = {$outputs};
static uint8_t memory[TVMGEN_M_WORKSPACE_SIZE_BYTES] __attribute__((aligned(TVMGEN_M_WORKSPACE_WORKSPACE_POOL_ALIGNMENT_BYTES)));

__attribute__((noinline)) void BeginInference(void) { __asm__ volatile(""); }
__attribute__((noinline)) void EndInference(void) { __asm__ volatile(""); }

int main(void) {
  const struct tvmgen_m_workspace_pools pools = {.workspace = memory};
  int step, wrong = 0;
  for (step = 0; step < $steps; ++step) {
    int32_t error;
    memcpy(tvmgen_m_map_inputs(&pools).$input, inputs[step], sizeof(inputs[step]));
    BeginInference();
    error = tvmgen_m_run(&pools);
    EndInference();
    if (error != 0) return 2;
    if (memcmp(tvmgen_m_map_outputs(&pools).$output, expected[step], sizeof(expected[step])) == 0) continue;
    SemihostingWrite("another output in step ");
    SemihostingWriteHex((uint32_t)step);
    SemihostingWrite("\\n");
    wrong = 1;
  }
  return wrong;
}
"""
)


def read_npy(path):
    """The dtype and the elements, as bytes, of a NumPy file of one-byte integers."""
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<H", data[8:10])[0]
    header = data[10 : 10 + size].decode()
    for dtype in ("|i1", "|u1"):
        if dtype in header:
            return dtype, data[10 + size :]
    raise ValueError("{}: wanted an array of int8 or uint8, found {}".format(path, header))


class Board:
    """A board with the objects that every program on it has."""

    def __init__(self, name, properties, folder):
        self.name = name
        self.properties = properties
        self.folder = folder
        sources = ["semihosting", "stack_usage", "start", "start_cortex_m"]
        self.objects = [self.compile(BARE_METAL + source + ".c", source) for source in sources]

    def path(self, name):
        return os.path.join(self.folder, self.name + "_" + name)

    def compile(self, source, name, flags=()):
        result = self.path(name + ".o")
        command = [self.properties["compiler"] + "-gcc"] + self.properties["flags"] + ["-O2"] + C_FLAGS + list(flags)
        subprocess.run(command + ["-c", source, "-o", result], check=True)
        return result

    def model(self, path, codegen, name="m", options=("--workspace-io",), optimize="speed"):
        """Compiles a model; its folder, and its object."""
        folder = self.path(name + "_" + codegen)
        arguments = ["--module-name", name, "--runtime", "crt", "--interface", "c", "--codegen", codegen] + list(options)
        arguments += ["--optimize", optimize]
        subprocess.run([KILN, "compile", path, "-o", folder, "--target", self.properties["target"]] + arguments, check=True)
        if codegen == "llvm":
            return folder, os.path.join(folder, name + ".o")
        flags = ["-fstack-usage"] + (["-Os"] if optimize == "size" else [])
        return folder, self.compile(os.path.join(folder, name + ".c"), name, flags)

    def link(self, objects, name):
        result = self.path(name + ".elf")
        numbers = {
            "flash_start": self.properties["flash_start"],
            "flash_bytes": self.properties["max_flash_bytes"],
            "ram_start": self.properties["ram_start"],
            "ram_bytes": self.properties["max_ram_bytes"],
            "stack_bytes": 8192,
        }
        flags = ["-nostartfiles", "-Wl,--gc-sections", "-Wl,-z,noexecstack", "-T", BARE_METAL + "image.ld"]
        flags += ["-Wl,--defsym={}={}".format(*item) for item in numbers.items()]
        command = [self.properties["compiler"] + "-gcc"] + self.properties["flags"] + objects + self.objects
        subprocess.run(command + flags + ["-o", result], check=True)
        return result

    def emulator(self):
        return emulator_command(self.properties)


class Case:
    """A model with inputs and what must come out."""

    def __init__(self, row, steps):
        self.model = os.path.join(DATA, row["model"])
        self.row = row
        self.steps = steps

    def program(self, metadata):
        """The C program that runs the steps."""
        tensors = metadata["functions"][0]["parameters"]
        assert len(tensors) == 2, "wanted a model with one input and one output"
        values = {"steps": self.steps}
        for what, tensor, paths in zip(("input", "output"), tensors, (self.row["inputs"], self.row["expected"])):
            size = tensor["size_bytes"]
            dtype, data = read_npy(os.path.join(DATA, paths[0]))
            data = data[: self.steps * size]
            assert len(data) == self.steps * size, "too few steps"
            if dtype == "|u1":
                data = bytes((value + self.row.get("offset", 0)) % 256 for value in data)
            rows = [data[size * step : size * (step + 1)] for step in range(self.steps)]
            values[what + "s"] = ",\n".join("{" + ",".join(map(str, row)) + "}" for row in rows)
            values[what + "_bytes"] = size
            values[what] = tensor["tir_name_hint"]
        return PROGRAM.substitute(values)

    def image(self, board, codegen, optimize):
        """The program for the board: its image, and the model's folder and object."""
        folder, model = board.model(self.model, codegen, optimize=optimize)
        with open(os.path.join(folder, "m.metadata.json"), encoding="utf-8") as file:
            program = self.program(json.load(file))
        source = board.path("main.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(program)
        main = board.compile(source, "main", ["-I" + folder])
        return board.link([main, model], "image"), folder, model


def read_cases():
    with open("tests/conformance/models.json", encoding="utf-8") as file:
        rows = {row["name"]: row for row in json.load(file)}
    return {name: Case(rows[name], steps) for name, steps in STEPS.items()}


def codegens():
    words = subprocess.run([KILN, "--version"], stdout=subprocess.PIPE, check=True).stdout.decode()
    return [codegen for codegen in ("c", "llvm") if codegen in words.split("\n")[1].split(": ")[1].split(", ")]


def images(boards):
    """Board, code generator, name in the table, and what Case.image gives, of each image."""
    for name, properties in boards.items():
        with tempfile.TemporaryDirectory() as folder:
            board = Board(name, properties, folder)
            for codegen in codegens():
                for case_name, case in read_cases().items():
                    name = case_name + "_" + codegen
                    yield board, codegen, name, case.image(board, codegen, "speed")
                    if case_name in FOR_SIZE_TOO:
                        yield board, codegen, name + "_size", case.image(board, codegen, "size")


def inspect(*arguments):
    return json.loads(subprocess.run([KILN, "inspect", "--json"] + list(arguments), stdout=subprocess.PIPE, check=True).stdout)


def figures_of(board, codegen, made):
    """What a model takes of a board: the figures of tools/firmware/measure.py but for the stack that is seen."""
    image, folder, model = made
    counted = inspect(image, "--emulator", " ".join(board.emulator()), "--timeout", str(RUN_SECONDS))
    usage = ["--stack-usage", model.replace(".o", ".su")] if codegen == "c" else []
    sizes = inspect(model, *usage)
    with open(os.path.join(folder, "m.metadata.json"), encoding="utf-8") as file:
        workspace = json.load(file)["functions"][0]["workspace_size_bytes"]
    return {
        "instructions": max(counted["instructions"]),
        "flash_bytes": sizes["flash_bytes"],
        "ram_bytes": sizes["ram_bytes"] + workspace,
        "workspace_bytes": workspace,
        "stack_bytes": sizes["stack_bytes"],
    }


@unittest.skipUnless(DATA, "KILN_SHARED_DATA does not name the folder with the models")
class TfliteModels(unittest.TestCase):
    def test_outputs_and_figures(self):
        golden = measure.read_table(FIGURES)
        for board, codegen, name, made in images(BOARDS):
            with self.subTest(name, board=board.name, codegen=codegen):
                command = board.emulator() + ["-kernel", made[0]]
                result = subprocess.run(
                    command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=RUN_SECONDS
                )
                self.assertEqual(result.returncode, 0, result.stdout.decode(errors="replace"))
                key = (board.name, name)
                self.assertEqual(list(measure.problems({key: figures_of(board, codegen, made)}, golden)), [], HOW_TO_RENEW)


def update_figures():
    found = {(board.name, name): figures_of(board, codegen, made) for board, codegen, name, made in images(BOARDS)}
    path = os.path.join(os.environ["BUILD_WORKSPACE_DIRECTORY"], FIGURES)
    with open(path, "w", encoding="utf-8") as file:
        file.write(measure.table_text(found, "# " + HOW_TO_RENEW + "\n"))


if __name__ == "__main__":
    BOARDS = json.loads(sys.argv[-1])
    if sys.argv[1] == "--update":
        update_figures()
    else:
        unittest.main(argv=sys.argv[:1], verbosity=2)  # says why it skips
