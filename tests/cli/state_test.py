# SPDX-License-Identifier: Apache-2.0
"""State that a model keeps itself: called from C, from C++ and by TVMExecute, and the compiler's report on it."""

import json
import os
import shutil
import struct
import subprocess
import unittest

from tests.cli.cli_case import CODEGENS, CliCase, npy

INCLUDE = os.path.abspath("runtime_crt/include")
RUNTIME = [os.path.abspath("runtime_crt/src/" + name) for name in ("model/model.c", "common/last_error.c")]
OPTIONS = ["--module-name", "m", "--runtime", "crt", "--interface", "c", "--target", "x86-64"]
C_FLAGS = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wconversion", "-Wshadow", "-ffp-contract=off"]
CXX_FLAGS = ["-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wconversion", "-Wshadow", "-fno-exceptions"]

# A window over the last three steps, a sum that begins with 3, and a state that is read after its next value is
# computed.
MODEL = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 1, 4), float32], %window: Tensor[(1, 2, 4), float32], %sum: Tensor[(1, 4), float32],
          %last: Tensor[(1, 4), float32], output_tensor_names=["y", "window.next", "sum.next", "last.next"],
          state_inputs=["window", "sum", "last"], state_outputs=["window.next", "sum.next", "last.next"],
          state_initial=[0.5f, 3f, -1f]) {
  %0 = concatenate((%window, %x), axis=1);
  %1 = sum(%0, axis=[1]);
  %2 = add(%sum, %1);
  %3 = reshape(nn.relu(%x), newshape=[1, 4]);
  %4 = nn.softmax(%3);
  %5 = nn.softmax(multiply(add(%4, %last), %2));
  (%5, strided_slice(%0, begin=[0, 1, 0], end=[1, 3, 4], strides=[1, 1, 1]), %2, %4)
}
"""

# The same model without the state attributes.
PLAIN = MODEL.replace(MODEL[MODEL.index(",\n          state_inputs") : MODEL.index(") {")], "")
PAIRS = ["--state", "window=window.next", "--state", "sum=sum.next", "--state", "last=last.next"]

# Reads steps from standard input, and writes the result of each. %s defines Step and Reset. A step that begins with -99
# restarts the stream.
PROGRAM = """#include <kiln/model.h>
#include <stdio.h>

#include "m.h"
%s
int main(void) {
  float x[4], y[4];
  while (fread(x, sizeof(x), 1, stdin) == 1) {
    if (x[0] < -98.0f) {
      Reset();
      continue;
    }
    if (Step(x, y) != 0) return 1;
    if (fwrite(y, sizeof(y), 1, stdout) != 1) return 2;
  }
  return 0;
}
"""

OWN = """static void Reset(void) { tvmgen_m_reset_state(); }
static int Step(const float* x, float* y) {
  const struct tvmgen_m_inputs inputs = {.x = x};
  const struct tvmgen_m_outputs outputs = {.y = y};
  return tvmgen_m_run(&inputs, &outputs);
}
"""

# Runs every step on two streams with different inputs. The module's own state gets no step.
TWO = """
#include <string.h>
static uint8_t one[TVMGEN_M_STATE_SIZE_BYTES] __attribute__((aligned(TVMGEN_M_STATE_ALIGNMENT_BYTES)));
static uint8_t two[TVMGEN_M_STATE_SIZE_BYTES] __attribute__((aligned(TVMGEN_M_STATE_ALIGNMENT_BYTES)));
static int ready;
static void Reset(void) {
  uint8_t before[TVMGEN_M_STATE_SIZE_BYTES];
  memcpy(before, tvmgen_m_state, sizeof(before));
  if (tvmgen_m_initialize_state(one) != 0) ready = -1;
  if (memcmp(one, before, sizeof(before)) != 0) ready = -1;
}
static int Step(const float* x, float* y) {
  float other_x[4], other_y[4];
  const struct tvmgen_m_inputs inputs = {.x = x}, others = {.x = other_x};
  const struct tvmgen_m_outputs outputs = {.y = y}, thrown_away = {.y = other_y};
  if (ready == 0) {
    Reset();
    (void)tvmgen_m_initialize_state(two);
    ++ready;
  }
  for (int i = 0; i < 4; ++i) other_x[i] = 1.0f - x[i];
  if (ready != 1 || tvmgen_m_run_with_state(&others, &thrown_away, two) != 0) return 1;
  return tvmgen_m_run_with_state(&inputs, &outputs, one);
}
"""

POOLS = """
static uint8_t sram[TVMGEN_M_SRAM_WORKSPACE_POOL_SIZE_BYTES] __attribute__((aligned(TVMGEN_M_SRAM_WORKSPACE_POOL_ALIGNMENT_BYTES)));
static uint8_t state[TVMGEN_M_STATE_SIZE_BYTES] __attribute__((aligned(TVMGEN_M_STATE_ALIGNMENT_BYTES)));
static int ready;
static void Reset(void) { ready = tvmgen_m_initialize_state(state) == 0; }
static int Step(const float* x, float* y) {
  const struct tvmgen_m_workspace_pools pools = {.sram = sram, .state = state};
  if (!ready) Reset();
"""
POOLS_CALL = """  const struct tvmgen_m_inputs inputs = {.x = x};
  const struct tvmgen_m_outputs outputs = {.y = y};
  return tvmgen_m_run(&inputs, &outputs, &pools);
}
"""
WORKSPACE_IO_CALL = """  for (int i = 0; i < 4; ++i) tvmgen_m_map_inputs(&pools).x[i] = x[i];
  if (tvmgen_m_run(&pools) != 0) return 1;
  for (int i = 0; i < 4; ++i) y[i] = tvmgen_m_map_outputs(&pools).y[i];
  return 0;
}
"""

EXECUTE = """static void Reset(void) { tvmgen_m_reset_state(); }
static int Step(const float* x, float* y) {
  const struct tvmgen_m_inputs inputs = {.x = x};
  const struct tvmgen_m_outputs outputs = {.y = y};
  return TVMExecute(&m, &inputs, &outputs, NULL);
}
"""
EXECUTE_ON_MEMORY = """static uint8_t scratch[TVMGEN_M_WORKSPACE_SIZE_BYTES] __attribute__((aligned(TVMGEN_M_WORKSPACE_ALIGNMENT_BYTES)));
static uint8_t state[TVMGEN_M_STATE_SIZE_BYTES] __attribute__((aligned(TVMGEN_M_STATE_ALIGNMENT_BYTES)));
static int ready;
static void Reset(void) { ready = tvmgen_m_initialize_state(state) == 0; }
static int Step(const float* x, float* y) {
  const struct tvmgen_m_inputs inputs = {.x = x};
  const struct tvmgen_m_outputs outputs = {.y = y};
  const TVMWorkspace workspaces[] = {{scratch, sizeof(scratch)}, {state, sizeof(state)}};
  static TVMContext context;
  if (!ready) Reset();
  if (TVMSetWorkspaces(&context, workspaces, 2) != 0) return 1;
  return TVMExecute(&m, &inputs, &outputs, &context);
}
"""

CXX = """#include <cstdio>
#include "m.h"
static tvmgen_m::Workspace workspace;
static tvmgen_m::State state, other;
int main() {
  float x[4], y[4], thrown_away[4];
  while (std::fread(x, sizeof(x), 1, stdin) == 1) {
    if (x[0] < -98.0f) {
      state.reset();
      continue;
    }
    using namespace tvmgen_m;
    if (run({input::x(x)}, {output::y(y)}, workspace, state) != 0) return 1;
    if (run({input::x(y)}, {output::y(thrown_away)}, workspace, other) != 0) return 2;
    if (std::fwrite(y, sizeof(y), 1, stdout) != 1) return 3;
  }
  return 0;
}
"""

STEPS = [[0.5, -1, 2, 0.25 * i] for i in range(7)]
RESET = [-99.0, 0, 0, 0]


def packed(steps):
    return b"".join(struct.pack("<4f", *step) for step in steps)


class StateTest(CliCase):
    def compile(self, codegen, *options, model=MODEL):
        shutil.rmtree(self.out, ignore_errors=True)
        path = self.write("m.relay", model)
        self.succeeds("compile", path, "-o", self.out, "--codegen", codegen, *OPTIONS, *options)
        with open(self.path("out/m.metadata.json"), encoding="utf-8") as file:
            return json.load(file)

    def object(self, compiler, flags, source, name):
        path = self.path(name + ".o")
        subprocess.run([compiler] + flags + ["-I" + self.out, "-I" + INCLUDE, "-c", source, "-o", path], check=True)
        return path

    def program(self, compiler, flags, text, extension, codegen, more=()):
        source = self.write("main" + extension, text)
        model = self.path("out/m.o") if codegen == "llvm" else self.object("gcc", C_FLAGS, self.path("out/m.c"), "model_code")
        objects = [self.object(compiler, flags, source, "main"), model]
        objects += [self.object("gcc", C_FLAGS, path, "more{}".format(i)) for i, path in enumerate(more)]
        subprocess.run([compiler] + objects + ["-o", self.path("program")], check=True)

    def outputs(self, steps):
        return subprocess.run([self.path("program")], input=packed(steps), stdout=subprocess.PIPE, check=True).stdout

    def stepped(self, codegen):
        """Returns the expected outputs: runs the function with the states as inputs and outputs, and passes them on by
        hand."""
        names = ["window.next", "sum.next", "last.next"]
        values = {"window": [0.5] * 8, "sum": [3.0] * 4, "last": [-1.0] * 4}
        shapes = {"window": (1, 2, 4), "sum": (1, 4), "last": (1, 4), "x": (1, 1, 4)}
        found = b""
        library = ["--module-name", "m", "--codegen", codegen, "--target", "x86-64"]
        self.succeeds("compile", self.write("m.relay", MODEL), "-o", self.path("pairs"), *library)
        for step in STEPS:
            flags = []
            for name, value in dict(values, x=step).items():
                data = npy("<f4", shapes[name], struct.pack("<%df" % len(value), *value))
                flags += ["--input", "{}={}".format(name, self.write(name + ".npy", data))]
            shutil.rmtree(self.path("made"), ignore_errors=True)
            self.succeeds("run", self.path("pairs/m.so"), *flags, "--output", self.path("made"))
            made = {}
            for name in ["y"] + names:
                with open(self.path("made/" + name + ".npy"), "rb") as file:
                    data = file.read()
                made[name] = data[10 + struct.unpack("<H", data[8:10])[0] :]
            found += made["y"]
            values = {name[:-5]: struct.unpack("<%df" % (len(made[name]) // 4), made[name]) for name in names}
        return found

    def test_every_way_to_call_gives_what_the_pairs_give(self):
        for codegen in CODEGENS:
            expected = self.stepped(codegen)
            # The beginning of a stream, and after a reset the whole stream.
            steps, wanted = STEPS[:3] + [RESET] + STEPS, expected[:48] + expected
            self.compile(codegen)
            execute = [self.path("out/m_model.c")] + RUNTIME
            for text, more in [(OWN, []), (TWO, []), (EXECUTE, execute), (EXECUTE_ON_MEMORY, execute)]:
                with self.subTest(codegen=codegen, text=text):
                    self.program("gcc", C_FLAGS, PROGRAM % text, ".c", codegen, more)
                    self.assertEqual(self.outputs(steps), wanted)
            self.program("g++", CXX_FLAGS, CXX, ".cc", codegen)
            self.assertEqual(self.outputs(steps), wanted)
            for options, call in ((), POOLS_CALL), (("--workspace-io",), WORKSPACE_IO_CALL):
                with self.subTest(codegen=codegen, options=options):
                    self.compile(codegen, "--pool", "sram:any", *options)
                    self.program("gcc", C_FLAGS, PROGRAM % (POOLS + call), ".c", codegen)
                    self.assertEqual(self.outputs(steps), wanted)

    def test_pairs_of_the_command_line(self):
        metadata = self.compile(CODEGENS[0], *PAIRS, model=PLAIN)
        with_attributes = self.compile(CODEGENS[0], model=MODEL)
        self.assertEqual([state["initial_value"] for state in metadata["states"]], [0, 0, 0])
        for state, other in zip(metadata["states"], with_attributes["states"]):
            self.assertEqual(state["tensor"], other["tensor"])

    def test_metadata_and_header(self):
        metadata = self.compile(CODEGENS[0])
        main = metadata["functions"][0]
        self.assertEqual([p["relay_name_hint"] for p in main["parameters"]], ["x", "y"])
        states = metadata["states"]
        self.assertEqual([s["tensor"]["relay_name_hint"] for s in states], ["window", "sum", "last"])
        # The window includes the step that is added to it.
        self.assertEqual([s["tensor"]["shape"] for s in states], [[1, 3, 4], [1, 4], [1, 4]])
        self.assertEqual([s["initial_value"] for s in states], [0.5, 3, -1])
        self.assertEqual([s["is_copied"] for s in states], [False, False, True])
        (block,) = [pool for pool in metadata["pools"] if pool["kind"] == "STATE"]
        self.assertEqual([b["name"] for b in block["buffers"]], ["window", "sum", "last"])
        with open(self.path("out/m.h"), encoding="utf-8") as file:
            header = file.read()
        for line in (
            "#define TVMGEN_M_STATE_SIZE_BYTES {}".format(block["size_bytes"]),
            "#define TVMGEN_M_NUM_STATES 3",
            "#define TVMGEN_M_STATE_SUM_OFFSET_BYTES {}".format(states[1]["tensor"]["place"]["offset_bytes"]),
            "#define TVMGEN_M_STATE_SUM_INITIAL_VALUE 3",
            "#define TVMGEN_M_STATE_WINDOW_SHAPE {1, 3, 4}",
            '#define TVMGEN_M_STATE_LAST_DTYPE "float32"',
            "extern uint8_t tvmgen_m_state[{}];".format(block["size_bytes"]),
        ):
            self.assertIn(line + "\n", header)

    def test_a_step_copies_no_state_but_what_it_says(self):
        model = self.write("m.relay", MODEL)
        plan = self.succeeds("compile", model, *OPTIONS, "--emit=plan")
        self.assertEqual(plan.count("tvmgen_m_copy_state_"), 1)
        self.assertIn("tvmgen_m_copy_state_0(last.next -> last)", plan)
        self.assertRegex(plan, r"window\.next .* in place of window")
        self.assertRegex(plan, r"sum\.next .* in place of sum")
        # One call moves the remaining steps of the window, and the next one appends the new step.
        self.assertIn("strided_slice(window -> window.next)", plan)
        self.assertRegex(plan, r"concatenate\(x -> window\.next\)")
        report = self.succeeds("inspect", model, "--target", "cortex-m4f")
        for name, how in (("window", "changed in place"), ("sum", "changed in place"), ("last", "copied at the end")):
            self.assertRegex(report, r"\n\s*{} .*{}".format(name, how))

    def test_memory_is_less_than_that_of_the_pairs(self):
        def metadata(*options):
            model = self.write("m.relay", MODEL)
            return json.loads(self.succeeds("compile", model, "--runtime", "crt", "--target", "cortex-m4f", "--emit=metadata", *options))

        def ram(metadata):
            pools = sum(pool["size_bytes"] for pool in metadata["pools"] if pool["kind"] != "CONSTANT")
            return pools + metadata["functions"][0]["io_size_bytes"]

        kept, pairs = metadata("--interface", "c"), metadata("--interface", "packed")
        self.assertEqual((kept["functions"][0]["num_inputs"], pairs["functions"][0]["num_inputs"]), (1, 4))
        self.assertLess(ram(kept), ram(pairs))

    def test_packed_functions_name_their_pairs(self):
        pairs = json.loads(self.succeeds("compile", self.write("m.relay", MODEL), "--emit=metadata"))
        self.assertEqual([state["tensor"]["relay_name_hint"] for state in pairs["states"]], ["window", "sum", "last"])
        self.assertEqual([state["output"] for state in pairs["states"]], ["window.next", "sum.next", "last.next"])
        self.assertEqual([state["initial_value"] for state in pairs["states"]], [0.5, 3, -1])
        self.succeeds("compile", self.write("m.relay", MODEL), "-o", self.out, "--module-name", "m", "--target", "host")
        report = self.succeeds("inspect", self.path("out/m.so"))
        self.assertRegex(report, r"sum .*an input .*passed on from the output sum\.next")

    def test_a_model_without_state_knows_nothing_of_it(self):
        metadata = self.compile(CODEGENS[0], model=PLAIN)
        self.assertEqual(metadata["states"], [])
        with open(self.path("out/m.h"), encoding="utf-8") as file:
            self.assertNotIn("state", file.read().lower())

    def test_what_cannot_be_is_refused(self):
        model = self.write("m.relay", PLAIN)
        for words, pair in (
            ("--state: found 'window', wanted input=output", "window"),
            ("--state: found no input 'windows', wanted one of 'x', 'window', 'sum', 'last'", "windows=window.next"),
            ("--state: found no output 'sum.last', wanted one of 'y', 'window.next', 'sum.next', 'last.next'", "sum=sum.last"),
            ("Tensor[(1, 2, 4), float32] in the input 'window' and Tensor[(1, 4), float32] in the output 'sum.next'", "window=sum.next"),
        ):
            self.refuses(words, "compile", model, "-o", self.out, *OPTIONS, "--state", pair)
        self.refuses("in two pairs", "compile", model, "-o", self.out, *OPTIONS, "--state", "sum=sum.next", "--state", "sum=last.next")
        pairs = ["compile", model, "-o", self.out] + OPTIONS + PAIRS
        self.refuses("--pool: found the name 'State', which the memory of the model's state has", *pairs, "--pool", "State:any")
        many = [flag for i in range(8) for flag in ("--pool", "p{}:any".format(i))]
        self.refuses("--pool: found 8 pools, wanted at most 7 beside the memory of the model's state", *pairs, *many)
        scales = PLAIN.replace("float32", "int8").replace(
            'output_tensor_names=', "input_scales=[[], [], [0.5f], []], output_scales=[[], [], [0.25f], []], output_tensor_names=")
        integers = self.write("i.relay", scales[: scales.index("  %0")] + "  (%x, %window, %sum, %last)\n}\n")
        self.refuses("of the input 'sum' and", "compile", integers, "-o", self.out, *OPTIONS, "--state", "sum=sum.next")


if __name__ == "__main__":
    unittest.main()
