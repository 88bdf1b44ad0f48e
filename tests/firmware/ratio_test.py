# SPDX-License-Identifier: Apache-2.0
"""No code generator and compiler makes more than 1.3 times the instructions of the best one of a model, on any board of the figures.

    ratio_test TABLE…

What does is in EXCEPTIONS, and what no longer does must leave it.
"""

import sys
import unittest

from tools.firmware import measure

LIMIT = 1.3
# Why, and what: board, model, how it was compiled.
EXCEPTIONS = {
    "square roots and float16 are arithmetic on integers in generated C, also where the machine has instructions": [
        ("cortex_m33f", "edges_test_crt_c", "c"),
        ("cortex_m4f", "edges_test_crt_c", "c"),
        ("cortex_m55", "edges_test_crt_c", "c"),
        ("cortex_m7f", "edges_test_crt_c", "c"),
    ],
    "loops of a few steps, which clang alone writes out": [
        ("cortex_m4f", "audio_preprocessor_int8", "llvm"),
        ("cortex_m4f", "dilated_conv", "c"),
        ("cortex_m4f", "dilated_conv", "llvm"),
        ("cortex_m4f", "lstm2_tmc", "c"),
        ("cortex_m4f", "lstm2_tmc", "llvm"),
        ("cortex_m4f", "mobilenet_v2_035_96_embedder", "llvm"),
        ("cortex_m4f", "planestrike", "llvm"),
        ("cortex_m4f", "tinymaix_mnist_f", "c"),
        ("cortex_m4f", "tinymaix_mnist_f", "llvm"),
        ("cortex_m55", "dilated_conv", "c"),
        ("cortex_m55", "lstm2_tmc", "c"),
        ("cortex_m55", "tinymaix_mnist_f", "c"),
        ("cortex_m55", "tinymaix_mnist_f", "llvm"),
    ],
    "limits of values that gcc compares with": [
        ("cortex_m4f", "hello_world_int8", "c"),
    ],
    "copies of rows go byte by byte, or by vectors of four bytes": [
        ("cortex_m4f", "mww_okay_nabu_v2", "llvm"),
        ("cortex_m55", "mww_okay_nabu_v2", "clang"),
        ("cortex_m55", "mww_okay_nabu_v2", "llvm"),
    ],
    "loops of four elements, which clang alone joins and writes out, and limits of values that gcc compares with": [
        ("cortex_m4f", "simple_add", "c"),
        ("cortex_m4f", "simple_add", "llvm"),
        ("cortex_m55", "simple_add", "c"),
        ("riscv32imac", "simple_add", "c"),
        ("riscv32imac", "simple_add", "llvm"),
    ],
    "vectors of two elements, which Helium has not, and loops of a few steps": [
        ("cortex_m55", "audio_preprocessor_int8", "llvm"),
    ],
    "gcc's -Os, which code for size is compiled with: the cause is not known": [
        ("cortex_m55", "kws_int8_size", "c"),
        ("cortex_m55", "vww_96_int8_size", "c"),
    ],
    "rows at borders have no vectors in generated C": [
        ("cortex_m55", "micro_speech", "c"),
    ],
    "elements that are looked up in tables have no vectors in generated C": [
        ("cortex_m55", "mnist_lstm_int8", "c"),
        ("cortex_m55", "mnist_lstm_int8", "clang"),
    ],
}
# Behind the model in the name of an image: C by gcc, C by clang, and LLVM.
WAYS = ("_c", "_clang", "_llvm")
FOR_SIZE = "_size"


def split(image):
    """The model, with what it is optimized for, and how it was compiled."""
    name = image[: -len(FOR_SIZE)] if image.endswith(FOR_SIZE) else image
    way = next(way for way in WAYS if name.endswith(way))
    return name[: -len(way)] + image[len(name) :], way[1:]


def too_many(figures):
    """Board, model and way, with the number of times, of what executes too many instructions; `figures` as measure.read_table gives."""
    rows = {}
    for (board, image), row in figures.items():
        model, way = split(image)
        rows.setdefault((board, model), {})[way] = row["instructions"]
    found = {}
    for (board, model), ways in rows.items():
        best = min(ways.values())
        found.update({(board, model, way): count / best for way, count in ways.items() if count > LIMIT * best})
    return found


class Ratio(unittest.TestCase):
    def test_what_is_too_many(self):
        counts = {"m_c": 130, "m_clang": 131, "m_llvm": 100, "m_c_size": 131, "m_llvm_size": 131}
        found = too_many({("board", image): {"instructions": count} for image, count in counts.items()})
        self.assertEqual(found, {("board", "m", "clang"): 1.31})

    def test_figures(self):
        found = {}
        for path in TABLES:
            found.update(too_many(measure.read_table(path)))
        exceptions = [key for keys in EXCEPTIONS.values() for key in keys]
        wrong = {key: ratio for key, ratio in found.items() if key not in exceptions}
        self.assertEqual(wrong, {}, "these make more than {} times the instructions of the best".format(LIMIT))
        self.assertEqual([key for key in exceptions if key not in found], [], "these are no exceptions")


if __name__ == "__main__":
    TABLES = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
