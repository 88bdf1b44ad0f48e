# SPDX-License-Identifier: Apache-2.0
"""Tables of figures, and messages about figures that differ."""

import os
import tempfile
import unittest

from tools.firmware import measure

TABLE = {
    ("arm", "net"): {"instructions": 10000, "cycles": 15000, "flash_bytes": 0, "stack_bytes": 96},
    ("riscv", "net"): {"instructions": 20000, "flash_bytes": 400, "stack_bytes": 64},
}


class MeasureTest(unittest.TestCase):
    def test_a_table_is_read_as_it_was_written(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "table.txt")
            with open(path, "w", encoding="utf-8") as file:
                file.write(measure.table_text(TABLE))
            self.assertEqual(measure.read_table(path), TABLE)

    def test_the_place_of_a_figure_that_is_not_there(self):
        self.assertEqual(measure.table_text(TABLE, "").splitlines()[2].split(), ["riscv", "net", "20000", "-", "400", "64"])

    def problems(self, **figures):
        found = {("arm", "net"): dict(TABLE["arm", "net"], **figures)}
        return list(measure.problems(found, TABLE))

    def test_figures_within_the_margin(self):
        self.assertEqual(self.problems(), [])
        self.assertEqual(self.problems(instructions=10200, cycles=14700, flash_bytes=16), [])

    def test_figures_beyond_it(self):
        self.assertEqual(self.problems(cycles=15301), ["arm net: cycles is 15301, the table has 15000, +2.0 %"])
        self.assertEqual(self.problems(instructions=9000), ["arm net: instructions is 9000, the table has 10000, -10.0 %"])
        self.assertEqual(self.problems(flash_bytes=17), ["arm net: flash_bytes is 17, the table has 0"])

    def test_what_the_table_does_not_have(self):
        self.assertEqual(self.problems(ram_bytes=32), ["arm net: ram_bytes is 32, the table has none"])
        other = {("arm", "other"): TABLE["arm", "net"]}
        self.assertEqual(list(measure.problems(other, TABLE)), ["arm other: is not in the table"])

    def test_stack_that_is_deeper_than_said(self):
        self.assertIn("an inference takes 200 bytes of stack, its object says 96", self.problems(stack_seen_bytes=200)[0])


if __name__ == "__main__":
    unittest.main()
