# SPDX-License-Identifier: Apache-2.0
"""Indices out of range are replaced by the nearest valid one or, with --check-indices, give an error that names them;
for every way to run a model."""

import os
import struct
import subprocess
import unittest

from tests.cli.cli_case import CODEGENS, CliCase, npy

MODEL = """#[version = "0.0.5"]
def @main(%x: Tensor[(4), float32], %ids: Tensor[(3), int32]) {
  take(%x, %ids, axis=0)
}
"""
CONSTANT = """#[version = "0.0.5"]
def @main(%x: Tensor[(4), float32]) {
  take(%x, 4, axis=0)
}
"""
WORDS = "take (line 3): found index -1 in indices 'ids', wanted 0 to 3"

# Prints the status, the last error and the outputs. KEEPS_ERRORS: defines TVMAPISetLastError, as a runtime does.
MAIN = """
#include <stdint.h>
#include <stdio.h>
#include "m.h"
static char last_error[256];
#ifdef KEEPS_ERRORS
void TVMAPISetLastError(const char* text);
void TVMAPISetLastError(const char* text) { snprintf(last_error, sizeof last_error, "%s", text); }
#endif
int main(int argc, char** argv) {
  float x[4] = {1, 2, 3, 4}, y[3] = {0, 0, 0};
  int32_t ids[3] = {0, 0, 3};
  struct tvmgen_m_inputs inputs;
  struct tvmgen_m_outputs outputs;
  inputs.x = x;
  inputs.ids = ids;
  outputs.output = y;
  (void)argv;
  ids[1] = argc > 1 ? -1 : 2;
  printf("%d", (int)tvmgen_m_run(&inputs, &outputs));
  printf(" '%s' %g %g %g\\n", last_error, y[0], y[1], y[2]);
  return 0;
}
"""


class IndicesTest(CliCase):
    def run_library(self, ids, *options):
        """Runs the model by `kiln run`, compiled for the C++ runtime."""
        model = self.write("m.relay", MODEL)
        self.succeeds("compile", model, "-o", self.path("lib"), *options)
        inputs = {
            "x": npy("<f4", (4,), struct.pack("<4f", 1, 2, 3, 4)),
            "ids": npy("<i4", (3,), struct.pack("<3i", *ids)),
        }
        arguments = []
        for name, data in inputs.items():
            arguments += ["--input", name + "=" + self.write(name + ".npy", data)]
        return self.kiln("run", self.path("lib/m.so"), *arguments)

    def test_runtime_of_cpp(self):
        for codegen in CODEGENS:
            for executor in ("aot", "graph"):
                options = ["--codegen", codegen, "--executor", executor]
                with self.subTest(" ".join(options)):
                    nearest = self.run_library((0, -1, 9), *options)
                    self.assertEqual(nearest.returncode, 0, nearest.stderr)
                    self.assertIn(b"1 1 4", nearest.stdout.replace(b", ", b" "))
                    good = self.run_library((0, 2, 3), "--check-indices", *options)
                    self.assertEqual(good.returncode, 0, good.stderr)
                    self.assertIn(b"1 3 4", good.stdout.replace(b", ", b" "))
                    bad = self.run_library((0, -1, 3), "--check-indices", *options)
                    self.assertNotEqual(bad.returncode, 0)
                    self.assertIn(WORDS, bad.stderr.decode())

    def test_plain_c(self):
        model = self.write("m.relay", MODEL)
        main = self.write("main.c", MAIN)
        for codegen in CODEGENS:
            folder = self.path(codegen)
            self.succeeds("compile", model, "-o", folder, "--runtime", "crt", "--interface", "c", "--codegen", codegen, "--target", "x86-64", "--check-indices")
            code = [os.path.join(folder, "m.c" if codegen == "c" else "m.o")]
            for keeps in (False, True):
                with self.subTest(codegen, keeps=keeps):
                    program = self.path("program")
                    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-I" + folder] + (["-DKEEPS_ERRORS"] if keeps else [])
                    subprocess.run(["gcc"] + flags + [main] + code + ["-o", program], check=True)
                    run = lambda *args: subprocess.run([program] + list(args), stdout=subprocess.PIPE, check=True).stdout.decode()
                    self.assertEqual(run(), "0 '' 1 3 4\n")
                    self.assertEqual(run("bad"), "-1 '{}' 0 0 0\n".format(WORDS if keeps else ""))

    def test_constants_are_checked_when_compiled(self):
        model = self.write("m.relay", CONSTANT)
        self.succeeds("compile", model, "--emit=fused")
        self.refuses("take: found index 4 in indices, wanted 0 to 3", "compile", model, "-o", self.out, "--check-indices")


if __name__ == "__main__":
    unittest.main()
