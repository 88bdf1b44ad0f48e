# SPDX-License-Identifier: Apache-2.0
"""Limits that the figures do not exceed, on any board, by gcc, clang or LLVM.

    limits_test TABLE…

budgets_test compiles models to check the size of code, and the memory of ad.
"""

import sys
import unittest

from tests.firmware import speed_table
from tools.firmware import measure

# Allowed ratio of instructions to the best of the three compilers.
RATIO = 1.3
# Limits for every model.
STACK_BYTES = {"cortex_m4f": 512, "cortex_m7f": 512, "cortex_m33f": 512, "cortex_m55": 1024}
# Limits including inputs, outputs and the stack, on a Cortex-M4F.
RAM_BYTES = {"ic_resnet_int8": 24000, "vww_96_int8": 42500, "kws_int8": 12000}
# Limits for the best of the three compilers, in instructions per multiply-accumulate, by model of MLPerf Tiny.
_OF_DSP = {"ic_resnet_int8": 1.30, "vww_96_int8": 1.60, "kws_int8": 1.55, "ad01_int8": 1.35}
PER_MAC = {
    "cortex_m4f": _OF_DSP,
    "cortex_m7f": _OF_DSP,
    "cortex_m33f": _OF_DSP,
    "cortex_m55": {"ic_resnet_int8": 0.25, "vww_96_int8": 0.50, "kws_int8": 0.45, "ad01_int8": 0.27},
}
# Allowed ratio of instructions with --optimize size to those for speed, with the same compiler.
SIZE_RATIO = 1.35
# Suffixes after the model in the name of an image: C by gcc, C by clang, and LLVM.
WAYS = ("_c", "_clang", "_llvm")
FOR_SIZE = "_size"


def split(image):
    """Returns the model with its optimization, and the way in which it was compiled."""
    name = image[: -len(FOR_SIZE)] if image.endswith(FOR_SIZE) else image
    way = next(way for way in WAYS if name.endswith(way))
    return name[: -len(way)] + image[len(name) :], way[1:]


def instructions(figures):
    """Returns instructions by (board, model), then by way. `figures` come from measure.read_table."""
    rows = {}
    for (board, image), row in figures.items():
        model, way = split(image)
        rows.setdefault((board, model), {})[way] = row["instructions"]
    return rows


def too_many(figures):
    """Returns code with too many instructions: the ratio to the best compiler's, by (board, model, way)."""
    found = {}
    for (board, model), ways in instructions(figures).items():
        best = min(ways.values())
        found.update({(board, model, way): count / best for way, count in ways.items() if count > RATIO * best})
    return found


class Limits(unittest.TestCase):
    def setUp(self):
        self.figures = {key: row for path in TABLES for key, row in measure.read_table(path).items()}

    def test_what_is_too_many(self):
        counts = {"m_c": 130, "m_clang": 131, "m_llvm": 100, "m_c_size": 131, "m_llvm_size": 131}
        found = too_many({("board", image): {"instructions": count} for image, count in counts.items()})
        self.assertEqual(found, {("board", "m", "clang"): 1.31})

    def test_compilers_differ_little(self):
        self.assertGreater(len(self.figures), 150)
        self.assertEqual(too_many(self.figures), {}, "these make more than {} times the instructions of the best".format(RATIO))

    def test_stack(self):
        found = {key: row["stack_bytes"] for key, row in self.figures.items() if row["stack_bytes"] > STACK_BYTES.get(key[0], float("inf"))}
        self.assertEqual(found, {})

    def test_ram(self):
        for model, limit in RAM_BYTES.items():
            for way in WAYS:
                row = self.figures["cortex_m4f", model + way]
                self.assertLessEqual(row["ram_bytes"] + row["stack_bytes"], limit, (model, way))

    def test_instructions_per_multiply_accumulate(self):
        macs = {image: count for image, _, count, _ in speed_table.MODELS}
        best = {key: min(ways.values()) for key, ways in instructions(self.figures).items()}
        for board, models in PER_MAC.items():
            for model, limit in models.items():
                self.assertLessEqual(best[board, model] / macs[model], limit, (board, model))

    def test_instructions_for_size(self):
        rows = instructions(self.figures)
        small = [model for board, model in rows if board == "cortex_m4f" and model.endswith(FOR_SIZE)]
        self.assertEqual(len(small), len(speed_table.MODELS))
        for model in small:
            fast = rows["cortex_m4f", model[: -len(FOR_SIZE)]]
            for way, count in rows["cortex_m4f", model].items():
                self.assertLessEqual(count / fast[way], SIZE_RATIO, (model, way))


if __name__ == "__main__":
    TABLES = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
