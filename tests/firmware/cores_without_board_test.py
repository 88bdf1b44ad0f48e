# SPDX-License-Identifier: Apache-2.0
"""Code for cores without a board in QEMU, on a board that can run it. Models of integers give the outputs of NumPy, to the byte.

    cores_without_board_test CORES    CORES is JSON: for each target the board that runs its code, with the flags of GCC 12 for the core
"""

import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

from tests.firmware.board import C_FLAGS, KILN, Board, codegens

MODELS = "tests/firmware/models/"
CASES = {
    "integers": (("bytes", "words"), ("sums", "scaled", "best", "quotients")),
    "int16": (("samples",), ("sums",)),
}
# Clang 19's names of the cores. `flags` are GCC's.
CLANG_CORES = {"cortex-m52": "cortex-m52+nomve.fp", "cortex-m85": "cortex-m85+nomve.fp"}

PROGRAM = """#include <stdint.h>
#include <string.h>
#include "m.h"

static uint8_t memory[TVMGEN_M_WORKSPACE_SIZE_BYTES] __attribute__((aligned(TVMGEN_M_WORKSPACE_WORKSPACE_POOL_ALIGNMENT_BYTES)));
static const struct tvmgen_m_workspace_pools pools = {.workspace = memory};
%s
int main(void) {
%s  if (tvmgen_m_run(&pools) != 0) return 2;
%s  return 0;
}
"""


def read_npy(path):
    """Returns the elements of a NumPy file, as bytes."""
    with open(path, "rb") as file:
        data = file.read()
    return data[10 + struct.unpack("<H", data[8:10])[0] :]


def program(case):
    """Returns a C program that returns 0 if the model's outputs are equal to the files."""
    inputs, outputs = CASES[case]
    data = {name: read_npy("{}{}_{}.npy".format(MODELS, case, name)) for name in inputs + outputs}
    arrays = "".join(
        "static const unsigned char data_{}[] = {{{}}};\n".format(name, ",".join(map(str, values))) for name, values in data.items()
    )
    copy = "  memcpy(tvmgen_m_map_inputs(&pools).{0}, data_{0}, sizeof(data_{0}));\n"
    compare = "  if (memcmp(tvmgen_m_map_outputs(&pools).{0}, data_{0}, sizeof(data_{0})) != 0) return 1;\n"
    return PROGRAM % (arrays, "".join(map(copy.format, inputs)), "".join(map(compare.format, outputs)))


class Core(Board):
    """A core whose code the board runs. gcc gets the board's flags, and clang the core's own name if it knows the core."""

    def clang(self):
        target = self.properties["target"]
        cores = ["-mcpu=" + CLANG_CORES[target]] if target in CLANG_CORES else []
        return super().clang() + cores

    def assembly(self, case, folder, way):
        """Returns the assembly of a model that `model` has compiled."""
        command = [KILN, "compile", MODELS + case + ".relay", "--emit=asm", "--runtime", "crt", "--interface", "c"]
        command += ["--target", self.properties["target"]]
        if way != "llvm":
            compiler = self.clang() if way == "clang" else self.gcc()
            command = compiler + ["-O2"] + C_FLAGS + ["-S", os.path.join(folder, "m.c"), "-o", "-"]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.decode()


class CoresTest(unittest.TestCase):
    def test_each_core(self):
        for target, properties in CORES.items():
            for case in CASES:
                for way in codegens() + ["clang"]:
                    with self.subTest("{} {} {}".format(target, case, way)), tempfile.TemporaryDirectory() as folder:
                        self.check(Core(target, properties, folder), case, way)

    def check(self, core, case, way):
        folder, model = core.model("{}{}.relay".format(MODELS, case), way)
        source = core.path("main.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(program(case))
        image = core.link([core.compile(source, "main", ["-I" + folder]), model], "image")
        core.run(image)
        if core.properties["target"] in CLANG_CORES:
            self.assertRegex(core.assembly(case, folder, way), r"\bvmla(da)?va\.s", "the core has products of vectors of integers")


if __name__ == "__main__":
    CORES = json.loads(sys.argv.pop())
    unittest.main()
