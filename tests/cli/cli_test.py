# SPDX-License-Identifier: Apache-2.0
"""The command line as users see it: the output, the exit status (0, or 2 for a user error), and no files left over."""

import json
import math
import os
import re
import struct
import unittest

from tests.cli.cli_case import CODEGENS, DIGITS, MY_MOD, CliCase, needs_llvm, npy

# The C runtime's limit on the number of pools.
with open("runtime_crt/include/kiln/model.h") as model_header:
    MOST_POOLS = int(re.search(r"#define TVM_MAX_WORKSPACES (\d+)", model_header.read()).group(1))

UNKNOWN_OPERATOR = '#[version = "0.0.5"]\ndef @main(%a: Tensor[(1, 2), uint8]) {\n  no.such_operator(%a)\n}\n'
OUTPUTS = """#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32]) {
  %0 = nn.relu(%x);
  (%x, reshape(%x, newshape=[6]), 3f, %0, %0)
}
"""
CONVOLUTION = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 56, 56, 64), float32]) {
  %0 = full(0.5f, shape=[3, 3, 64, 64], dtype="float32");
  nn.conv2d(%x, %0, padding=[1, 1, 1, 1], data_layout="NHWC", kernel_layout="HWIO")
}
"""
DENSE = """#[version = "0.0.5"]
def @main(%x: Tensor[(64, 256), float32]) {
  nn.dense(%x, full(0.3f, shape=[512, 256]), units=512)
}
"""
ANY_ROWS = '#[version = "0.0.5"]\ndef @main(%a: Tensor[(?, 2), float32]) {\n  nn.relu(%a)\n}\n'

# One output is the unchanged input, which executors copy.
HALVES = """#[version = "0.0.5"]
def @main(%x: Tensor[(2, 5), float16]) {
  %0 = multiply(%x, 2.5f16);
  (add(%0, 0.25f16), %x, cast(%0, dtype="float32"))
}
"""


def half(value):
    """Returns the bytes of the nearest float16."""
    try:
        return struct.pack("<e", value)
    except OverflowError:
        return struct.pack("<e", math.copysign(math.inf, value))


class CliTest(CliCase):
    # Version and help.

    def test_version(self):
        self.assertRegex(
            self.succeeds("--version"),
            r"^kiln \d+\.\d+\.\d+\ncode generators: (llvm, )?c\nexternal code generators: csource(, dnnl)?\n"
            r"(LLVM: \d+\.\d+\.\d+\n)?compiler of this build: (gcc|Clang) .*\ntargets: host, x86-64, ",
        )

    def test_help(self):
        text = self.succeeds("--help")
        for command in ("compile", "run", "bench", "inspect", "mlf"):
            self.assertIn(command, text)
            self.assertIn("Examples:", self.succeeds(command, "--help"))

    # Command lines.

    def test_no_command(self):
        self.refuses("subcommand is required")

    def test_unknown_command(self):
        self.refuses("Run with --help", "bake")

    def test_unknown_option(self):
        self.refuses("--bake", "compile", DIGITS, "-o", self.out, "--bake")

    def test_no_model(self):
        self.refuses("model is required", "compile")

    def test_no_output(self):
        self.refuses("wanted -o DIR", "compile", DIGITS)

    def test_unknown_values(self):
        for option, wanted in (
            ("executor", "aot, graph"),
            ("runtime", "cpp, crt"),
            ("interface", "packed, c"),
            ("calling-convention", "packed, cpacked, unpacked"),
            ("codegen", "llvm, c"),
        ):
            with self.subTest(option):
                words = "--{}: found 'bake', wanted one of {}".format(option, wanted)
                self.refuses(words, "compile", DIGITS, "-o", self.out, "--" + option, "bake")

    def test_unknown_target(self):
        self.refuses("unknown target 'bake': expected host, x86-64", "compile", DIGITS, "-o", self.out, "--target", "bake")

    def test_unknown_stage(self):
        self.refuses("--emit: found 'bake'", "compile", DIGITS, "--emit", "bake")

    def test_passes(self):
        self.refuses("unknown pass 'bake'", "compile", DIGITS, "-o", self.out, "--passes=-bake")
        self.refuses("cannot switch off pass 'infer-types'", "compile", DIGITS, "-o", self.out, "--passes=-infer-types")
        self.refuses("each with a '-'", "compile", DIGITS, "-o", self.out, "--passes=fuse")

    def test_module_name(self):
        for name in ("9lives", "a-b", "ä", "a" * 129):
            with self.subTest(name):
                self.refuses("wanted a C identifier", "compile", DIGITS, "-o", self.out, "--module-name", name)

    def test_illegal_combinations(self):
        """Each message names both options and an alternative."""
        for instead, options in (
            ("use --executor aot", ["--executor", "graph", "--runtime", "crt", "--interface", "c"]),
            ("use --runtime crt", ["--runtime", "cpp", "--interface", "c"]),
            ("use --calling-convention cpacked", ["--runtime", "cpp", "--calling-convention", "unpacked"]),
            ("use --calling-convention unpacked", ["--runtime", "crt", "--interface", "c", "--calling-convention", "cpacked"]),
            (
                "use --calling-convention cpacked",
                ["--executor", "graph", "--runtime", "crt", "--calling-convention", "unpacked"],
            ),
        ):
            with self.subTest(" ".join(options)):
                self.refuses("do not go together", "compile", DIGITS, "-o", self.out, *options)
                self.refuses(instead, "compile", DIGITS, "-o", self.out, *options)

    def test_pools(self):
        crt = ["compile", DIGITS, "-o", self.out, "--runtime", "crt", "--interface", "c", "--target", "cortex-m4f"]
        for words, pools in (
            ("which has 1 parts; wanted name:size[:alignment][:speed]", ["sram"]),
            ("whose name is no C identifier", ["s-ram:1K"]),
            ("--pool: found the name 'int', which C or C++ reserves", ["int:any"]),
            ("--pool: found the name 'kSizeBytes'", ["kSizeBytes:any"]),
            ("whose size is neither", ["sram:0"]),
            ("whose size is neither", ["sram:1G"]),
            ("whose alignment is no power of two", ["sram:1K:24"]),
            ("whose speed is no positive number", ["sram:1K:32:-1"]),
            ("two pools have the name 'SRAM'", ["sram:1K", "SRAM:1K"]),
            ("found the alignment 8, wanted at least 16", ["sram:1K:8"]),
            ("at most {}".format(MOST_POOLS), ["p{}:any".format(i) for i in range(MOST_POOLS + 1)]),
        ):
            with self.subTest(words):
                self.refuses(words, *crt, *["--pool=" + pool for pool in pools])
        self.refuses("the pools ('sram' 1024 bytes) are too small", *crt, "--pool=sram:1K")
        self.refuses("the pools of constants ('rom' 1024 bytes) are too small", *crt, "--constant-pool=rom:1K")
        for options in (["--pool=sram:any"], ["--constant-pool=rom:any"]):
            self.refuses("do not go together", "compile", DIGITS, "-o", self.out, *options)
        self.refuses("in one piece", "compile", DIGITS, "-o", self.out, "--runtime", "crt", "--executor", "graph", "--pool=sram:any")

    def test_quantisation_of_inputs(self):
        model = '#[version = "0.0.5"]\ndef @main(%x: Tensor[(2, 3), int8], {}) {{\n  negative(%x)\n}}\n'
        for words, attrs in (
            ("attribute 'input_scales': found 2 elements, wanted one for each of the 1 inputs", "input_scales=[[1f], []]"),
            ("found 0f, wanted a positive number", "input_scales=[[0f]]"),
            ("2 zero points, wanted 1", "output_scales=[[1f]], output_zero_points=[[1, 2]]"),
            ("2 scales along axis 1", "input_scales=[[1f, 2f]], input_axes=[1]"),
            ("axis 4294967297 of a tensor with 2 dimensions", "input_scales=[[1f, 2f, 3f]], input_axes=[4294967297]"),
            ("axis -1 of a tensor with 2 dimensions", "output_scales=[[1f]], output_axes=[-1]"),
            ("found 300, which is no value of int8", "input_scales=[[1f]], input_zero_points=[[300]]"),
            ("found -129, which is no value of int8", "output_scales=[[1f]], output_zero_points=[[-129]]"),
        ):
            with self.subTest(attrs):
                self.write("q.relay", model.format(attrs))
                self.refuses(words, "compile", self.path("q.relay"), "-o", self.out)

    def test_inspect_shows_quantisation(self):
        attrs = "input_scales=[[0.5f]], input_zero_points=[[-3]], output_scales=[[1f, 2f, 3f]], output_axes=[1]"
        model = '#[version = "0.0.5"]\ndef @main(%x: Tensor[(2, 3), int8], {}) {{\n  negative(%x)\n}}\n'.format(attrs)
        text = self.succeeds("inspect", self.write("q.relay", model))
        self.assertRegex(text, r"name +type +bytes +scale +zero point\n +x +Tensor\[\(2, 3\), int8\] +6 +0\.5 +-3\n")
        self.assertRegex(text, r"Tensor\[\(2, 3\), int8\] +6 +3 by channel +3 by channel\n")
        self.assertNotIn("zero point", self.succeeds("inspect", DIGITS))

    # Model files.

    def test_missing_model(self):
        self.refuses("no such file", "compile", self.path("none.onnx"), "-o", self.out)

    def test_names_that_command_a_terminal(self):
        self.refuses("\\x1b[31mred: no such file", "compile", self.path("\x1b[31mred"), "-o", self.out)

    def test_folder_as_model(self):
        self.refuses("found a folder, wanted a file", "compile", self.folder, "-o", self.out)

    def test_empty_model(self):
        self.refuses("the file is empty", "compile", self.write("empty.onnx", ""), "-o", self.out)

    def test_truncated_model(self):
        with open(DIGITS, "rb") as file:
            model = file.read()
        for size in (1, 100, 5000, len(model) - 1):
            with self.subTest(size):
                self.refuses("cut.onnx: ", "compile", self.write("cut.onnx", model[:size]), "-o", self.out)

    def test_text_as_model(self):
        self.refuses("no Relay text, no TFLite model", "compile", self.write("notes.txt", "Dear diary\n"), "-o", self.out)

    def test_unknown_operator(self):
        model = self.write("bad.relay", UNKNOWN_OPERATOR)
        self.refuses("bad.relay:3:3: unknown operator 'no.such_operator'\n", "compile", model, "-o", self.out)

    def test_operator_that_is_misspelt(self):
        model = self.write("bad.relay", UNKNOWN_OPERATOR.replace("no.such_operator", "nn.rleu"))
        self.refuses("bad.relay:3:3: unknown operator 'nn.rleu', perhaps 'nn.relu'\n", "compile", model, "-o", self.out)

    # Shapes of inputs.

    def test_input_of_onnx(self):
        self.refuses("its inputs are image", "compile", DIGITS, "-o", self.out, "--input", "picture:1x1x8x8")
        self.refuses("wanted name:1x3x224x224", "compile", DIGITS, "-o", self.out, "--input", "image")

    def test_input_of_relay(self):
        model = self.write("rows.relay", ANY_ROWS)
        self.refuses("give the shape: --input a:shape", "compile", model, "-o", self.out)
        self.refuses("its inputs are a", "compile", model, "-o", self.out, "--input", "a:3x2", "--input", "b:3x2")
        self.refuses("does not fit its type", "compile", model, "-o", self.out, "--input", "a:3x4")
        self.refuses("wanted Tensor[(3, 2), float32]", "compile", model, "-o", self.out, "--input", "a:3x2:int8")
        self.assertIn("%a: Tensor[(3, 2), float32]", self.succeeds("compile", model, "--emit=graph", "--input", "a:3x2:float32"))
        self.assertIn("%a: Tensor[(3, 2), float32]", self.succeeds("compile", model, "--emit=graph", "--input", "a:3x2"))

    # Output.

    def test_same_bytes_twice(self):
        for model, options in (
            (DIGITS, []),
            (DIGITS, ["--executor", "graph"]),
            (DIGITS, ["--runtime", "crt"]),
            (DIGITS, ["--runtime", "crt", "--interface", "c", "--codegen", "c"]),
            (MY_MOD, ["--codegen", "c"]),
        ):
            with self.subTest(" ".join(options)):
                first, second = self.path("first"), self.path("second")
                self.succeeds("compile", model, "-o", first, *options)
                self.succeeds("compile", model, "-o", second, *options)
                self.assertEqual(self.files(first), self.files(second))

    def test_stages(self):
        for stage in ("graph", "after:fuse", "fused", "stages", "loops", "scheduled", "plan", "c", "metadata", "header"):
            with self.subTest(stage):
                self.assertNotEqual(self.succeeds("compile", DIGITS, "--emit=" + stage), "")

    def test_dump_dir(self):
        self.succeeds("compile", MY_MOD, "-o", self.out, "--dump-dir", self.path("dump"))
        self.assertEqual(sorted(os.listdir(self.path("dump")))[0], "00-graph.relay")

    # Libraries.

    def test_run_what_is_no_library(self):
        self.refuses("no such file", "run", self.path("none.so"))
        self.refuses("is not a shared object", "run", self.write("text.so", "text"))
        self.refuses("digits.onnx: is an ONNX model, wanted a compiled library: compile it first with kiln compile", "run", DIGITS)
        self.refuses("my_mod.relay: is Relay text, wanted a compiled library", "bench", MY_MOD)

    def test_from_model_to_result(self):
        self.succeeds("compile", MY_MOD, "-o", self.path("lib"))
        library = self.path("lib/my_mod.so")
        self.assertIn("module my_mod for host: called from C, C++ and Python\n", self.succeeds("inspect", library))
        inputs = ["--input", "a=random", "--input", "b=random"]
        self.assertIn("output Tensor[(1, 2), uint8]:", self.succeeds("run", library, "--output", self.path("result"), *inputs))
        check = "--check=output=" + self.path("result/output.npy")
        self.assertIn("output agrees (2 values)", self.succeeds("run", library, check, *inputs))
        found = json.loads(self.succeeds("run", library, check, *inputs, "--json"))
        self.assertEqual(list(found), ["outputs"])
        output = found["outputs"]["output"]
        self.assertEqual((output["dtype"], output["shape"], len(output["first_values"]), output["agrees"]), ("uint8", [1, 2], 2, True))
        bench = json.loads(self.succeeds("bench", library, "--seconds", "0.01", "--json"))
        self.assertEqual(
            list(bench), ["module", "executor", "threads", "runs", "min_ms", "median_ms", "mean_ms", "p99_ms"]
        )
        self.assertEqual((bench["module"], bench["executor"]), ("my_mod", "aot"))
        self.assertLessEqual(bench["min_ms"], bench["median_ms"])
        self.refuses("missing: 'b'", "run", library, "--input", "a=random")
        self.refuses("wanted name=FILE", "run", library, "--input", "a")
        result = self.kiln("run", library, "--check", "c=x.npy", *inputs)
        self.assertEqual(result.returncode, 2)
        self.assertIn("no output 'c'", result.stderr.decode())

    def test_tensors_without_elements(self):
        model = self.write(
            "empty.relay",
            '#[version = "0.0.5"]\ndef @main(%x: Tensor[(2, 2), float32], %e: Tensor[(0, 2), float32]) {\n'
            "  %0 = nn.relu(%e);\n  %1 = concatenate((%0, %x));\n  (%1, sum(%0, axis=[0]), exp(%0))\n}\n",
        )
        for executor in ("aot", "graph"):
            for codegen in CODEGENS:
                folder = self.path(executor + codegen)
                options = ["--executor", executor, "--codegen", codegen, "--passes=-fuse"]
                self.succeeds("compile", model, "-o", folder, *options)
                text = self.succeeds("run", os.path.join(folder, "empty.so"), "--input", "x=random", "--input", "e=random")
                self.assertIn("output1 Tensor[(2,), float32]: 0 0", text)
                self.assertIn("output2 Tensor[(0, 2), float32]:", text)

    def test_profile_of_the_graph_executor(self):
        self.refuses("do not go together", "compile", DIGITS, "-o", self.out, "--executor", "graph", "--profile")

    def test_float16(self):
        """Values are stored in 16 bits and computed in float32."""
        x = struct.pack("<10e", 0, -0.0, 1, -2.3, 1e-7, 6e-5, 1000.3, 26000, -65504, float("inf"))
        wide = [2.5 * value for value in struct.unpack("<10e", x)]  # exact in float32, too
        product = b"".join(half(value) for value in wide)
        total = b"".join(half(value + 0.25) for value in struct.unpack("<10e", product))
        self.write("x.npy", npy("<f2", (2, 5), x))
        expected = {
            "output0": npy("<f2", (2, 5), total),
            "output1": npy("<f2", (2, 5), x),
            "output2": npy("<f4", (2, 5), struct.pack("<10f", *struct.unpack("<10e", product))),
        }
        for name, contents in expected.items():
            self.write(name + ".npy", contents)
        model = self.write("halves.relay", HALVES)
        exact = ["--rtol", "0", "--atol", "0"] + ["--check={0}={0}.npy".format(name) for name in sorted(expected)]
        for options in ([], ["--codegen", "c"], ["--executor", "graph"], ["--executor", "graph", "--codegen", "c"]):
            with self.subTest(" ".join(options)):
                self.succeeds("compile", model, "-o", self.path("lib"), *options)
                library = self.path("lib/halves.so")
                self.assertRegex(self.succeeds("inspect", library), r"\n  x +Tensor\[\(2, 5\), float16\] +20\n")
                self.assertIn("output2 agrees", self.succeeds("run", library, "--input", "x=x.npy", *exact))

    def test_outputs_that_no_operator_makes_for_them_alone(self):
        """An input, a view of it, a constant and the same value twice are valid outputs."""
        model = self.write("outputs.relay", OUTPUTS)
        values, relu = [-1, 2, -3, 4, 5, -6], [0, 2, 0, 4, 5, 0]
        self.write("x.npy", npy("<f4", (2, 3), struct.pack("<6f", *values)))
        outputs = (((2, 3), values), ((6,), values), ((), [3]), ((2, 3), relu), ((2, 3), relu))
        checks = []
        for i, (shape, expected) in enumerate(outputs):
            self.write("{}.npy".format(i), npy("<f4", shape, struct.pack("<{}f".format(len(expected)), *expected)))
            checks.append("--check=output{0}={0}.npy".format(i))
        for options in ([], ["--executor", "graph"], ["--codegen", "c"]):
            with self.subTest(" ".join(options)):
                self.succeeds("compile", model, "-o", self.path("lib"), *options)
                text = self.succeeds("run", self.path("lib/outputs.so"), "--input", "x=x.npy", *checks)
                self.assertEqual(text.count(" agrees "), len(outputs), text)

    # Inspecting.

    def test_inspect_shows_the_same_of_model_and_library(self):
        """The metadata of a library has the model's inputs, outputs, operators, constants and memory plan."""
        target = ["--target", "x86-64-v3"]
        self.succeeds("compile", DIGITS, "-o", self.path("lib"), *target)
        of_model = self.succeeds("inspect", DIGITS, *target)
        self.assertEqual(of_model, self.succeeds("inspect", self.path("lib/digits.so")))
        for line in (
            r"module digits for x86-64-v3: called from C, C\+\+ and Python",
            r"executor aot, runtime cpp, interface packed",
            r"  image  Tensor\[\(1, 1, 8, 8\), float32\]    256",
            r"  probabilities  Tensor\[\(1, 10\), float32\]     40",
            r"     0       20480             640            448  contraction .*  nn.conv2d nn.bias_add nn.relu \(conv1 relu1\)",
            r"constants: \d+ bytes",
            r"memory plan: workspace (\d+) bytes, lower bound \1 bytes, aligned to 64",
            r"       0    448    0-0  #\.\.\.\.\.\.\.  scratch1",
            r"machine: x86-64 \(estimated\)",
        ):
            self.assertRegex(of_model, "(?m)^" + line + "$")

    def test_winograd_can_be_switched_off(self):
        model = self.path("conv.relay")
        self.write("conv.relay", CONVOLUTION)
        options = ("compile", model, "--emit", "metadata", "--target", "x86-64-v3")
        self.assertIn('"schedule": "winograd F(4x4,3x3)', self.succeeds(*options))
        self.assertIn('"schedule": "contraction ', self.succeeds(*options, "--no-winograd"))

    @needs_llvm
    def test_products_of_bfloat16(self):
        has = ("--target", "x86-64-v4 -mattr=+avx512bf16")
        allowed = self.kiln("compile", DIGITS, "-o", self.path("lib"), *has, "--allow", "bf16")
        self.assertEqual((allowed.returncode, b"note" in allowed.stderr), (0, False), allowed.stderr)
        of_library = self.succeeds("inspect", self.path("lib/digits.so"))
        self.assertRegex(of_library, r"\n *0 .* vdpbf16ps stored rows +nn.conv2d ")
        self.assertRegex(of_library, r"\nproducts of bfloat16: in \d of 8 operators\n")
        # A line before the report states if this CPU cannot run the library. It is removed here.
        of_library = of_library[of_library.index("module digits ") :]
        self.assertEqual(of_library, self.succeeds("inspect", DIGITS, *has, "--allow", "bf16"))
        assembly = ("compile", DIGITS, "--emit", "asm", *has)
        self.assertIn("vdpbf16ps", self.succeeds(*assembly, "--allow", "bf16"))
        self.assertNotIn("vdpbf16ps", self.succeeds(*assembly))
        without = self.succeeds("inspect", DIGITS, *has)
        self.assertNotRegex(without, "vdpbf16ps|products of bfloat16")
        self.refuses("--allow: found 'fp8', wanted one of bf16", *assembly, "--allow", "bf16,fp8")

    @needs_llvm
    def test_products_of_float32_by_amx(self):
        """Such products keep all bits, so no permission is needed. Without the CPU feature they are not used."""
        model = self.write("dense.relay", DENSE)
        has = ("--target", "x86-64-v4 -mattr=+amx-tile,+amx-bf16")
        text = self.succeeds("inspect", model, *has)
        self.assertIn(" tdpbf16ps of float32 stored rows ", text)
        self.assertNotIn("products of bfloat16", text)
        self.assertIn("products of bfloat16: in 1 of 1 operators", self.succeeds("inspect", model, *has, "--allow", "bf16"))
        self.assertNotIn("tdpbf16ps", self.succeeds("inspect", model, "--target", "x86-64-v4"))

    @needs_llvm
    def test_what_is_allowed_in_vain(self):
        """A permission that the target or the model cannot use gives a note and changes nothing."""
        lacks = ("compile", DIGITS, "--target", "x86-64-v4")
        allowed, not_allowed = (self.without_checksums(self.succeeds(*lacks, "--emit", "asm", *options)) for options in (["--allow", "bf16"], []))
        self.assertEqual(allowed, not_allowed)
        said = self.kiln(*lacks, "-o", self.path("lib"), "--allow", "bf16").stderr.decode()
        self.assertIn(
            "kiln: note: --allow bf16 has no effect on x86-64-v4, which has no instruction for products of bfloat16; "
            "machines with vdpbf16ps have -mattr=+avx512bf16\n",
            said,
        )
        self.write("relu.relay", ANY_ROWS.replace("?", "3"))
        has = ("--target", "x86-64-v4 -mattr=+avx512bf16")
        said = self.kiln("compile", self.path("relu.relay"), "-o", self.path("lib"), *has, "--allow", "bf16").stderr.decode()
        self.assertIn("kiln: note: --allow bf16 has no effect: no operator of this model multiplies floats by constants", said)

    def test_what_code_is_made_for(self):
        options = ("compile", DIGITS, "--emit", "c", "--runtime", "crt", "--interface", "c", "--codegen", "c", "--target", "cortex-m4f")
        codes = [self.succeeds(*options, "--optimize", name) for name in ("size", "balanced", "speed")]
        self.assertEqual(codes[2], self.succeeds(*options))
        self.assertLess(len(codes[0]), len(codes[2]))
        self.assertLessEqual(len(codes[1]), len(codes[2]))

    def test_inspect_numbers_are_those_of_the_metadata(self):
        options = ["--target", "x86-64-v3", "--executor", "graph"]
        self.succeeds("compile", DIGITS, "-o", self.path("lib"), *options)
        metadata = json.loads(self.files(self.path("lib"))["digits.metadata.json"])
        text = self.succeeds("inspect", "--load", self.path("lib/digits.so"))
        self.assertIn("constants: {} bytes".format(metadata["functions"][0]["constant_size_bytes"]), text)
        self.assertIn("lower bound {} bytes".format(metadata["pools"][0]["lower_bound_bytes"]), text)
        self.assertRegex(text, r"\nthe graph executor keeps its tensors in \d+ bytes of storages\n$")
        for function in metadata["functions"][1:]:
            self.assertIn("  {} ({})\n".format(function["op_names"], function["source"]).replace(" ()", ""), text)
            self.assertIn("  " + function["schedule"] + "  ", text)
        for buffer in metadata["pools"][0]["buffers"]:
            self.assertRegex(text, r"(?m)^ +{offset_bytes} +{size_bytes} +{first_call}-{last_call}  [.#]+  {name}$".format(**buffer))

    def test_inspect_for_firmware(self):
        text = self.succeeds("inspect", DIGITS, "--target", "cortex-m4f")
        self.assertIn("module digits for cortex-m4f: called from C and C++\nexecutor aot, runtime crt, interface c\n", text)
        text = self.succeeds("inspect", DIGITS, "--target", "cortex-m4f", "--runtime", "crt")
        self.assertIn("module digits for cortex-m4f: called from C, by name\nexecutor aot, runtime crt, interface packed\n", text)

    @needs_llvm
    def test_inspect_an_object(self):
        options = ["--runtime", "crt", "--interface", "c", "--target", "cortex-m4f"]
        self.succeeds("compile", DIGITS, "-o", self.path("object"), *options)
        text = self.succeeds("inspect", self.path("object/digits.o"))
        self.assertRegex(text, r"^flash: 1\d{5} bytes\nRAM: \d+ bytes, .*\nstack: \d+ bytes in tvmgen_digits_run_with_workspace")
        self.assertGreater(json.loads(self.succeeds("inspect", "--json", self.path("object/digits.o")))["stack_bytes"], 50)
        self.refuses("is no object (.o), which --stack-usage is for", "inspect", "--stack-usage", "x.su", DIGITS)

    def test_inspect_without_workspace(self):
        text = self.succeeds("inspect", MY_MOD)
        self.assertIn("memory plan: workspace 0 bytes, lower bound 0 bytes, aligned to 64\n  none\n", text)

    def test_inspect_long_models(self):
        """The bars of the memory plan fit on a screen: each character represents several calls."""
        calls = "".join("  %{} = nn.softmax(%{});\n".format(i + 1, i) for i in range(100))
        model = self.write(
            "long.relay", '#[version = "0.0.5"]\ndef @main(%x: Tensor[(2, 4), float32]) {\n  %0 = nn.softmax(%x);\n' + calls + "  %100\n}\n"
        )
        text = self.succeeds("inspect", model)
        self.assertRegex(text, r"(?m)^ +0 +32 +0-1  #\.{33}  t1$")

    def test_inspect_refuses(self):
        self.refuses("no such file", "inspect", self.path("none.so"))
        self.refuses("no Relay text, no TFLite model", "inspect", self.write("notes.txt", "Dear diary\n"))
        self.succeeds("compile", MY_MOD, "-o", self.path("crt"), "--runtime", "crt", "--codegen", "c")
        self.refuses("no Relay text, no TFLite model", "inspect", self.path("crt/my_mod.c"))
        self.refuses("cut.so: its ELF header is damaged or cut off", "inspect", self.write("cut.so", b"\x7fELF" + b"\0" * 60))
        self.refuses("is not a shared object", "inspect", "--load", self.path("cut.so"))


if __name__ == "__main__":
    unittest.main()
