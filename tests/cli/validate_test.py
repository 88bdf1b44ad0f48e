# SPDX-License-Identifier: Apache-2.0
"""`kiln validate`: many samples on this machine and in QEMU, equal and different outputs, and inputs that are refused.

The real models are below KILN_SHARED_DATA; without it these cases are skipped.
"""

import json
import os
import struct
import unittest

from tests.cli.cli_case import CODEGENS, CliCase, npy

SUM = '#[version = "0.0.5"]\ndef @main(%a: Tensor[(1, 3), int8], %b: Tensor[(1, 3), int8]) {\n  add(%a, %b)\n}\n'
NEGATIVE = '#[version = "0.0.5"]\ndef @main(%x: Tensor[(1, 2), float32]) {\n  negative(%x)\n}\n'
# Adds the samples to a state, which is 2 at the beginning.
STREAM = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 2), float32], %h: Tensor[(1, 2), float32], output_tensor_names=["y", "h.next"],
          state_inputs=["h"], state_outputs=["h.next"], state_initial=[2f]) {
  %0 = add(%x, %h);
  (negative(negative(%0)), %0)
}
"""
DATA = os.environ.get("KILN_SHARED_DATA", "")
KWS = os.path.join(DATA, "mlperf_tiny/kws/")


def floats(shape, *values):
    return npy("<f4", shape, struct.pack("<%df" % len(values), *values))


def int8s(shape, *values):
    return npy("|i1", shape, struct.pack("%db" % len(values), *values))


class ValidateTest(CliCase):
    def setUp(self):
        super().setUp()
        self.model = self.write("negative.relay", NEGATIVE)
        self.x = self.write("x.npy", floats((3, 2), 1, 2, 3, 4, 5, 6))
        self.y = self.write("y.npy", floats((3, 2), -1, -2, -3, -4, -5, -6))

    def validate(self, status, *args):
        """Returns the output of a run that must end with `status`."""
        result = self.kiln("validate", *args)
        self.assertEqual(result.returncode, status, result.stderr.decode())
        return result.stdout.decode()

    def validate_json(self, status, *args):
        return json.loads(self.validate(status, *args, "--format", "json"))

    def test_samples_that_agree(self):
        text = self.validate(0, self.model, "--inputs", self.x, "--expected", self.y)
        self.assertIn("3 samples", text)
        self.assertIn("output: 3 of 3 samples equal, agrees", text)
        self.assertNotIn("\033", text)
        files = [self.model, "--inputs", self.x, "--expected", self.y]
        self.assertEqual(json.loads(self.validate(0, *files, "--json")), self.validate_json(0, *files))

    def test_both_forms_of_the_sample_dimension(self):
        self.write("x.npy", floats((3, 1, 2), 1, 2, 3, 4, 5, 6))
        self.assertEqual(self.validate_json(0, self.model, "--inputs", "x=x.npy", "--expected", self.y)["outputs"][0]["samples"], 3)

    def test_samples_that_differ(self):
        self.write("y.npy", floats((3, 2), -1, -2, -3, -4.5, -5, -6.25))
        text = self.validate(1, self.model, "--inputs", self.x, "--expected", self.y)
        self.assertIn("1 of 3 samples equal, worst sample: 1 (counted from 0), DIFFERENT: 2 values of 2 samples", text)
        self.assertIn("differences of output:\n", text)
        found = self.validate_json(1, self.model, "--inputs", self.x, "--expected", self.y)
        self.assertFalse(found["within_bounds"])
        output = found["outputs"][0]
        self.assertEqual((output["equal_samples"], output["worst_sample"], output["values_beyond_bounds"]), (1, 1, 2))
        self.assertAlmostEqual(output["largest_difference"], 0.5)
        self.assertAlmostEqual(output["mean_difference"], 0.125)
        self.assertEqual(output["unit"], "ULP")
        self.assertEqual(output["same_argmax"], 3)
        self.assertEqual(sum(bin["values"] for bin in output["histogram"]), 6)

    def test_tolerances(self):
        self.write("y.npy", floats((3, 2), -1, -2, -3, -4.5, -5, -6.25))
        files = [self.model, "--inputs", self.x, "--expected", self.y]
        self.assertIn("agrees", self.validate(0, *files, "--atol", "0.5"))
        self.validate(0, *files, "--rtol", "0.2")
        self.validate(1, *files, "--atol", "0.3")

    def test_quanta_and_several_inputs(self):
        model = self.write("sum.relay", SUM)
        self.write("a.npy", int8s((2, 3), 1, 2, 3, 4, 5, 6))
        self.write("b.npy", int8s((2, 3), 1, 1, 1, 1, 1, 1))
        self.write("y.npy", int8s((2, 3), 2, 3, 4, 5, 6, 9))
        files = [model, "--inputs", "b=b.npy", "--inputs", "a=a.npy", "--expected", self.y]
        self.assertEqual(self.validate_json(1, *files)["outputs"][0]["largest_steps"], 2)
        self.validate(1, *files, "--quanta", "1")
        self.validate(0, *files, "--quanta", "2")

    def test_a_compiled_library(self):
        self.succeeds("compile", self.model, "-o", "lib")
        self.validate(0, "lib/negative.so", "--inputs", self.x, "--expected", self.y)
        self.refuses("is compiled already", "validate", "lib/negative.so", "--target", "host", "--inputs", self.x, "--expected", self.y)

    def test_run_takes_many_samples(self):
        self.succeeds("compile", self.model, "-o", "lib")
        run = ["run", "lib/negative.so", "--input", "x=" + self.x]
        self.assertIn("Tensor[(3, 2), float32]: -1 -2 -3 -4 -5 -6", self.succeeds(*run, "--output", "results"))
        with open(self.path("results/output.npy"), "rb") as file:
            self.assertEqual(file.read()[-24:], struct.pack("<6f", -1, -2, -3, -4, -5, -6))
        self.assertIn("output agrees (6 values)", self.succeeds(*run, "--check", "output=" + self.y))
        short = self.write("short.npy", floats((2, 2), -1, -2, -3, -4))
        self.refuses("--check output: the file holds Tensor[(2, 2), float32], the output is Tensor[(3, 2), float32]", *run, "--check", "output=" + short)
        two = self.write("sum.relay", SUM)
        self.succeeds("compile", two, "-o", "lib")
        self.write("a.npy", int8s((2, 3), 1, 2, 3, 4, 5, 6))
        self.write("b.npy", int8s((1, 3), 1, 2, 3))
        words = "--input: found 2 and 1 samples, wanted as many in every file"
        self.refuses(words, "run", "lib/sum.so", "--input", "a=a.npy", "--input", "b=b.npy")

    def test_what_is_refused(self):
        short = self.write("short.npy", floats((2, 2), 1, 2, 3, 4))
        other = self.write("other.npy", int8s((3, 2), 1, 2, 3, 4, 5, 6))
        files = ["--inputs", self.x, "--expected", self.y]
        for words, args in (
            ("--expected is required", ["--inputs", self.x]),
            ("--inputs: found 'z=x.npy', wanted NAME=FILE; the model has the inputs x", ["--inputs", "z=x.npy", "--expected", self.y]),
            ("--inputs: 'x' is given twice", ["--inputs", "x=x.npy", *files]),
            ("--inputs x: found Tensor[(3, 2), int8] in ", ["--inputs", other, "--expected", self.y]),
            ("wanted Tensor[(1, 2), float32], or several samples: Tensor[(N, 2), float32]", ["--inputs", other, "--expected", self.y]),
            ("found 3 and 2 samples, wanted as many in all files", ["--inputs", self.x, "--expected", short]),
            ("none.npy: no such file", ["--inputs", "none.npy", "--expected", self.y]),
            ("--quanta: the output 'output' is float32, wanted --atol and --rtol", [*files, "--quanta", "1"]),
            ("--atol: found -1, wanted a number of 0 or more", [*files, "--atol", "-1"]),
            ("--emulator: wanted a microcontroller's --target", [*files, "--emulator", "qemu-system-arm"]),
            ("for which there is no emulated board; wanted one of cortex-m3,", [*files, "--target", "cortex-m0plus"]),
            ("--format: ", [*files, "--format", "xml"]),
        ):
            with self.subTest(words):
                self.refuses(words, "validate", self.model, *args)
        two = self.write("sum.relay", SUM)
        self.refuses("wanted NAME=FILE; the model has the inputs a, b", "validate", two, *files)
        one = self.write("a.npy", int8s((1, 3), 1, 2, 3))
        self.refuses("no samples for the input 'b': wanted --inputs b=FILE", "validate", two, "--inputs", "a=" + one, "--expected", one)

    def test_in_the_emulator(self):
        for target in ("cortex-m4f", "riscv32imac"):
            for codegen in CODEGENS:
                with self.subTest(target=target, codegen=codegen):
                    files = [self.model, "--inputs", self.x, "--expected", self.y, "--target", target, "--codegen", codegen]
                    found = self.validate_json(0, *files)
                    self.assertEqual(found["where"], "on {} in QEMU".format(target))
                    self.assertEqual(found["outputs"][0]["equal_samples"], 3)
                    self.assertGreater(found["least_instructions"], 0)

    def test_an_archive_in_the_emulator(self):
        options = ["--runtime", "crt", "--codegen", "c", "--target", "cortex-m3"]
        self.succeeds("compile", self.model, "--mlf", "c.tar", "--interface", "c", *options)
        self.validate(0, "c.tar", "--inputs", self.x, "--expected", self.y)
        self.succeeds("compile", self.model, "--mlf", "packed.tar", *options)
        self.refuses("wanted one that was compiled with --interface c", "validate", "packed.tar", "--inputs", self.x, "--expected", self.y)
        # Pools of the application are static memory of the firmware.
        for more in (["--pool", "ram:any"], ["--workspace-io"]):
            self.succeeds("compile", self.model, "--mlf", "pool.tar", "--interface", "c", *more, *options)
            self.assertEqual(self.validate_json(0, "pool.tar", "--inputs", self.x, "--expected", self.y)["outputs"][0]["equal_samples"], 3)

    def test_a_stream_in_the_emulator(self):
        """The state is initialized before the first sample, in the module's own block and in a pool."""
        model = self.write("stream.relay", STREAM)
        self.write("sums.npy", floats((3, 2), 3, 4, 6, 8, 11, 14))
        for options in ([], ["--pool", "ram:any"], ["--workspace-io"]):
            self.succeeds("compile", model, "--mlf", "m.tar", "--runtime", "crt", "--interface", "c", "--codegen", "c", "--target", "cortex-m4f", *options)
            self.validate(0, "m.tar", "--inputs", "x=" + self.x, "--expected", "y=sums.npy")

    def test_programs_that_are_missing(self):
        os.environ["PATH"], path = self.folder, os.environ["PATH"]
        self.addCleanup(os.environ.__setitem__, "PATH", path)
        files = ["--inputs", self.x, "--expected", self.y, "--target", "cortex-m4f"]
        self.refuses("'arm-none-eabi-gcc' cannot be run: ", "validate", self.model, *files)
        self.refuses("install gcc-arm-none-eabi", "validate", self.model, *files)

    @unittest.skipUnless(DATA, "KILN_SHARED_DATA is not set")
    def test_keyword_spotting_equals_tflite_micro(self):
        files = [KWS + "kws_ref_model.tflite", "--inputs", KWS + "inputs_int8.npy", "--expected"]
        self.assertIn("Identity: 1000 of 1000 samples equal, agrees", self.validate(0, *files, KWS + "kws_ref_model.real1000.tflm.npy"))
        # TFLite's own kernels round differently.
        found = self.validate_json(1, *files, KWS + "kws_ref_model.real1000.tflite.npy")
        self.assertEqual(found["outputs"][0]["largest_steps"], 22)
        self.assertEqual(found["outputs"][0]["same_argmax"], 993)

    @unittest.skipUnless(DATA, "KILN_SHARED_DATA is not set")
    def test_keyword_spotting_on_a_board(self):
        found = self.validate_json(
            0, KWS + "kws_ref_model.tflite", "--inputs", KWS + "kws_ref_model.rand3_inputs.npy", "--expected",
            KWS + "kws_ref_model.rand3.tflm.npy", "--target", "cortex-m4f"
        )
        self.assertEqual(found["outputs"][0]["equal_samples"], 3)


if __name__ == "__main__":
    unittest.main()
