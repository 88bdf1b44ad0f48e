# SPDX-License-Identifier: Apache-2.0
"""`kiln inspect IMAGE --emulator`: the estimated cycles of cycles.c, compared with the known sum for each core.

    cycles_test BOARDS IMAGE…    BOARDS is JSON: the emulator of each board; an image lies in a folder <board>_cycles
"""

import json
import os
import subprocess
import sys
import unittest

KILN = os.path.abspath("tools/kiln/kiln")
INSTRUCTIONS = 62
# One cycle before the loop, ten times the loop's six instructions, nine taken branches, and the call of EndInference.
# If loads are not pipelined, the second load takes two cycles. The multiplication takes one.
CYCLES = {
    "cortex-m0plus": 1 + 10 * (2 + 2 + 1 + 2 + 1 + 1) + 9 * 1 + 3,
    "cortex-m3": 1 + 10 * (2 + 1 + 1 + 1 + 1 + 1) + 9 * 2 + 3,
    "cortex-m4": 1 + 10 * (2 + 1 + 1 + 1 + 1 + 1) + 9 * 2 + 3,
    "cortex-m7": 1 + 10 * 6 + 1,
    "cortex-m33": 1 + 10 * (2 + 1 + 1 + 1 + 1 + 1) + 9 * 2 + 3,
    "cortex-m55": 1 + 10 * 6 + 9 * 2 + 3,
}


def inspect(board, *options):
    command = [KILN, "inspect", IMAGES[board], "--emulator", BOARDS[board]["emulator"]] + list(options)
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


class CyclesTest(unittest.TestCase):
    def test_each_board(self):
        for board, properties in BOARDS.items():
            with self.subTest(board):
                result = inspect(board, "--json")
                self.assertEqual(result.returncode, 0, result.stderr.decode())
                found = json.loads(result.stdout)
                core = properties["target"].rstrip("f")
                self.assertEqual(found["core"], core)
                self.assertEqual(found["instructions"], [INSTRUCTIONS])
                self.assertEqual(found["cycles"], [CYCLES[core]])

    def test_another_core(self):
        result = inspect("cortex_m3", "--target", "cortex-m0plus")
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        lines = result.stdout.decode().splitlines()
        self.assertEqual(lines[0], "instructions: {} in each of 1 inference".format(INSTRUCTIONS))
        self.assertEqual(
            lines[1], "estimated cycles: {} of a cortex-m0plus, with memory that never waits".format(CYCLES["cortex-m0plus"])
        )

    def test_a_core_without_timings(self):
        result = inspect("cortex_m3", "--target", "riscv32imac")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--target: found the core 'generic-rv32', whose cycles are not known, wanted one of cortex-m0plus, ", result.stderr.decode())


if __name__ == "__main__":
    BOARDS = json.loads(sys.argv[1])
    IMAGES = {os.path.basename(os.path.dirname(path)).replace("_cycles", ""): path for path in sys.argv[2:]}
    unittest.main(argv=sys.argv[:1])
