# SPDX-License-Identifier: Apache-2.0
"""Bytes of memory that the integer models of MLPerf Tiny take, their inputs and outputs included.

A plan without overlap cannot take less than the tensors that are alive at once when the operators run in the model's order, one by one; what
scratch memory and alignment add, fusion and results in the place of arguments have to save. In firmware outputs reach into inputs.
"""

import json
import os
import subprocess
import unittest

KILN = os.path.abspath("tools/kiln/kiln")
DATA = os.environ.get("KILN_SHARED_DATA", "")
# Most bytes of inputs, outputs and tensors between operators that are alive at once.
PEAK_BYTES = {
    "ad/ad01_int8": 768,
    "kws/kws_ref_model": 16000,
    "ic/pretrainedResnet_quant": 49152,
    "vww/vww_96_int8": 55296,
}
# The most that they take in firmware.
FIRMWARE_BYTES = {
    "ad/ad01_int8": 768,
    "kws/kws_ref_model": 9792,
    "ic/pretrainedResnet_quant": 33344,
    "vww/vww_96_int8": 38576,
}
# With --optimize ram.
LEAST_BYTES = {
    "ad/ad01_int8": 768,
    "kws/kws_ref_model": 9280,
    "ic/pretrainedResnet_quant": 20480,
    "vww/vww_96_int8": 30336,
}
# By model and --pool: the plan of strips that fits, whose bytes docs/memory.md names.
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
                    # Both lie in it.
                    self.assertTrue(all("place" in parameter for parameter in main["parameters"]))

    def test_least(self):
        for model, limit in LEAST_BYTES.items():
            with self.subTest(model):
                self.assertLessEqual(self.main_function(model, "cortex-m4f", "--optimize", "ram")["workspace_size_bytes"], limit)

    def test_pools(self):
        """A pool that is large enough stays so if it is larger, and none is smaller than --optimize ram."""
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
    unittest.main(verbosity=2)  # says why it skips
