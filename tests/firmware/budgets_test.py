# SPDX-License-Identifier: Apache-2.0
"""Limits for the code of the models of MLPerf Tiny, tighter than the margin of tflite_figures.txt.

    budgets_test BOARDS    skipped if KILN_SHARED_DATA is not set to the folder with the models; BOARDS is JSON, as for tflite_models.py
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

from tests.firmware import tflite_models
from tests.firmware.board import DATA, Board, codegens, inspect

SMALL_BOARD = "cortex_m4f"
# Limits for code without constants, compiled for speed by gcc, clang and LLVM.
KIB = 1024
CODE_BYTES = {
    "cortex_m4f": {"ad01_int8": 4 * KIB, "ic_resnet_int8": 20 * KIB, "kws_int8": 10 * KIB, "vww_96_int8": 20 * KIB},
    "cortex_m55": {"ad01_int8": 6 * KIB, "ic_resnet_int8": 24 * KIB, "kws_int8": 14 * KIB, "vww_96_int8": 28 * KIB},
}
# With --optimize size, on SMALL_BOARD: code by gcc and LLVM, and stack by these and clang.
SMALL_CODE_BYTES = 8 * KIB
STACK_BYTES = 512
# ad with --optimize balanced by LLVM: workspace with inputs and outputs, plus stack.
BALANCED_AD_BYTES = 864
# Allowed ratio of instructions for using less memory.
MEMORY_RATIO = 1.05


def model_path(name):
    return os.path.join(DATA, tflite_models.read_rows()[name]["model"])


def code_bytes(model):
    """Returns the size of all code sections of an object."""
    lines = subprocess.run(["arm-none-eabi-size", "-A", model], stdout=subprocess.PIPE, check=True, universal_newlines=True).stdout.splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(".text"))


def stack_bytes(way, model):
    usage = [] if way == "llvm" else ["--stack-usage", model.replace(".o", ".su")]
    return inspect(model, *usage)["stack_bytes"]


@unittest.skipUnless(DATA, "KILN_SHARED_DATA does not name the folder with the models")
class Budgets(unittest.TestCase):
    def board(self, name):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return Board(name, BOARDS[name], folder.name)

    def figures(self, board, name, way, optimize, options=()):
        case = tflite_models.read_cases({name: 1})[name]
        return tflite_models.figures_of(board, way, tflite_models.image_of(case, board, way, optimize, options))

    def test_code_for_speed(self):
        for board_name, models in CODE_BYTES.items():
            board = self.board(board_name)
            for name, limit in models.items():
                for way in codegens() + ["clang"]:
                    with self.subTest(name, board=board_name, way=way):
                        _, model = board.model(model_path(name), way)
                        self.assertLessEqual(code_bytes(model), limit)

    def test_code_and_stack_for_size(self):
        board = self.board(SMALL_BOARD)
        for name in CODE_BYTES[SMALL_BOARD]:
            for way in codegens() + ["clang"]:
                with self.subTest(name, way=way):
                    _, model = board.model(model_path(name), way, optimize="size")
                    self.assertLessEqual(stack_bytes(way, model), STACK_BYTES)
                    if way != "clang":
                        self.assertLessEqual(code_bytes(model), SMALL_CODE_BYTES)

    @unittest.skipUnless("llvm" in codegens(), "the compiler is built without LLVM")
    def test_balanced_memory_of_ad(self):
        board = self.board(SMALL_BOARD)
        fast, small = (self.figures(board, "ad01_int8", "llvm", optimize) for optimize in ("speed", "balanced"))
        self.assertLessEqual(small["workspace_bytes"] + small["stack_bytes"], BALANCED_AD_BYTES)
        self.assertLessEqual(small["instructions"], MEMORY_RATIO * fast["instructions"])

    def test_strips_and_overlap_cost_few_instructions(self):
        board = self.board(SMALL_BOARD)
        for name in CODE_BYTES[SMALL_BOARD]:
            with self.subTest(name):
                small, whole = (self.figures(board, name, "c", "speed", options) for options in ([], ["--passes=-split", "--no-overlap"]))
                self.assertLessEqual(small["instructions"], MEMORY_RATIO * whole["instructions"])


if __name__ == "__main__":
    BOARDS = json.loads(sys.argv[-1])
    unittest.main(argv=sys.argv[:1], verbosity=2)  # prints the reason for skipping
