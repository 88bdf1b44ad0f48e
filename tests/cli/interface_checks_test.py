# SPDX-License-Identifier: Apache-2.0
"""KILN_CHECKS: wrong arguments of the C interface give an error with a text and nothing is written. Without KILN_CHECKS
there is no code for it."""

import subprocess
import unittest

from tests.cli.cli_case import CODEGENS, CliCase

FLAGS = ["-O2", "-Wall", "-Wextra", "-Werror", "-pedantic", "-ffp-contract=off", "-no-pie"]
C_FLAGS = FLAGS + ["-std=c99"]

MODEL = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 4), float32], %sum: Tensor[(1, 4), float32], output_tensor_names=["y", "sum.next"],
          state_inputs=["sum"], state_outputs=["sum.next"], state_initial=[2f]) {
  %0 = add(%sum, %x);
  (nn.softmax(nn.softmax(transpose(nn.softmax(%0), axes=[1, 0]))), %0)
}
"""

BEGINNING = """#include <stdio.h>
#include <string.h>

static const char* failed = "";
#define KILN_CHECK_FAILED(text) (failed = (text))
#include "m.h"

static int wrong;
static void Expect(int status, int wanted, const char* text) {
  if (status == wanted && strcmp(failed, text) == 0) {
    failed = "";
    return;
  }
  printf("found %d '%s', wanted %d '%s'\\n", status, failed, wanted, text);
  failed = "";
  wrong = 1;
}

static float x[4] = {1, 2, 3, 4}, y[4];
"""

OWN_MEMORY = BEGINNING + """
#define ALIGNED __attribute__((aligned(64)))
static ALIGNED uint8_t workspace[TVMGEN_M_WORKSPACE_SIZE_BYTES + 64];
static ALIGNED uint8_t state[TVMGEN_M_STATE_SIZE_BYTES + 64];

int main(void) {
  struct tvmgen_m_inputs inputs = {x};
  struct tvmgen_m_outputs outputs = {y};
  Expect(tvmgen_m_run(&inputs, &outputs), 0, "");
  Expect(tvmgen_m_run(NULL, &outputs), -1, "m: inputs is NULL");
  Expect(tvmgen_m_run(&inputs, NULL), -1, "m: outputs is NULL");
  inputs.x = NULL;
  Expect(tvmgen_m_run(&inputs, &outputs), -1, "m: input x is NULL or not aligned to 4 bytes");
  inputs.x = (const float*)(const void*)((const char*)x + 2);
  Expect(tvmgen_m_run(&inputs, &outputs), -1, "m: input x is NULL or not aligned to 4 bytes");
  outputs.y = NULL;
  inputs.x = x;
  Expect(tvmgen_m_run(&inputs, &outputs), -1, "m: output y is NULL or not aligned to 4 bytes");
  outputs.y = y;
  Expect(tvmgen_m_run_with_state(&inputs, &outputs, NULL), -1, "m: state is NULL or not aligned to %(state)d bytes");
  Expect(tvmgen_m_run_with_state(&inputs, &outputs, state), -1, "m: the state has not been initialized");
  Expect(tvmgen_m_initialize_state(state + 1), -1, "m: state is NULL or not aligned to %(state)d bytes");
  Expect(tvmgen_m_initialize_state(state), 0, "");
  Expect(tvmgen_m_run_with_state(&inputs, &outputs, state), 0, "");
  Expect(tvmgen_m_run_with_workspace(x, y, workspace + 1, state), -1, "m: workspace is NULL or not aligned to %(workspace)d bytes");
  Expect(tvmgen_m_run_with_workspace(x, y, NULL, state), -1, "m: workspace is NULL or not aligned to %(workspace)d bytes");
  Expect(tvmgen_m_run_with_workspace(x, y, workspace, state), 0, "");
  tvmgen_m_reset_state();
  Expect(tvmgen_m_run(&inputs, &outputs), 0, "");
  return wrong;
}
"""

POOLS = BEGINNING + """
#define ALIGNED __attribute__((aligned(64)))
static ALIGNED uint8_t sram[TVMGEN_M_SRAM_WORKSPACE_POOL_SIZE_BYTES];
static ALIGNED uint8_t state[TVMGEN_M_STATE_WORKSPACE_POOL_SIZE_BYTES];

int main(void) {
  const struct tvmgen_m_inputs inputs = {x};
  const struct tvmgen_m_outputs outputs = {y};
  struct tvmgen_m_workspace_pools pools = {sram, state};
  Expect(tvmgen_m_run(&inputs, &outputs, NULL), -1, "m: workspace_pools is NULL");
  Expect(tvmgen_m_run(&inputs, &outputs, &pools), -1, "m: the state has not been initialized");
  Expect(tvmgen_m_initialize_state(state), 0, "");
  Expect(tvmgen_m_run(&inputs, &outputs, &pools), 0, "");
  pools.sram = sram + 1;
  Expect(tvmgen_m_run(&inputs, &outputs, &pools), -1, "m: sram is NULL or not aligned to %(sram)d bytes");
  return wrong;
}
"""

# The constructor of State initializes the state.
CXX = BEGINNING + """
static tvmgen_m::Workspace workspace;
static tvmgen_m::State state;
alignas(tvmgen_m::State) static unsigned char memory[sizeof(tvmgen_m::State)];

int main() {
  using namespace tvmgen_m;
  Expect(run({input::x(x)}, {output::y(y)}, workspace, state), 0, "");
  state.reset();
  Expect(run({input::x(x)}, {output::y(y)}, workspace, state), 0, "");
  State& other = *reinterpret_cast<State*>(memory);
  Expect(run({input::x(x)}, {output::y(y)}, workspace, other), -1, "m: the state has not been initialized");
  return wrong;
}
"""

CALL = """#include "m.h"
int Run(const struct tvmgen_m_inputs* inputs, const struct tvmgen_m_outputs* outputs);
int Run(const struct tvmgen_m_inputs* inputs, const struct tvmgen_m_outputs* outputs) { return tvmgen_m_run(inputs, outputs); }
"""


class InterfaceChecksTest(CliCase):
    def with_alignments(self, text):
        """Replaces %(…)d in the text by the alignments in the header."""
        with open(self.path("out/m.h"), encoding="utf-8") as file:
            lines = [line.split() for line in file if "ALIGNMENT_BYTES " in line and line.startswith("#define ")]
        values = {words[1].replace("TVMGEN_M_", "").replace("_ALIGNMENT_BYTES", "").lower(): int(words[2]) for words in lines}
        for name, value in values.items():
            text = text.replace("%({})d".format(name.replace("_workspace_pool", "")), str(value))
        return text

    def run_program(self, text, codegen, *options, compiler="gcc", flags=C_FLAGS):
        common = ["--module-name", "m", "--runtime", "crt", "--interface", "c", "--target", "x86-64"]
        self.succeeds("compile", self.write("m.relay", MODEL), "-o", self.out, "--codegen", codegen, *common, *options)
        source = self.write("main.c" if compiler == "gcc" else "main.cc", self.with_alignments(text))
        objects = []
        if codegen == "c":
            objects.append(self.path("m.o"))
            subprocess.run(["gcc"] + C_FLAGS + ["-c", self.path("out/m.c"), "-o", objects[0]], check=True)
        else:
            objects.append(self.path("out/m.o"))
        command = [compiler] + flags + ["-DKILN_CHECKS", "-I" + self.out, source] + objects + ["-lm", "-o", self.path("program")]
        subprocess.run(command, check=True)
        result = subprocess.run([self.path("program")], stdout=subprocess.PIPE)
        self.assertEqual((result.returncode, result.stdout.decode()), (0, ""))

    def test_wrong_arguments(self):
        for codegen in CODEGENS:
            with self.subTest(codegen):
                self.run_program(OWN_MEMORY, codegen)
                self.run_program(POOLS, codegen, "--pool", "sram:any")
                self.run_program(CXX, codegen, compiler="g++", flags=FLAGS + ["-std=c++17"])

    def test_without_it_there_is_no_code(self):
        """Without KILN_CHECKS, a call only calls the model's function."""
        common = ["--module-name", "m", "--runtime", "crt", "--interface", "c", "--codegen", "c", "--target", "x86-64"]
        self.succeeds("compile", self.write("m.relay", MODEL), "-o", self.out, *common)
        source = self.write("call.c", CALL)
        assembly = {}
        for name, flags in ("without", []), ("with", ["-DKILN_CHECKS"]):
            command = ["gcc"] + C_FLAGS + flags + ["-S", "-I" + self.out, source, "-o", "-"]
            assembly[name] = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode()
        self.assertNotIn("not aligned", assembly["without"])
        self.assertNotIn("test", assembly["without"].split("Run:")[1].split(".size")[0])
        self.assertIn("test", assembly["with"].split("Run:")[1].split(".size")[0])


if __name__ == "__main__":
    unittest.main()
