# SPDX-License-Identifier: Apache-2.0
"""Every fact of the metadata with a macro in metadata/README.md is in the header, and every macro of the header comes
from the metadata."""

import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest

KILN = os.path.abspath("tools/kiln/kiln")
MODELS = [os.path.abspath(path) for path in sys.argv[1:]]
# Macros that are not facts of a model.
GUARDS = re.compile(r"_H_$|^KILN_TENSOR_REF_$")
KEYS = ("workspace_size_bytes", "io_size_bytes", "constant_size_bytes", "num_inputs", "num_outputs")


def float32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def macros_of(header):
    """Returns the text of every macro of the metadata, by name."""
    found = dict(re.findall(r"^#define (TVMGEN_\w+) (.+)$", header, re.MULTILINE))
    return {name: text for name, text in found.items() if not GUARDS.search(name)}


def member(name):
    """Returns the member name of a tensor, by the part of the naming rules that these models need."""
    identifier = re.sub(r"[^A-Za-z0-9_]", "_", name)
    if identifier[0].isdigit():
        identifier = "_" + identifier
    return identifier + "_" if identifier in ("int", "short", "return", "float") else identifier


def macros_of_tensor(prefix, tensor):
    expected = {prefix + "SIZE_BYTES": tensor["size_bytes"], prefix + "NDIM": len(tensor["shape"]), prefix + "DTYPE": tensor["dtype"]}
    if tensor["shape"]:
        expected[prefix + "SHAPE"] = tensor["shape"]
    quantization = tensor.get("quantization")
    if quantization and len(quantization["scales"]) == 1:
        expected[prefix + "SCALE"] = float32(quantization["scales"][0])
        expected[prefix + "ZERO_POINT"] = quantization["zero_points"][0]
    return expected


def macros_of_state(module, metadata):
    """Returns the expected macros of a model that keeps its state."""
    block = next(pool for pool in metadata["pools"] if pool["kind"] == "STATE")
    expected = {
        module + "_STATE_SIZE_BYTES": block["size_bytes"],
        module + "_STATE_ALIGNMENT_BYTES": block["alignment_bytes"],
        module + "_NUM_STATES": len(metadata["states"]),
    }
    for state in metadata["states"]:
        prefix = "{}_STATE_{}_".format(module, member(state["tensor"]["relay_name_hint"]).upper())
        expected[prefix + "OFFSET_BYTES"] = state["tensor"]["place"]["offset_bytes"]
        expected[prefix + "INITIAL_VALUE"] = state["initial_value"]
        expected.update(macros_of_tensor(prefix, state["tensor"]))
    return expected


def macros_from(metadata):
    """Returns the value of every macro that follows from the metadata, by name."""
    module = "TVMGEN_" + metadata["module_name"].upper()
    main = metadata["functions"][0]
    expected = {"{}_{}".format(module, key.upper()): main[key] for key in KEYS}
    if metadata["interface_api"] == "c":
        # TVM's name for the same size.
        expected[module + "_WORKSPACE_SIZE"] = main["workspace_size_bytes"]
    for pool in metadata["pools"] if metadata["interface_api"] == "c" else []:
        if pool["kind"] not in ("WORKSPACE", "STATE"):
            continue
        if pool["external"]:
            prefix = "{}_{}_WORKSPACE_POOL".format(module, pool["name"].upper())
            expected[prefix + "_SIZE"] = expected[prefix + "_SIZE_BYTES"] = pool["size_bytes"]
            expected[prefix + "_ALIGNMENT_BYTES"] = pool["alignment_bytes"]
        elif pool["kind"] == "WORKSPACE" and pool["size_bytes"] > 0:
            expected[module + "_WORKSPACE_ALIGNMENT_BYTES"] = pool["alignment_bytes"]
    for i, tensor in enumerate(main["parameters"]):
        direction, index = ("INPUT", i) if i < main["num_inputs"] else ("OUTPUT", i - main["num_inputs"])
        prefix = "{}_{}_{}_".format(module, direction, member(tensor["relay_name_hint"]).upper())
        expected[prefix + "INDEX"] = index
        expected.update(macros_of_tensor(prefix, tensor))
    if metadata["interface_api"] == "c" and metadata["states"]:
        expected.update(macros_of_state(module, metadata))
    return expected


def value_of(text, macros):
    """Returns the value of a macro's text as in the JSON. If the text is the name of another macro, returns that
    macro's value."""
    text = macros.get(text, text)
    if text.startswith('"'):
        return text.strip('"')
    if text.startswith("{"):
        return [int(extent) for extent in text.strip("{}").split(",")]
    return float32(float(text[:-1])) if text.endswith("f") else int(text)


class DefinesTest(unittest.TestCase):
    def check(self, model, *options):
        with tempfile.TemporaryDirectory() as folder:
            command = [KILN, "compile", model, "-o", folder, "--module-name", "Model", "--runtime", "crt", "--codegen", "c", "--target", "x86-64"]
            subprocess.run(command + list(options), check=True)
            with open(os.path.join(folder, "Model.h")) as file:
                header = file.read()
            with open(os.path.join(folder, "Model.metadata.json")) as file:
                metadata = json.load(file)
        macros = macros_of(header)
        found = {name: value_of(text, macros) for name, text in macros.items()}
        self.assertEqual(found, macros_from(metadata))
        return found

    def test_both_ways_over_every_model(self):
        self.assertGreater(len(MODELS), 4)
        for model in MODELS:
            for options in (["--interface", "c"], [], ["--executor", "graph"], ["--interface", "c", "--pool", "tcm:any:64:2", "--pool", "ram:any"]):
                with self.subTest(os.path.basename(model) + " " + " ".join(options)):
                    self.check(model, *options)

    def test_quantised_tensors(self):
        with tempfile.NamedTemporaryFile("w", suffix=".relay") as file:
            file.write(
                '#[version = "0.0.5"]\ndef @main(%x: Tensor[(2, 3), int8], %y: Tensor[(2, 3), int8], input_scales=[[0.1f], []], '
                "input_zero_points=[[-3], []], output_scales=[[0.5f, 0.25f, 2f]], output_axes=[1]) {\n  add(%x, %y)\n}\n"
            )
            file.flush()
            found = self.check(file.name, "--interface", "c")
        self.assertEqual(found["TVMGEN_MODEL_INPUT_X_ZERO_POINT"], -3)
        self.assertEqual(found["TVMGEN_MODEL_INPUT_X_SCALE"], float32(0.1))
        self.assertNotIn("TVMGEN_MODEL_INPUT_Y_SCALE", found)
        self.assertNotIn("TVMGEN_MODEL_OUTPUT_OUTPUT_SCALE", found)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
