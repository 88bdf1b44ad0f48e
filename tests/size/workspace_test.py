# SPDX-License-Identifier: Apache-2.0
"""Memory of the integer models of MLPerf Tiny, including their inputs and outputs.

A plan without overlap cannot be smaller than the tensors that are alive at once if the operators run one by one, in the model's order. Fusion and
results in place must save the additional bytes of scratch memory and alignment. In firmware, outputs may overlap inputs.
"""

import json
import os
import subprocess
import unittest

KILN = os.path.abspath("tools/kiln/kiln")
DATA = os.environ.get("KILN_SHARED_DATA", "")
# Peak of the bytes of inputs, outputs and tensors between operators that are alive at once.
PEAK_BYTES = {
    "ad/ad01_int8": 768,
    "kws/kws_ref_model": 16000,
    "ic/pretrainedResnet_quant": 49152,
    "vww/vww_96_int8": 55296,
}
# Limits in firmware.
FIRMWARE_BYTES = {
    "ad/ad01_int8": 768,
    "kws/kws_ref_model": 9792,
    "ic/pretrainedResnet_quant": 33344,
    "vww/vww_96_int8": 38576,
}
# Limits with --optimize ram.
LEAST_BYTES = {
    "ad/ad01_int8": 768,
    "kws/kws_ref_model": 9280,
    "ic/pretrainedResnet_quant": 20480,
    "vww/vww_96_int8": 30336,
}
# Size of the plan with strips that fits, by model and --pool. docs/memory.md names these sizes.
POOL_BYTES = {("vww/vww_96_int8", "sram:32K"): 32256}
TARGETS = {"cortex-m4": FIRMWARE_BYTES, "cortex-m55": FIRMWARE_BYTES, "host": PEAK_BYTES}


@unittest.skipUnless(DATA, "KILN_SHARED_DATA does not name the folder with the models")
class WorkspaceTest(unittest.TestCase):
    def main_function(self, model, target, *options):
        path = os.path.join(DATA, "mlperf_tiny", model + ".tflite")
        command = [KILN, "compile", path, "--emit=metadata", "--runtime", "crt", "--interface", "c", "--workspace-io", "--target", target]
        return json.loads(subprocess.run([*command, *options], stdout=subprocess.PIPE, check=True).stdout)["functions"][0]

    def test_takes_no_more(self):
        for target, limits in TARGETS.items():
            for model, limit in limits.items():
                with self.subTest(model, target=target):
                    main = self.main_function(model, target)
                    self.assertLessEqual(main["workspace_size_bytes"], limit)
                    # Inputs and outputs are in the workspace.
                    self.assertTrue(all("place" in parameter for parameter in main["parameters"]))

    def test_least(self):
        for model, limit in LEAST_BYTES.items():
            with self.subTest(model):
                self.assertLessEqual(self.main_function(model, "cortex-m4f", "--optimize", "ram")["workspace_size_bytes"], limit)

    def test_pools(self):
        """If a pool is large enough, a larger pool is, too. No pool needs to be smaller than with --optimize ram."""
        path = os.path.join(DATA, "mlperf_tiny/vww/vww_96_int8.tflite")
        command = [KILN, "compile", path, "--emit=metadata", "--runtime", "crt", "--interface", "c", "--target", "cortex-m4f"]
        ram = json.loads(subprocess.run([*command, "--optimize", "ram"], stdout=subprocess.PIPE, check=True).stdout)
        least = ram["functions"][0]["workspace_size_bytes"]
        self.assertLessEqual(least, 30336)
        for options in [], ["--optimize", "ram"]:
            result = subprocess.run([*command, *options, "--pool", "sram:{}".format(least - 1)], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, check=False)
            self.assertIn("'sram' would do with {} bytes".format(least), result.stderr)
            for size in least, 31700, 32000, 32768:
                subprocess.run([*command, *options, "--pool", "sram:{}".format(size)], stdout=subprocess.DEVNULL, check=True)

    def test_a_pool_that_strips_fit(self):
        for (model, pool), size in POOL_BYTES.items():
            with self.subTest(model):
                self.assertEqual(self.main_function(model, "cortex-m4f", "--pool", pool)["workspace_size_bytes"], size)


if __name__ == "__main__":
    unittest.main(verbosity=2)  # prints the reason for skipping
