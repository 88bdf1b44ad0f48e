# SPDX-License-Identifier: Apache-2.0
"""Compares the front end that tools/audio writes with TensorFlow Lite's microfrontend, to the byte, with both code
generators.

micro_frontend_10ms.npy and micro_frontend_20ms.npy contain the library's results for the sound below: windows of 30 ms,
steps of 10 and 20 ms.
"""

import json
import os
import struct
import subprocess
import sys
import unittest

from tests.cli.cli_case import CODEGENS, CliCase
from tests.conformance.array_file import ArrayFile

MICRO_FRONTEND = os.path.abspath("tools/audio/micro_frontend.py")
GOLDEN = os.path.abspath("tests/conformance/micro_frontend_{}ms.npy")
PROGRAM = os.path.abspath("tests/conformance/stream_program.c")
INCLUDE = os.path.abspath("runtime_crt/include")
CHANNELS = 40
# Amplitude of the noise in each tenth of a second, times 2^15: silence, a whisper, and sound that is clipped.
LEVELS = [0, 200, 3000, 100000, 12000]


def sound_bytes():
    """Half a second of noise and a tone, int16, 16 kHz."""
    samples = []
    state = 1
    for i in range(1600 * len(LEVELS)):
        state = (state * 1664525 + 1013904223) % 2**32
        level = LEVELS[i // 1600]
        noise = ((state >> 16) - 0x8000) * level // 0x8000
        tone = (abs(i % 64 - 32) - 16) * min(level, 400)
        samples.append(max(-0x8000, min(0x7FFF, noise + tone)))
    return struct.pack("<%dh" % len(samples), *samples)


def features_of(path):
    """Returns the library's results in rows, quantized as in microWakeWord's firmware."""
    golden = ArrayFile(path)
    features = [max(-128, min(127, (value * 256 + 333) // 666 - 128)) for value in golden.values(golden.bytes)]
    return [features[at : at + CHANNELS] for at in range(0, len(features), CHANNELS)]


class MicroFrontendTest(CliCase):
    def write_model(self, *options):
        path = self.path("m.relay")
        command = [sys.executable, MICRO_FRONTEND, "-o", path] + list(options)
        return path, subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def build(self, model, codegen):
        options = ["--module-name", "m", "--runtime", "crt", "--interface", "c", "--target", "x86-64"]
        self.succeeds("compile", model, "-o", self.out, "--codegen", codegen, *options)
        code = self.path("out/m.o" if codegen == "llvm" else "out/m.c")
        command = ["gcc", "-std=c99", "-O1", "-ffp-contract=off", "-w", "-DMODEL=m", "-I" + INCLUDE, "-I" + self.out]
        subprocess.run(command + [PROGRAM, self.path("out/m_model.c"), code, "-lm", "-o", self.path("program")], check=True)

    def features(self, data):
        """Runs the program and returns the features of the valid windows. Each step of its output has the features and
        a flag for a valid window."""
        result = subprocess.run([self.path("program")], input=data, stdout=subprocess.PIPE, check=True).stdout
        steps = [result[at : at + CHANNELS + 1] for at in range(0, len(result), CHANNELS + 1)]
        valid = [bool(step[CHANNELS]) for step in steps]
        self.assertEqual(valid, sorted(valid), "no window is invalid behind a valid one")
        return [list(struct.unpack("<40b", step[:CHANNELS])) for step in steps if step[CHANNELS]]

    def check(self, step_ms):
        wanted = features_of(GOLDEN.format(step_ms))
        self.assertGreater(len({value for row in wanted for value in row}), 100, "the golden numbers differ")
        model, made = self.write_model("--step-ms", str(step_ms))
        self.assertEqual(made.returncode, 0, made.stderr)
        for codegen in CODEGENS:
            with self.subTest(codegen):
                self.build(model, codegen)
                self.assertEqual(self.features(sound_bytes()), wanted)

    def test_steps_of_10_ms(self):
        self.check(10)

    def test_steps_of_20_ms(self):
        self.check(20)

    def test_the_model_keeps_samples_noise_and_the_number_of_steps(self):
        model, _ = self.write_model()
        metadata = json.loads(
            self.succeeds("compile", model, "--runtime", "crt", "--interface", "c", "--target", "cortex-m4f", "--emit=metadata")
        )
        self.assertEqual([state["tensor"]["relay_name_hint"] for state in metadata["states"]], ["recent", "noise", "steps"])
        (block,) = [pool["size_bytes"] for pool in metadata["pools"] if pool["kind"] == "STATE"]
        self.assertLessEqual(block, 1200, "640 bytes of samples with the step behind them, 160 of noise, 4")

    def test_refusals(self):
        cases = [
            (["--step-ms", "40"], "found a window of 480 samples and steps of 640, wanted shorter steps, and a window of at most 4096"),
            (["--channels", "1"], "--channels: found 1, wanted 2 or more"),
            (["--gain-bits", "14"], "--gain-bits: found 14, wanted at least 15"),
            (["--smoothing-bits", "2"], "--smoothing-bits: found 2, wanted at least 3"),
            (["--upper-hertz", "8000"], "--upper-hertz: found 8000, wanted less than half of the sample rate"),
        ]
        for options, text in cases:
            _, made = self.write_model(*options)
            self.assertEqual((made.returncode, made.stderr.decode()), (1, text + "\n"))


if __name__ == "__main__":
    unittest.main()
