# SPDX-License-Identifier: Apache-2.0
"""--workspace-io: a model with its inputs and outputs in the workspace, called from C, from C++ and by TVMExecute."""

import json
import os
import re
import shutil
import subprocess
import unittest

from tests.cli.cli_case import CODEGENS, DIGITS, CliCase

INCLUDE = os.path.abspath("runtime_crt/include")
RUNTIME = [os.path.abspath("runtime_crt/src/" + name) for name in ("model/model.c", "common/last_error.c")]
OPTIONS = ["--module-name", "m", "--runtime", "crt", "--interface", "c", "--workspace-io"]
C_FLAGS = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wconversion", "-Wshadow", "-ffp-contract=off"]
CXX_FLAGS = ["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wconversion", "-Wshadow", "-fno-exceptions"]

# Outputs: an unchanged input, a computed value, the same value again, a view of it, and a constant. One input is never
# read.
MODEL = """#[version = "0.0.5"]
def @main(%unread: Tensor[(100), int8], %x: Tensor[(2, 3), float32], %y: Tensor[(2, 3), float32]) {
  %0 = nn.relu(add(%x, %y));
  (%x, %0, %0, reshape(%0, newshape=[6]), 3f)
}
"""

# Two convolutions with a tensor of 16 KB in between.
STRIPS = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 16, 8, 4), float32]) {
  %0 = full(2f, shape=[32, 3, 3, 4], dtype="float32");
  %1 = full(3f, shape=[4, 3, 3, 32], dtype="float32");
  %2 = nn.conv2d(%x, %0, padding=[1, 1], data_layout="NHWC", kernel_layout="OHWI");
  nn.conv2d(%2, %1, padding=[1, 1], data_layout="NHWC", kernel_layout="OHWI")
}
"""

CHECK = """
static int Check(const float* x, const float* relu, const float* again, const float* flat, const float* three) {
  const float sums[] = {0, 2, 0, 6, 0, 10};
  for (int i = 0; i < 6; ++i) {
    if (x[i] < (float)i || x[i] > (float)i) return 10 + i;
    if (relu[i] < sums[i] || relu[i] > sums[i]) return 20 + i;
    if (memcmp(&again[i], &relu[i], 4) != 0 || memcmp(&flat[i], &relu[i], 4) != 0) return 30 + i;
  }
  return *three < 3 || *three > 3;
}
"""

# Runs twice, because the first run overwrites the inputs.
C_PROGRAM = (
    """#include <string.h>
#include "m.h"
static uint8_t memory[TVMGEN_M_WORKSPACE_SIZE_BYTES] __attribute__((aligned(TVMGEN_M_WORKSPACE_WORKSPACE_POOL_ALIGNMENT_BYTES)));
"""
    + CHECK
    + """
int main(void) {
  const struct tvmgen_m_workspace_pools pools = {.workspace = memory};
  const struct tvmgen_m_inputs in = tvmgen_m_map_inputs(&pools);
  const struct tvmgen_m_outputs out = tvmgen_m_map_outputs(&pools);
  for (int run = 0; run < 2; ++run) {
    for (int i = 0; i < 6; ++i) {
      ((float*)in.x)[i] = (float)i;
      ((float*)in.y)[i] = (float)(i % 2 == 0 ? -i : i);
    }
    memset(in.unread, run, TVMGEN_M_INPUT_UNREAD_SIZE_BYTES);
    if (tvmgen_m_run(&pools) != 0) return 1;
    const int wrong = Check(out.output0, out.output1, out.output2, out.output3, out.output4);
    if (wrong != 0) return wrong;
  }
  return 0;
}
"""
)

CXX_PROGRAM = (
    """#include <cstring>
#include "m.h"
"""
    + CHECK.replace("memcmp", "std::memcmp").replace("(float)i", "float(i)")
    + """
static tvmgen_m::pool::workspace memory;
int main() {
  const tvmgen_m::WorkspacePools pools = {memory};
  const tvmgen_m::Inputs in = tvmgen_m::map_inputs(pools);
  const tvmgen_m::Outputs out = tvmgen_m::map_outputs(pools);
  for (int i = 0; i < 6; ++i) {
    in.x.data()[i] = static_cast<float>(i);
    in.y.data()[i] = static_cast<float>(i % 2 == 0 ? -i : i);
  }
  if (tvmgen_m::run(pools) != 0) return 1;
  return Check(out.output0.data(), out.output1.data(), out.output2.data(), out.output3.data(), out.output4.data());
}
"""
)

# Runs with tensors of the program, which must stay unchanged, and then with the tensors in the workspace.
EXECUTE_PROGRAM = (
    """#include <kiln/model.h>
#include <string.h>
#include "m.h"
static uint8_t memory[TVMGEN_M_WORKSPACE_SIZE_BYTES] __attribute__((aligned(TVMGEN_M_WORKSPACE_WORKSPACE_POOL_ALIGNMENT_BYTES)));
static float own_x[6], own_y[6], own_outputs[4][6], own_three;
static int8_t own_unread[100];
"""
    + CHECK
    + """
int main(void) {
  const struct tvmgen_m_inputs in = {.unread = own_unread, .x = own_x, .y = own_y};
  const struct tvmgen_m_outputs out = {own_outputs[0], own_outputs[1], own_outputs[2], own_outputs[3], &own_three};
  const TVMWorkspace workspace = {memory, sizeof(memory)};
  const struct tvmgen_m_workspace_pools pools = {.workspace = memory};
  const struct tvmgen_m_inputs mapped_in = tvmgen_m_map_inputs(&pools);
  const struct tvmgen_m_outputs mapped = tvmgen_m_map_outputs(&pools);
  TVMContext context;
  int wrong;
  memset(&context, 0, sizeof(context));
  for (int i = 0; i < 6; ++i) {
    own_x[i] = (float)i;
    own_y[i] = (float)(i % 2 == 0 ? -i : i);
  }
  if (TVMExecute(&m, &in, &out, &context) == 0) return 2;
  if (TVMSetWorkspaces(&context, &workspace, 1) != 0) return 3;
  if (TVMExecute(&m, &in, &out, &context) != 0) return 4;
  wrong = Check(own_outputs[0], own_outputs[1], own_outputs[2], own_outputs[3], &own_three);
  if (wrong != 0) return wrong;
  if (Check(own_x, own_outputs[1], own_outputs[1], own_outputs[1], &own_three) != 0) return 5;
  memcpy(mapped_in.x, own_x, sizeof(own_x));
  memcpy(mapped_in.y, own_y, sizeof(own_y));
  if (TVMExecute(&m, &mapped_in, &mapped, &context) != 0) return 6;
  return Check(mapped.output0, mapped.output1, mapped.output2, mapped.output3, mapped.output4);
}
"""
)


class WorkspaceIoTest(CliCase):
    def compile(self, codegen, *options):
        shutil.rmtree(self.out, ignore_errors=True)
        model = self.write("m.relay", MODEL)
        self.succeeds("compile", model, "-o", self.out, "--codegen", codegen, "--target", "x86-64", *OPTIONS, *options)
        with open(self.path("out/m.metadata.json"), encoding="utf-8") as file:
            return json.load(file)

    def object(self, compiler, flags, source, name):
        path = self.path(name + ".o")
        subprocess.run([compiler] + flags + ["-I" + self.out, "-I" + INCLUDE, "-c", source, "-o", path], check=True)
        return path

    def runs(self, compiler, flags, program, extension, codegen, more=()):
        source = self.write("main" + extension, program)
        model = self.path("out/m.o") if codegen == "llvm" else self.object("gcc", C_FLAGS[:2], self.path("out/m.c"), "model_code")
        objects = [self.object(compiler, flags, source, "main"), model]
        objects += [self.object("gcc", C_FLAGS, path, "more{}".format(i)) for i, path in enumerate(more)]
        subprocess.run([compiler] + objects + ["-o", self.path("program")], check=True)
        self.assertEqual(subprocess.run([self.path("program")]).returncode, 0)

    def test_programs(self):
        for codegen in CODEGENS:
            with self.subTest(codegen):
                self.compile(codegen)
                self.runs("gcc", C_FLAGS, C_PROGRAM, ".c", codegen)
                self.runs("g++", CXX_FLAGS, CXX_PROGRAM, ".cc", codegen)
                self.runs("gcc", C_FLAGS, EXECUTE_PROGRAM, ".c", codegen, [self.path("out/m_model.c")] + RUNTIME)

    def test_metadata_and_header_agree(self):
        for pools in ([], ["--pool", "fast:64:64:4", "--pool", "slow:any"]):
            metadata = self.compile(CODEGENS[0], *pools)
            main = metadata["functions"][0]
            workspaces = [pool for pool in metadata["pools"] if pool["kind"] == "WORKSPACE"]
            self.assertTrue(all(pool["external"] for pool in workspaces))
            self.assertEqual(main["workspace_size_bytes"], sum(pool["size_bytes"] for pool in workspaces))
            self.assertEqual(main["io_size_bytes"], 100 + 24 + 24 + 4 * 24 + 4)
            # The five outputs are all alive at the end: four of 24 bytes and one of 4.
            self.assertGreaterEqual(main["workspace_size_bytes"], 4 * 24 + 4)
            with open(self.path("out/m.h"), encoding="utf-8") as file:
                header = file.read()
            self.assertIn("#define TVMGEN_M_WORKSPACE_SIZE_BYTES {}\n".format(main["workspace_size_bytes"]), header)
            self.assertIn("#define TVMGEN_M_IO_SIZE_BYTES 248\n", header)
            for parameter in main["parameters"]:
                place = parameter["place"]
                pool = metadata["pools"][place["pool"]]
                self.assertLessEqual(place["offset_bytes"] + parameter["size_bytes"], pool["size_bytes"])
                offset = " + {}".format(place["offset_bytes"]) if place["offset_bytes"] else ""
                memory = r"KILN_CAST\(uint8_t\*, workspace_pools->{}\)".format(pool["name"])
                member = r"puts\.{} = KILN_CAST\((float|int8_t)\*, KILN_CAST\(void\*, {}{}\)\);".format(
                    parameter["tir_name_hint"], memory, re.escape(offset)
                )
                self.assertRegex(header, member)

    def test_is_smaller_than_tensors_beside_the_workspace(self):
        def sizes(*options):
            main = json.loads(self.succeeds("compile", DIGITS, "--target", "cortex-m4f", "--emit=metadata", *options))["functions"][0]
            return main["workspace_size_bytes"], main["io_size_bytes"]

        beside, io = sizes(*OPTIONS[:-1])
        inside, same_io = sizes(*OPTIONS)
        self.assertEqual(io, same_io)
        self.assertLessEqual(inside, beside + io)

    # A row of a convolution's input is not needed any more when the next but one row is computed.
    def test_outputs_reach_into_inputs(self):
        options = ["compile", DIGITS, "--target", "cortex-m4f", "--emit=plan"] + OPTIONS
        saved = int(re.search(r"\noutputs that reach into inputs save (\d+) bytes\n", self.succeeds(*options)).group(1))
        size = r"^workspace (\d+) bytes, lower bound (\d+) bytes "
        over, bound = map(int, re.match(size, self.succeeds(*options)).groups())
        apart = self.succeeds(*options, "--no-overlap")
        self.assertEqual(re.match(size, apart).groups(), (str(over + saved), str(bound)))
        self.assertGreater(saved, 1000)
        self.assertIn(", reaches into t", self.succeeds(*options))
        self.assertNotIn("reach", apart)
        inspected = self.succeeds("inspect", DIGITS, "--target", "cortex-m4f")
        self.assertRegex(inspected, r"memory plan: workspace \d+ bytes, \d+ without overlap, aligned to 16")
        self.assertNotIn("without overlap", self.succeeds("inspect", DIGITS, "--target", "x86-64"))

    def test_the_graph_executor_does_not_overlap(self):
        options = ["compile", DIGITS, "--target", "cortex-m4f", "--runtime", "crt", "--executor", "graph", "--emit=plan"]
        self.assertNotIn("reach", self.succeeds(*options))

    # Only a few rows of the 16 KB between two convolutions are in memory at once.
    def test_strips_of_rows(self):
        self.write("strips.relay", STRIPS)
        options = ["compile", "strips.relay", "--target", "cortex-m4f", "--emit=plan"] + OPTIONS
        size = r"^workspace (\d+) bytes, "
        strips, whole = self.succeeds(*options), self.succeeds(*options, "--passes=-split")
        saved = int(re.search(r"^strips of rows save (\d+) bytes$", strips, re.MULTILINE).group(1))
        in_strips, in_whole = (int(re.match(size, text).group(1)) for text in (strips, whole))
        self.assertEqual(in_strips + saved, in_whole)
        self.assertGreater(saved, in_whole // 2)
        self.assertNotIn("strips of rows", whole)
        self.assertEqual(self.succeeds(*options, "--optimize", "size"), whole)
        inspected = self.succeeds("inspect", "strips.relay", "--target", "cortex-m4f")
        self.assertRegex(inspected, r"\nmemory saved: (.*, )?\d+ bytes by strips of rows\n")
        self.assertNotIn("by strips", self.succeeds("inspect", "strips.relay", "--target", "x86-64"))

    def test_strips_fit_where_whole_tensors_do_not(self):
        self.write("strips.relay", STRIPS)
        options = ["compile", "strips.relay", "--target", "cortex-m4f", "--emit=plan", "--pool", "sram:16K"] + OPTIONS
        self.assertIn("pool sram: ", self.succeeds(*options))
        self.assertIn("pool sram: ", self.succeeds(*options, "--optimize", "size"))
        self.refuses("the pools ('sram' 16384 bytes) are too small", *options, "--passes=-split")

    def test_archive_and_report(self):
        self.succeeds("compile", DIGITS, "--target", "cortex-m4f", "--codegen", "c", "--mlf", "m.tar", *OPTIONS)
        text = self.succeeds("inspect", "m.tar")
        self.assertRegex(text, r"image +Tensor\[\(1, 1, 8, 8\), float32\] +256 +workspace \+ \d+\n")
        header = subprocess.run(
            ["tar", "-xOf", self.path("m.tar"), "./codegen/host/include/tvmgen_m.h"], stdout=subprocess.PIPE, check=True
        )
        self.assertIn(b"tvmgen_m_map_inputs(const struct tvmgen_m_workspace_pools* workspace_pools)", header.stdout)

    def test_pools_that_are_too_small(self):
        words = "the pools ('tiny' 64 bytes) are too small: "
        self.refuses(words, "compile", self.write("m.relay", MODEL), "-o", self.out, *OPTIONS, "--pool", "tiny:64")

    def test_refusals(self):
        for instead, options in (
            ("use --runtime crt --interface c, or", []),
            ("use --interface c, or", ["--runtime", "crt"]),
            ("use --executor aot --runtime crt --interface c, or", ["--runtime", "crt", "--executor", "graph"]),
            ("use --executor aot --runtime crt --interface c, or", ["--executor", "graph"]),
        ):
            with self.subTest(options):
                words = instead + " leave --workspace-io out"
                self.refuses(words, "compile", DIGITS, "-o", self.out, "--target", "x86-64", "--workspace-io", *options)


if __name__ == "__main__":
    unittest.main()
