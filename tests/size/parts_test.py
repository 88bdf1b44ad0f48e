# SPDX-License-Identifier: Apache-2.0
"""Compares the bytes of the C runtime's parts on Cortex-M4F with -Os with parts.txt and with their limits.

    parts_test TABLE ARCHIVE…             compares
    parts_test --update TABLE ARCHIVE…    writes the table
"""

import os
import re
import subprocess
import sys
import unittest

HEADER = "# Renewed by `bazel run //tests/size:update_parts`.\n"
# Allowed deviation from the table: this fraction, or SLACK bytes if that is more.
MARGIN = 0.03
SLACK = 16
# Limits for code and constants.
MAX_FLASH_BYTES = {"aot_executor": 2048, "graph_executor": 4096}
# Limits for parts with state outside of the caller's structs: global functions, the text of the last error, and the
# table of modules. The other parts have no such state.
MAX_RAM_BYTES = {"global_functions": 544, "last_error": 256, "module": 16}


def measure(archive):
    """Returns (flash, RAM) of an archive: sums of the sizes of its members, as reported by `size`."""
    lines = subprocess.run(["arm-none-eabi-size", archive], stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()[1:]
    members = [[int(number) for number in line.split()[:3]] for line in lines]
    return sum(text + data for text, data, _ in members), sum(data + bss for _, data, bss in members)


def name_of(archive):
    return os.path.splitext(os.path.basename(archive))[0]


def read_table(path):
    with open(path, encoding="utf-8") as file:
        rows = [line.split() for line in file if not line.startswith("#")][1:]
    return {name: (int(flash), int(ram)) for name, flash, ram in rows}


def write_table(path, parts):
    with open(path, "w", encoding="utf-8") as file:
        file.write(HEADER)
        file.write("{:<20} {:>11} {:>9}\n".format("part", "flash_bytes", "ram_bytes"))
        for name in sorted(parts):
            file.write("{:<20} {:>11} {:>9}\n".format(name, *parts[name]))


class PartsTest(unittest.TestCase):
    def test_sizes_are_those_of_the_table(self):
        golden = read_table(TABLE)
        self.assertEqual(sorted(golden), sorted(PARTS))
        for name, sizes in PARTS.items():
            for kind, found, wanted in zip(("flash", "RAM"), sizes, golden[name]):
                message = "{}: {} bytes of {}, the table has {}; bazel run //tests/size:update_parts renews it".format(name, found, kind, wanted)
                self.assertLessEqual(abs(found - wanted), max(SLACK, MARGIN * wanted), message)

    def test_limits(self):
        for name, limit in MAX_FLASH_BYTES.items():
            self.assertLessEqual(PARTS[name][0], limit, name)
        for name, (_, ram) in PARTS.items():
            self.assertLessEqual(ram, MAX_RAM_BYTES.get(name, 0), name)

    def test_numbers_are_read(self):
        self.assertTrue(all(flash > 0 for flash, _ in PARTS.values()))
        self.assertTrue(re.match(r"^\d+$", str(PARTS["module"][1])) and PARTS["module"][1] > 0)


if __name__ == "__main__":
    UPDATE = sys.argv[1] == "--update"
    TABLE, *ARCHIVES = sys.argv[2:] if UPDATE else sys.argv[1:]
    PARTS = {name_of(archive): measure(archive) for archive in ARCHIVES}
    if UPDATE:
        write_table(os.path.join(os.environ["BUILD_WORKSPACE_DIRECTORY"], TABLE), PARTS)
    else:
        unittest.main(argv=sys.argv[:1])
