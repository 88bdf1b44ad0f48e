# SPDX-License-Identifier: Apache-2.0
"""Compares scales and zero points in the headers of real models with the values in the model files. Skipped if
KILN_SHARED_DATA is not set."""

import os
import re
import subprocess
import struct
import unittest

KILN = os.path.abspath("tools/kiln/kiln")
DATA = os.environ.get("KILN_SHARED_DATA", "")
# Scales and zero points by model and tensor, as other readers of the files print them.
MODELS = {
    "mlperf_tiny/ad/ad01_int8.tflite": {"INPUT_INPUT_1": (0.39101523, 89), "OUTPUT_IDENTITY": (0.36449847, 96)},
    "mlperf_tiny/kws/kws_ref_model.tflite": {"INPUT_INPUT_1": (0.5847029, 83), "OUTPUT_IDENTITY": (0.00390625, -128)},
    "tflm/memory_footprint/simple_add_model.tflite": {
        "INPUT_SERVING_DEFAULT_INPUT_1_0": (0.040725365, -2),
        "INPUT_SERVING_DEFAULT_INPUT_2_0": (0.041245613, -1),
        "OUTPUT_PARTITIONEDCALL_0": (0.05837741, -3),
    },
    "tflite_models/mobilenet_v1_0.25_128_quant/model.tflite": {
        "INPUT_INPUT": (0.0078125, 128),
        "OUTPUT_MOBILENETV1_PREDICTIONS_RESHAPE_1": (0.00390625, 0),
    },
    "mlperf_tiny/ad/ad01_fp32.tflite": {},
}


def float32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


@unittest.skipUnless(DATA, "KILN_SHARED_DATA does not name the folder of models")
class QuantizationTest(unittest.TestCase):
    def test_headers(self):
        for model, expected in MODELS.items():
            with self.subTest(model):
                command = [KILN, "compile", os.path.join(DATA, model), "--module-name", "m", "--runtime", "crt", "--interface", "c", "--emit=header"]
                header = subprocess.run(command, check=True, capture_output=True, text=True).stdout
                scales = {name: float32(float(value)) for name, value in re.findall(r"#define TVMGEN_M_(\w+)_SCALE (\S+)f\n", header)}
                zero_points = {name: int(value) for name, value in re.findall(r"#define TVMGEN_M_(\w+)_ZERO_POINT (\S+)\n", header)}
                self.assertEqual(scales, {name: float32(scale) for name, (scale, _) in expected.items()})
                self.assertEqual(zero_points, {name: zero_point for name, (_, zero_point) in expected.items()})


if __name__ == "__main__":
    unittest.main()
