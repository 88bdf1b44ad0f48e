# SPDX-License-Identifier: Apache-2.0
"""The table of docs/embedded.md: instructions and estimated cycles of an inference per multiply-accumulate, from tflite_figures.txt.

    speed_table    tests that the page has the table that follows from the figures
"""

import re
import unittest

from tools.firmware import measure

PAGE = "docs/embedded.md"
BEGIN, END = "<!-- Made of tests/firmware/tflite_figures.txt. -->\n\n", "\n\n<!-- End of what is made. -->"
CORES = {
    "cortex_m0plus": "Cortex-M0+",
    "cortex_m4f": "Cortex-M4F",
    "cortex_m7f": "Cortex-M7F",
    "cortex_m33f": "Cortex-M33F",
    "cortex_m55": "Cortex-M55",
    "riscv32imac": "RV32IMAC",
}
# The image, its name on the page, its multiply-accumulates, and the instructions of TFLite Micro with CMSIS-NN.
MODELS = [
    ("ic_resnet_int8", "ic (ResNet-8)", 12501632, {"cortex_m4f": 29865458, "cortex_m55": 4913633}),
    ("vww_96_int8", "vww (MobileNet 0.25)", 7489664, {"cortex_m4f": 24101540, "cortex_m55": 6557948}),
    ("kws_int8", "kws (DS-CNN)", 2656768, {"cortex_m4f": 7696240, "cortex_m55": 1811956}),
    ("ad01_int8", "ad (autoencoder)", 264192, {"cortex_m4f": 582900, "cortex_m55": 149925}),
]
COLUMNS = "core, model, multiply-accumulates, C by gcc 12, C by clang 19, LLVM, TFLite Micro + CMSIS-NN, cycles by gcc, cycles by LLVM".split(", ")


def _line(cells):
    return "| " + " | ".join(cells) + " |"


def table(figures):
    """Returns the lines of the table. `figures` come from measure.read_table."""
    lines = [_line(COLUMNS), "|---" * len(COLUMNS) + "|"]
    for board, core in CORES.items():
        for image, name, macs, of_peer in MODELS:

            def per_mac(count):
                return "–" if count is None else "{:.2f}".format(count / macs)

            ways = {way: figures[board, image + "_" + way] for way in ("c", "clang", "llvm")}
            numbers = [ways[way]["instructions"] for way in ways] + [of_peer.get(board)] + [ways[way].get("cycles") for way in ("c", "llvm")]
            lines.append(_line([core, name, "{:,}".format(macs)] + [per_mac(number) for number in numbers]))
    return "\n".join(lines)


def update(path, figures):
    """Writes the table into the page."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    between = re.compile(re.escape(BEGIN) + ".*" + re.escape(END), re.S)
    text, count = between.subn(lambda _: BEGIN + table(figures) + END, text)
    if count != 1:
        raise RuntimeError("{}: found {} places for the table, wanted one: {}".format(path, count, BEGIN.strip()))
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


class SpeedTable(unittest.TestCase):
    def test_page(self):
        with open(PAGE, encoding="utf-8") as file:
            page = file.read()
        wanted = BEGIN + table(measure.read_table("tests/firmware/tflite_figures.txt")) + END
        self.assertIn(wanted, page, "bazel run //tests/firmware:update_tflite_figures renews it")


if __name__ == "__main__":
    unittest.main()
