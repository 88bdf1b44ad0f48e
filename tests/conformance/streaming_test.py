# SPDX-License-Identifier: Apache-2.0
"""Streaming models that keep their state, on this machine and in QEMU, compared with TFLite Micro's steps or with the
steps of a model with explicit state.

Cases are skipped if the folder KILN_SHARED_DATA, QEMU or the cross compiler is missing.
"""

import json
import os
import re
import shutil
import subprocess
import unittest

from tests.cli.cli_case import CODEGENS, CliCase, npy
from tests.conformance.array_file import ArrayFile

DATA = os.environ.get("KILN_SHARED_DATA", "")
PROGRAM = os.path.abspath("tests/conformance/stream_program.c")
INCLUDE = os.path.abspath("runtime_crt/include")
C_INTERFACE = ["--module-name", "m", "--runtime", "crt", "--interface", "c"]
BOARD = "cortex-m4f"

# Rows of models.json with a state that is kept. `variables`: bytes of the model's variables. `ram_before`: bytes of RAM
# with states as inputs and outputs (workspace, old and new state). Floats are not exact.
GOLDEN = {
    "mww_okay_nabu_v2": {"variables": 3472, "ram_before": 8864},
    "dtln": {"variables": 768, "ram_before": 3328},
}

# Models with their state as inputs and outputs: the pairs of input and output, and shapes if the file has none.
PAIRS = {
    "lstm2_tmc": {
        "model": "tflite_models/lstm2_tmc/model.tflite",
        "state": {"state_h": "lstm_1/mul_5", "state_c": "lstm_1/add_3"},
        "input": "tflite_models/lstm2_tmc/lcg3.in_0.npy",
        "copied": 0,
    },
    "dtln_1": {
        "model": "onnx_models/dtln_1/model.onnx",
        "options": ["--input", "input_2:1x1x257", "--input", "input_3:1x2x128x2"],
        "state": {"input_3": "tf_op_layer_stack_2"},
        "input": "onnx_models/dtln_1/step0.in_0.npy",
        "copied": 0,
    },
}


class StreamingTest(CliCase):
    def setUp(self):
        super().setUp()
        if not DATA:
            self.skipTest("KILN_SHARED_DATA does not name the folder with the models")

    def build(self, model, codegen, *options):
        """Builds the program of a model for this machine. Returns its metadata."""
        shutil.rmtree(self.out, ignore_errors=True)
        self.succeeds("compile", os.path.join(DATA, model), "-o", self.out, "--codegen", codegen, *C_INTERFACE, *options)
        code = self.path("out/m.o" if codegen == "llvm" else "out/m.c")
        command = ["gcc", "-std=c99", "-O1", "-ffp-contract=off", "-w", "-DMODEL=m", "-I" + INCLUDE, "-I" + self.out]
        subprocess.run(command + [PROGRAM, self.path("out/m_model.c"), code, "-lm", "-o", self.path("program")], check=True)
        with open(self.path("out/m.metadata.json"), encoding="utf-8") as file:
            return json.load(file)

    def run_steps(self, data):
        return subprocess.run([self.path("program")], input=data, stdout=subprocess.PIPE, check=True).stdout

    def metadata(self, model, *options):
        return json.loads(
            self.succeeds("compile", os.path.join(DATA, model), *C_INTERFACE, "--target", BOARD, "--emit=metadata", *options)
        )

    def skip_without_board(self):
        missing = [name for name in ("qemu-system-arm", "arm-none-eabi-gcc") if not shutil.which(name)]
        if missing or "llvm" not in CODEGENS:
            self.skipTest("no " + ", ".join(missing or ["llvm"]))

    def tensors(self, metadata, first, count):
        return [(p["relay_name_hint"], p["size_bytes"], p["shape"]) for p in metadata["functions"][0]["parameters"][first : first + count]]

    def by_pairs(self, row, codegen, steps):
        """Returns the outputs of each step, except the state, if the caller passes the state on."""
        metadata = self.build(row["model"], codegen, "--target", "x86-64", *row.get("options", []))
        main = metadata["functions"][0]
        inputs = self.tensors(metadata, 0, main["num_inputs"])
        outputs = self.tensors(metadata, main["num_inputs"], main["num_outputs"])
        state = {name: bytes(size) for name, size, _ in inputs if name in row["state"]}
        made = b""
        for step in steps:
            data = self.run_steps(b"".join(state.get(name, step) for name, _, _ in inputs))
            found = {}
            for name, size, _ in outputs:
                found[name], data = data[:size], data[size:]
                if name not in row["state"].values():
                    made += found[name]
            state = {name: found[output] for name, output in row["state"].items()}
        return made

    def flags(self, row):
        return [flag for pair in row["state"].items() for flag in ("--state", "=".join(pair))] + row.get("options", [])

    def check_golden(self, row, sizes):
        inputs, expected = (ArrayFile(os.path.join(DATA, row[key][0])) for key in ("inputs", "expected"))
        for codegen in CODEGENS:
            self.build(row["model"], codegen, "--target", "x86-64")
            self.assertEqual(self.run_steps(inputs.bytes), expected.bytes, codegen)
        metadata = self.metadata(row["model"])
        block = [pool["size_bytes"] for pool in metadata["pools"] if pool["kind"] == "STATE"]
        self.assertEqual(len(block), 1)
        main = metadata["functions"][0]
        self.assertGreaterEqual(block[0], sizes["variables"])
        self.assertLess(block[0] + main["workspace_size_bytes"], sizes["ram_before"])
        self.assertEqual((main["num_inputs"], main["num_outputs"]), (1, 1))
        self.skip_without_board()
        files = [os.path.join(DATA, row[key][0]) for key in ("inputs", "expected")]
        self.succeeds(
            "validate", os.path.join(DATA, row["model"]), "--target", BOARD, "--inputs", files[0], "--expected", files[1]
        )

    def check_pairs(self, row):
        array = ArrayFile(os.path.join(DATA, row["input"]))
        metadata = self.metadata(row["model"], *self.flags(row))
        ((name, size, shape),) = self.tensors(metadata, 0, 1)
        ((output, output_size, output_shape),) = self.tensors(metadata, 1, metadata["functions"][0]["num_outputs"])
        self.assertEqual(sum(state["is_copied"] for state in metadata["states"]), row["copied"])
        # Six different steps from the available data.
        values = (array.bytes * 6)[: 6 * size]
        steps = [values[i * size : (i + 1) * size] for i in range(6)]
        steps[3] = bytes(size)
        for codegen in CODEGENS:
            wanted = self.by_pairs(row, codegen, steps)
            self.assertEqual(len(wanted), 6 * output_size)
            self.build(row["model"], codegen, "--target", "x86-64", *self.flags(row))
            self.assertEqual(self.run_steps(b"".join(steps)), wanted, codegen)
        self.skip_without_board()
        inputs = self.write("x.npy", npy("<f4", (6, *shape), b"".join(steps)))
        expected = self.write("y.npy", npy("<f4", (6, *output_shape), wanted))
        self.succeeds(
            "validate",
            os.path.join(DATA, row["model"]),
            "--target",
            BOARD,
            "--inputs",
            name + "=" + inputs,
            "--expected",
            output + "=" + expected,
            *self.flags(row),
        )


def add_cases():
    with open("tests/conformance/models.json", encoding="utf-8") as file:
        rows = {row["name"]: row for row in json.load(file)}
    for name, sizes in GOLDEN.items():

        def golden(self, row=rows[name], sizes=sizes):
            self.check_golden(row, sizes)

        setattr(StreamingTest, "test_" + name, golden)
    for name, pair in PAIRS.items():

        def pairs(self, row=pair):
            self.check_pairs(row)

        setattr(StreamingTest, "test_pairs_of_" + re.sub(r"\W", "_", name), pairs)


add_cases()

if __name__ == "__main__":
    unittest.main()
