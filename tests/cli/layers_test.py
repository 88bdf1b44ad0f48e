# SPDX-License-Identifier: Apache-2.0
"""`kiln inspect MODEL --target`: the resources of each layer on a microcontroller, without a cross compiler."""

import json
import os
import re
import shutil
import subprocess
import unittest

from tests.cli.cli_case import CODEGENS, DIGITS, KILN, CliCase, needs_llvm

C_INTERFACE = ["--runtime", "crt", "--interface", "c"]
KWS = os.path.join(os.environ.get("KILN_SHARED_DATA", ""), "mlperf_tiny/kws/kws_ref_model.tflite")

# Convolutions that need less RAM if they are computed in strips of rows. --optimize speed does not do this for them.
CHAIN = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 16, 8, 8), float32]) {
  %0 = nn.conv2d(%x, full(2f, shape=[16, 3, 3, 8], dtype="float32"), padding=[1, 1], data_layout="NHWC", kernel_layout="OHWI");
  %1 = nn.conv2d(%0, full(3f, shape=[8, 3, 3, 16], dtype="float32"), padding=[1, 1], data_layout="NHWC", kernel_layout="OHWI");
  add(%1, %x)
}
"""

# A convolution for Winograd's filtering.
FILTERED = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 64, 28, 28), float32]) {
  nn.conv2d(%x, full(2f, shape=[64, 64, 3, 3], dtype="float32"), padding=[1, 1])
}
"""

WINDOWS = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 14, 14, 32), int8]) {{
  %0 = qnn.conv2d(%x, full(3i8, shape=[1, {taps}, {taps}, 32], dtype="int8"), 3, 0, 0.5f, 0.25f, padding=[{pad}, {pad}],
    strides=[{stride}, {stride}], groups=32, data_layout="NHWC", kernel_layout="IHWO", out_dtype="int32");
  qnn.requantize(%0, 0.125f, 0, 0.5f, 2, out_dtype="int8")
}}
"""


class LayersTest(CliCase):
    def layers(self, text):
        """Returns the rows of the table by the name of the layer: MACs (if the layer has any), code, constants, RAM,
        stack."""
        table = text.split("layers, sizes in bytes:\n")[1].split("\n\n")[0].splitlines()[1:]
        rows = [re.split("  +", row.strip()) for row in table]
        return {row[0]: [int(cell) for cell in row[2:]] for row in rows}

    def figure(self, text, name):
        return int(re.search(r"^{}: (\d+)".format(name), text, re.M).group(1))

    @needs_llvm
    def test_weights_that_grow(self):
        """The report says if weights take more bytes in the library than in the model."""
        model = self.write("filtered.relay", FILTERED)
        text = self.succeeds("inspect", model, "--target", "x86-64-v3")
        line = r"weights in the form of Winograd's filtering: (\S+) MB, about (\S+) MB in the model; --no-winograd keeps their size"
        found = re.search(line, text)
        self.assertIsNotNone(found, text)
        after, before = map(float, found.groups())
        self.assertAlmostEqual(before, 64 * 64 * 9 * 4 / 1e6, delta=0.02)
        self.assertGreater(after, 1.7 * before)
        self.assertNotIn("Winograd's filtering", self.succeeds("inspect", model, "--target", "x86-64-v3", "--no-winograd"))

    @needs_llvm
    def test_options_of_compile(self):
        """inspect reports the same about a model as about the result of compile with the same options."""
        firmware = ["--target", "cortex-m4f", "--runtime", "crt", "--interface", "c"]
        for number, options in enumerate(
            (
                firmware + ["--optimize", "size"],
                firmware + ["--no-overlap"],
                firmware + ["--workspace-io", "--codegen", "c"],
                firmware + ["--pool", "fast:8K:16:4", "--pool", "slow:any"],
                ["--executor", "graph", "--target", "x86-64-v3"],
                ["--module-name", "other", "--passes=-fuse", "--threads", "1"],
            )
        ):
            with self.subTest(" ".join(options)):
                folder = "options{}".format(number)
                self.succeeds("compile", DIGITS, "-o", self.path(folder), *options)
                (path,) = [name for name in os.listdir(self.path(folder)) if name.endswith(".metadata.json")]
                with open(self.path(folder + "/" + path)) as file:
                    found = json.loads(self.succeeds("inspect", "--json", DIGITS, *options))
                    machines = found.pop("machines")
                    self.assertEqual(found, json.load(file))
                    self.assertEqual(len(machines), max(1, len(found["cpu_variants"])))
        (machine,) = json.loads(self.succeeds("inspect", "--json", DIGITS, "--target", "x86-64 -mcpu=znver4"))["machines"]
        self.assertEqual((machine["target"], machine["name"]), ("x86-64 -mcpu=znver4", "zen4"))
        self.assertIn("Zen 4", machine["measured_on"])
        # Firmware has the C interface unless another interface is given.
        interfaces = (([], "c"), (["--runtime", "crt"], "packed"), (["--executor", "graph"], "packed"))
        for options, interface in interfaces:
            metadata = json.loads(self.succeeds("inspect", "--json", DIGITS, "--target", "cortex-m4f", *options))
            self.assertEqual((metadata["runtime"], metadata["interface_api"]), ("crt", interface))
        self.refuses("--optimize: found 'fast', wanted one of", "inspect", DIGITS, "--optimize", "fast")

    @needs_llvm
    def test_choices(self):
        """One row per value of --optimize, as inspect reports it for the compiled model; the smallest RAM first."""
        text = self.succeeds("inspect", DIGITS, "--target", "cortex-m4f", "--choices")
        rows = [row.split() for row in text.splitlines()[2:6]]
        self.assertEqual({row[0] for row in rows}, {"speed", "balanced", "size", "ram"})
        self.assertEqual([int(row[1]) for row in rows], sorted(int(row[1]) for row in rows))
        for row in rows:
            said = self.succeeds("inspect", DIGITS, "--target", "cortex-m4f", "--optimize", row[0])
            workspace = int(re.search(r"memory plan: workspace (\d+) bytes", said).group(1))
            self.assertEqual([int(cell) for cell in row[1:4]], [workspace, self.figure(said, "flash"), self.figure(said, "stack")])
        # QEMU has no board with this core.
        self.assertIn("instructions: ", self.succeeds("inspect", DIGITS, "--target", "cortex-m85", "--choices"))
        self.refuses("--choices: found --target", "inspect", DIGITS, "--choices")
        self.refuses("--optimize excludes --choices", "inspect", DIGITS, "--target", "cortex-m4f", "--choices", "--optimize", "size")
        self.succeeds("compile", DIGITS, "-o", self.path("digits"))
        self.refuses("is compiled already", "inspect", self.path("digits/digits.so"), "--choices")

    @unittest.skipUnless(shutil.which("arm-none-eabi-gcc") and shutil.which("qemu-system-arm"), "no cross compiler or no QEMU")
    def test_choices_of_c(self):
        """The cross compiler gives flash and stack. The firmware also runs with pools of the application."""
        model = self.write("chain.relay", CHAIN)
        for codegen in CODEGENS:
            for options in ([], ["--workspace-io"], ["--pool", "sram:any"]):
                with self.subTest(codegen=codegen, options=options):
                    found = json.loads(self.succeeds("inspect", model, "--target", "cortex-m4f", "--choices", "--json", "--codegen", codegen, *options))
                    self.assertEqual(found["refused"], [])
                    rows = {row["optimize"]: row for row in found["choices"]}
                    self.assertEqual(set(rows), {"speed", "balanced", "size", "ram"})
                    self.assertEqual(found["choices"][0]["optimize"], "ram")
                    self.assertLess(rows["ram"]["workspace_bytes"], rows["speed"]["workspace_bytes"])
                    for row in rows.values():
                        self.assertEqual(row["state_bytes"], 0)
                        self.assertGreater(row["instructions"], 1000)
                        self.assertGreater(row["flash_bytes"], 1000)
                        self.assertGreater(row["stack_bytes"], 0)
        text = self.succeeds("inspect", model, "--target", "cortex-m4f", "--choices", "--codegen", "c")
        self.assertEqual(text.splitlines()[2].split(), [str(cell) for cell in self.row_of(model, "ram")])
        folder = self.path("c")
        self.succeeds("compile", model, "-o", folder, "--target", "cortex-m4f", "--codegen", "c", "--optimize", "ram", *C_INTERFACE)
        command = ["arm-none-eabi-gcc", "-O2", "-std=gnu99", "-ffp-contract=off", "-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard",
                   "-mfpu=fpv4-sp-d16", "-ffunction-sections", "-fdata-sections", "-c", "chain.c", "-o", "chain.o"]
        subprocess.run(command, cwd=folder, check=True)
        self.assertEqual(self.row_of(model, "ram")[2], self.figure(self.succeeds("inspect", self.path("c/chain.o")), "flash"))

    @unittest.skipUnless(shutil.which("arm-none-eabi-gcc") and shutil.which("qemu-system-arm"), "no cross compiler or no QEMU")
    def test_wide_windows_take_few_instructions(self):
        """Depthwise convolutions of 5 x 5 and 7 x 7 take at most 3 instructions per multiply-accumulate on a Cortex-M4F."""
        for taps, stride in ((5, 1), (5, 2), (7, 1), (7, 2)):
            model = self.write("windows.relay", WINDOWS.format(taps=taps, pad=taps // 2, stride=stride))
            macs = (14 // stride) ** 2 * 32 * taps**2
            for codegen in CODEGENS:
                with self.subTest(taps=taps, stride=stride, codegen=codegen):
                    options = ["--target", "cortex-m4f", "--choices", "--json", "--codegen", codegen]
                    rows = json.loads(self.succeeds("inspect", model, *options))["choices"]
                    (instructions,) = [row["instructions"] for row in rows if row["optimize"] == "speed"]
                    self.assertLessEqual(instructions, 3 * macs)

    def row_of(self, model, value):
        found = json.loads(self.succeeds("inspect", model, "--target", "cortex-m4f", "--choices", "--json", "--codegen", "c"))
        (row,) = [row for row in found["choices"] if row["optimize"] == value]
        return [row["optimize"], row["workspace_bytes"], row["flash_bytes"], row["stack_bytes"], row["instructions"]]

    def test_choices_without_a_cross_compiler(self):
        """Unknown figures are "-" and null, and lines of text give the reason."""
        command = [KILN, "inspect", self.write("chain.relay", CHAIN), "--target", "cortex-m4f", "--choices", "--codegen", "c"]
        text = subprocess.run(command, stdout=subprocess.PIPE, env={"PATH": self.folder}, check=True).stdout.decode()
        self.assertEqual(text.splitlines()[2].split()[2:], ["-", "-", "-"])
        self.assertIn("flash and stack: 'arm-none-eabi-gcc' makes the code of C, and cannot be run", text)
        self.assertIn("\ninstructions: ", text)
        text = subprocess.run(command + ["--json"], stdout=subprocess.PIPE, env={"PATH": self.folder}, check=True).stdout
        row = json.loads(text)["choices"][0]
        self.assertEqual((row["flash_bytes"], row["stack_bytes"], row["instructions"]), (None, None, None))

    @needs_llvm
    def test_layers_and_sums(self):
        text = self.succeeds("inspect", DIGITS, "--target", "cortex-m4f")
        layers = self.layers(text)
        self.assertEqual(layers["conv1 relu1"][0], 8 * 8 * 16 * 9)
        self.assertEqual(layers["conv2 relu2"][0], 8 * 8 * 32 * 16 * 9)
        self.assertEqual(layers["dense"][0], 256 * 10)
        macs = [row[0] for row in layers.values() if len(row) == 5]
        self.assertEqual(self.figure(text, "MACs"), sum(macs))
        workspace = int(re.search(r"memory plan: workspace (\d+) bytes", text).group(1))
        self.assertEqual(max(row[-2] for row in layers.values()), workspace)
        # The figures are the same as for the object that would be flashed.
        self.succeeds("compile", DIGITS, "-o", "out", "--module-name", "digits", "--target", "cortex-m4f", *C_INTERFACE)
        linked = self.succeeds("inspect", "out/digits.o")
        for name in ("flash", "RAM", "stack"):
            self.assertEqual(self.figure(text, name), self.figure(linked, name), name)
        self.assertGreaterEqual(self.figure(text, "flash"), sum(row[-4] + row[-3] for row in layers.values()))
        self.assertGreaterEqual(self.figure(text, "stack"), max(row[-1] for row in layers.values()))

    def test_macs(self):
        """Models of one operator: number of multiply-adds, parameters, and call."""
        for macs, parameters, call in (
            (4 * 4 * 16 * 27, "%x: Tensor[(1, 8, 8, 3), float32], %w: Tensor[(3, 3, 3, 16), float32]", 'nn.conv2d(%x, %w, strides=[2, 2], padding=[1, 1], data_layout="NHWC", kernel_layout="HWIO")'),
            (8 * 8 * 16 * 9, "%x: Tensor[(1, 16, 8, 8), float32], %w: Tensor[(16, 1, 3, 3), float32]", "nn.conv2d(%x, %w, padding=[1, 1], groups=16)"),
            (8 * 8 * 3 * 4 * 4, "%x: Tensor[(1, 3, 8, 8), float32], %w: Tensor[(3, 4, 2, 2), float32]", "nn.conv2d_transpose(%x, %w, strides=[2, 2])"),
            (2 * 5 * 10, "%x: Tensor[(2, 10), float32], %w: Tensor[(5, 10), float32]", "nn.dense(%x, %w)"),
            (3 * 4 * 5 * 6, "%a: Tensor[(3, 4, 6), float32], %b: Tensor[(3, 5, 6), float32]", "nn.batch_matmul(%a, %b, transpose_b=True)"),
            (3 * 4 * 5 * 6, "%a: Tensor[(3, 6, 4), float32], %b: Tensor[(3, 6, 5), float32]", "nn.batch_matmul(%a, %b, transpose_a=True, transpose_b=False)"),
            (0, "%x: Tensor[(2, 10), float32]", "nn.relu(%x)"),
        ):
            with self.subTest(call):
                model = self.write("m.relay", '#[version = "0.0.5"]\ndef @main({}) {{\n  {}\n}}\n'.format(parameters, call))
                self.assertEqual(self.figure(self.succeeds("inspect", model, "--target", "cortex-m4f"), "MACs"), macs)

    def test_a_machine_that_llvm_does_not_know(self):
        text = self.succeeds("inspect", DIGITS, "--target", "xtensa-esp32-elf")
        self.assertIn("bytes of constants, and the code, which a compiler makes of C\n", text)
        self.assertIn("conv1 relu1", text)

    def test_no_layers_of_a_server(self):
        self.assertNotIn("layers, sizes", self.succeeds("inspect", DIGITS))

    @unittest.skipUnless(os.path.exists(KWS), "KILN_SHARED_DATA is not set")
    def test_tables_fit_the_terminal(self):
        for columns in (80, 120):
            text = self.in_terminal(columns, "inspect", KWS, "--target", "cortex-m4f")
            self.assertLessEqual(max(len(line) for line in text.splitlines()[1:]), columns)
            self.assertIn("…", text)
            self.assertIn("MACs: 2656768\n", text)


if __name__ == "__main__":
    unittest.main()
