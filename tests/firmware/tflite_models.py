# SPDX-License-Identifier: Apache-2.0
"""TFLite models on boards in QEMU. The outputs of integer models are equal to TFLite Micro's, to the byte. The resources of each model on
a board, with the instructions and estimated cycles of an inference, are equal to tflite_figures.txt.

    tflite_models BOARDS             tests; skipped if KILN_SHARED_DATA is not set to the folder with the models
    tflite_models --update BOARDS    writes tflite_figures.txt, and from it the table of docs/embedded.md

BOARDS is JSON: the emulator and the compiler flags of each board. The files of a model are in its row of tests/conformance/models.json.
Inputs and outputs are in the workspace, so the RAM figure covers everything but the stack.
"""

import functools
import json
import os
import string
import struct
import sys
import tempfile
import unittest

from tests.firmware import speed_table
from tests.firmware.board import DATA, Board, codegens, inspect
from tools.firmware import measure

# Models of MLPerf Tiny for every board, and the number of steps to run: an inference takes the emulator up to a second.
MLPERF_TINY = {"ad01_int8": 2, "kws_int8": 2, "ic_resnet_int8": 2, "vww_96_int8": 2}
# Boards whose code differs from that of other boards. The Cortex-M7 and M33 run the M4's code, and the others have no
# vectors.
ALL_MODELS_ON = ("cortex_m4f", "cortex_m55")
SMALL = {
    "hello_world_int8": 16,
    "micro_speech": 4,
    "mww_okay_nabu_v2": 4,  # keeps its state from step to step
    "tinymaix_cifar10_q": 2,
    "tinymaix_mnist_q": 4,
    "tinymaix_mnist_resnet_q": 2,
}
# Models that run once on zeros, because only their resources are tested.
SMALL_ON_ZEROS_ON = ALL_MODELS_ON + ("riscv32imac",)
SMALL_ON_ZEROS = (
    "audio_preprocessor_int8",  # keeps its state
    "dilated_conv",
    "lstm2_tmc",
    "mnist_lstm_int8",
    "planestrike",
    "simple_add",
    "tinymaix_mnist_f",
)
# Larger models, which also run on zeros.
LARGER_ON = ("cortex_m4f",)
LARGER = ("mcunet_detection", "mobilenet_v1_0.25_128_quant", "mobilenet_v2_035_96_embedder")
FIGURES = "tests/firmware/tflite_figures.txt"
HOW_TO_RENEW = "Renewed by `bazel run //tests/firmware:update_tflite_figures`."

BEGINNING = """#include <stdint.h>
#include <string.h>
#include "m.h"
#include "runtime_crt/platform/bare_metal/semihosting.h"
#include "runtime_crt/platform/bare_metal/stack_usage.h"

static uint8_t memory[TVMGEN_M_WORKSPACE_SIZE_BYTES] __attribute__((aligned(TVMGEN_M_WORKSPACE_WORKSPACE_POOL_ALIGNMENT_BYTES)));

__attribute__((noinline)) void BeginInference(void) { __asm__ volatile(""); }
__attribute__((noinline)) void EndInference(void) { __asm__ volatile(""); }

#ifdef TVMGEN_M_STATE_SIZE_BYTES
static uint8_t state[TVMGEN_M_STATE_SIZE_BYTES] __attribute__((aligned(TVMGEN_M_STATE_ALIGNMENT_BYTES)));
static const struct tvmgen_m_workspace_pools pools = {.workspace = memory, .state = state};
static void Reset(void) { tvmgen_m_initialize_state(state); }
#else
static const struct tvmgen_m_workspace_pools pools = {.workspace = memory};
static void Reset(void) {}
#endif

static int32_t Run(void) {
  int32_t error;
  BeginInference();
  error = tvmgen_m_run(&pools);
  EndInference();
  return error;
}
"""
ON_ZEROS = BEGINNING + """
int main(void) {
  Reset();
  return Run() != 0;
}
"""
COMPARING = string.Template(
    BEGINNING
    + """
static const unsigned char inputs[$steps][$input_bytes] = {$inputs};
static const unsigned char expected[$steps][$output_bytes] = {$outputs};

int main(void) {
  int step, wrong = 0;
  Reset();
  for (step = 0; step < $steps; ++step) {
    memcpy(tvmgen_m_map_inputs(&pools).$input, inputs[step], sizeof(inputs[step]));
    if (Run() != 0) return 2;
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
    """Returns the dtype and the elements, as bytes, of a NumPy file of one-byte integers."""
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<H", data[8:10])[0]
    header = data[10 : 10 + size].decode()
    for dtype in ("|i1", "|u1"):
        if dtype in header:
            return dtype, data[10 + size :]
    raise ValueError("{}: wanted an array of int8 or uint8, found {}".format(path, header))


class Case:
    """A model with inputs and expected outputs: `steps` samples of its golden set, starting with sample `first`."""

    def __init__(self, row, steps, first=0):
        self.model = os.path.join(DATA, row["model"])
        self.row = row
        self.steps = steps
        self.first = first

    def program(self, metadata):
        """Returns a C program that runs the steps."""
        tensors = metadata["functions"][0]["parameters"]
        assert len(tensors) == 2, "wanted a model with one input and one output"
        values = {"steps": self.steps}
        for what, tensor, paths in zip(("input", "output"), tensors, (self.row["inputs"], self.row["expected"])):
            size = tensor["size_bytes"]
            dtype, data = read_npy(os.path.join(DATA, paths[0]))
            data = data[self.first * size : (self.first + self.steps) * size]
            assert len(data) == self.steps * size, "too few steps"
            if dtype == "|u1":
                data = bytes((value + self.row.get("offset", 0)) % 256 for value in data)
            rows = [data[size * step : size * (step + 1)] for step in range(self.steps)]
            values[what + "s"] = ",\n".join("{" + ",".join(map(str, row)) + "}" for row in rows)
            values[what + "_bytes"] = size
            values[what] = tensor["tir_name_hint"]
        return COMPARING.substitute(values)


class Zeros:
    """A model that runs on zeros."""

    def __init__(self, path):
        self.model = os.path.join(DATA, path)

    def program(self, metadata):
        return ON_ZEROS


def image_of(case, board, way, optimize, options=()):
    """Builds the program for the board. Returns the image, the model's folder, and the model's object."""
    folder, model = board.model(case.model, way, options=("--workspace-io",) + tuple(options), optimize=optimize)
    with open(os.path.join(folder, "m.metadata.json"), encoding="utf-8") as file:
        program = case.program(json.load(file))
    source = board.path("main.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(program)
    main = board.compile(source, "main", ["-I" + folder])
    return board.link([main, model], "image"), folder, model


def read_cases(steps):
    rows = read_rows()
    return {name: Case(rows[name], count) for name, count in steps.items()}


def read_rows():
    with open("tests/conformance/models.json", encoding="utf-8") as file:
        return {row["name"]: row for row in json.load(file)}


def variants(board_name):
    """Yields for each image of a board: the name in the table, the case, the way, and the optimization."""
    has_all = board_name in ALL_MODELS_ON
    for name, case in read_cases(dict(MLPERF_TINY, **(SMALL if has_all else {}))).items():
        for way in codegens() + ["clang"]:
            yield name + "_" + way, case, way, "speed"
            if has_all and name in MLPERF_TINY and way != "clang":
                yield name + "_" + way + "_size", case, way, "size"
    on_zeros = {name: read_rows()[name]["model"] for name in SMALL_ON_ZEROS if board_name in SMALL_ON_ZEROS_ON}
    if board_name in LARGER_ON:
        on_zeros.update({name: os.path.join("tflite_models", name, "model.tflite") for name in LARGER})
    for name, path in on_zeros.items():
        for way in codegens() + ["clang"]:
            yield name + "_" + way, Zeros(path), way, "speed"


def images(boards):
    """Yields for each image: the board, the name in the table, and a function that returns the result of image_of."""
    for board_name, properties in boards.items():
        with tempfile.TemporaryDirectory() as folder:
            board = Board(board_name, properties, folder)
            for name, case, way, optimize in variants(board_name):
                yield board, name, way, functools.partial(image_of, case, board, way, optimize)


def figures_of(board, way, made):
    """Returns the resources of a model on a board: the figures of tools/firmware/measure.py except the measured stack."""
    image, folder, model = made
    counted = board.count(image)
    usage = [] if way == "llvm" else ["--stack-usage", model.replace(".o", ".su")]
    sizes = inspect(model, *usage)
    with open(os.path.join(folder, "m.metadata.json"), encoding="utf-8") as file:
        metadata = json.load(file)
    workspace = metadata["functions"][0]["workspace_size_bytes"]
    state = sum(pool["size_bytes"] for pool in metadata["pools"] if pool["kind"] == "STATE")
    figures = {"instructions": max(counted["instructions"])}
    if "cycles" in counted:
        figures["cycles"] = max(counted["cycles"])
    figures.update(
        flash_bytes=sizes["flash_bytes"],
        ram_bytes=sizes["ram_bytes"] + workspace + state,
        workspace_bytes=workspace,
        stack_bytes=sizes["stack_bytes"],
    )
    return figures


@unittest.skipUnless(DATA, "KILN_SHARED_DATA does not name the folder with the models")
class TfliteModels(unittest.TestCase):
    def test_outputs_and_figures(self):
        golden = measure.read_table(FIGURES)
        for board, name, way, make in images(BOARDS):
            with self.subTest(name, board=board.name):
                found = {(board.name, name): figures_of(board, way, make())}
                self.assertEqual(list(measure.problems(found, golden)), [], HOW_TO_RENEW)


def update_figures():
    found = {(board.name, name): figures_of(board, way, make()) for board, name, way, make in images(BOARDS)}
    root = os.environ["BUILD_WORKSPACE_DIRECTORY"]
    with open(os.path.join(root, FIGURES), "w", encoding="utf-8") as file:
        file.write(measure.table_text(found, "# " + HOW_TO_RENEW + "\n"))
    speed_table.update(os.path.join(root, speed_table.PAGE), found)


if __name__ == "__main__":
    BOARDS = json.loads(sys.argv[-1])
    if sys.argv[1] == "--update":
        update_figures()
    else:
        unittest.main(argv=sys.argv[:1], verbosity=2)  # prints the reason for skipping
