# SPDX-License-Identifier: Apache-2.0
"""kiln tune, and compile --tuning: files that are valid, forced, damaged or for something else. No time is asserted."""

import os
import re
import signal
import subprocess
import unittest

from tests.cli.cli_case import CODEGENS, DIGITS, KILN, CliCase

DENSE = """#[version = "0.0.5"]
def @main(%x: Tensor[(24, 360), float32], %w: Tensor[(36, 360), float32]) {
  nn.softmax(nn.dense(%x, %w, units=36))
}
"""
# The problem of DENSE's product, with one thread.
PROBLEM = "float32 rows 24@360 columns 36@360 reduce 360@1,1 epilogue 1"
TARGET = ["--target", "x86-64-v3", "--threads", "1"]


def entry(choice, problem=PROBLEM, cores=1):
    return (
        'targets {\n  name: "x86-64-v3"\n  triple: "x86_64-pc-linux-gnu"\n  cpu: "x86-64-v3"\n  cores: %d\n'
        '  contractions {\n    problem: "%s"\n    %s\n  }\n}\n' % (cores, problem, choice)
    )


class TuningTest(CliCase):
    def setUp(self):
        super().setUp()
        self.model = self.write("dense.relay", DENSE)

    def schedules(self, *options):
        metadata = self.succeeds("compile", self.model, "--emit=metadata", *TARGET, *options)
        return re.findall('"schedule": "(.*)"', metadata)

    def tuning(self, *args, **kwargs):
        return self.write("m.tuning", entry(*args, **kwargs))

    def code(self, *options):
        return self.without_checksums(self.succeeds("compile", self.model, "--codegen=c", "--emit=c", *TARGET, *options))

    def note(self, *options):
        result = self.kiln("compile", self.model, "-o", self.out, *TARGET, *options)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        return result.stderr.decode()

    def test_a_choice_is_taken(self):
        for codegen in CODEGENS:
            with self.subTest(codegen):
                file = self.tuning("direct { rows: 5 vectors: 2 outside: COLUMNS }")
                schedules = self.schedules("--codegen", codegen, "--tuning", file)
                self.assertIn("contraction 5x2x8 columns outside packed tuned", schedules)
                self.assertEqual(self.note("--codegen", codegen, "--tuning", file), "")
                self.assertIn("packed tuned", self.succeeds("inspect", self.path("out/dense.so")))

    def test_same_bytes(self):
        file = self.tuning("direct { rows: 5 vectors: 2 }")
        self.note("--tuning", file)
        first = self.files(self.out)
        self.note("--tuning", file)
        self.assertEqual(self.files(self.out), first)
        # A file without choices changes only the checksum of the options.
        empty, file = (self.code("--tuning", self.tuning(text)) for text in ("", "direct { rows: 5 vectors: 2 }"))
        self.assertEqual(empty, self.code())
        self.assertNotEqual(empty, file)

    def test_what_the_file_does_not_know(self):
        note = self.note("--tuning", self.tuning("direct { rows: 5 vectors: 2 }", cores=4))
        self.assertIn("m.tuning has nothing measured for 'x86-64-v3' with 1 thread; its schedules are the compiler's", note)
        self.assertIn("(the file is for 'x86-64-v3' with 4 threads)", note)
        note = self.note("--tuning", self.tuning("direct { rows: 5 vectors: 2 }", problem="another"))
        self.assertIn("has nothing measured for the convolutions and products of this model", note)

    def test_variants_have_sections(self):
        file = self.write("v.tuning", entry("direct { rows: 5 vectors: 2 }"))
        options = ["--cpu-variants", "x86-64-v2,x86-64-v3", "--threads", "1", "--tuning", file]
        metadata = self.succeeds("compile", self.model, "--emit=metadata", *options)
        self.assertRegex(metadata, r"x86-64-v2: contraction [^;]*packed; x86-64-v3: contraction 5x2x8 rows outside packed tuned")
        result = self.kiln("compile", self.model, "-o", self.out, *options)
        self.assertIn("nothing measured for 'x86-64-v2'", result.stderr.decode())

    def test_refusals(self):
        where = "m.tuning: target 'x86-64-v3': contraction '%s': " % PROBLEM
        for choice, words in (
            ("direct { rows: 25 vectors: 1 }", where + "rows: found 25, wanted 1 to 24"),
            ("direct { rows: 1 }", where + "vectors: found 0, wanted 1 to 5"),
            ("direct { rows: 24 vectors: 5 }", where + "outer_rows, rows and vectors: found 1, 24 and 5"),
            ("winograd { outputs: 4 block_rows: 1 rows: 1 vectors: 1 }", where + "found winograd, wanted direct"),
            ("direct { rows: 1 vectors: 1 depth: 3 }", "m.tuning:8:"),
            ("direct { rows: 1", "m.tuning:"),
        ):
            with self.subTest(choice):
                self.refuses(words, "compile", self.model, "-o", self.out, *TARGET, "--tuning", self.tuning(choice))
        self.refuses("none.tuning", "compile", self.model, "-o", self.out, "--tuning", self.path("none.tuning"))
        self.refuses("wanted a tuning file", "compile", self.model, "-o", self.out, "--tuning", DIGITS)

    def test_tune(self):
        file = self.path("digits.tuning")
        text = self.succeeds("tune", DIGITS, "-o", file, "--time", "3", "--threads", "1")
        self.assertRegex(text, r"host: another choice is faster for \d+ of \d+ distinct convolutions and products \(\d+ measured\); the model takes [\d.]+ ms")
        with open(file, encoding="utf-8") as tuning:
            lines = tuning.read()
        self.assertTrue(lines.startswith("# kiln tune digits.onnx --time 3\n"))
        self.assertEqual(lines.count('name: "host"'), 1)
        outputs = []
        for folder in ("a", "b"):
            options = ["--module-name", "m", "--threads", "1", "--tuning", file]
            result = self.kiln("compile", DIGITS, "-o", self.path(folder), *options)
            self.assertEqual((result.returncode, result.stderr), (0, b""))
            outputs.append(self.files(self.path(folder)))
        self.assertEqual(outputs[0], outputs[1])
        self.succeeds("run", self.path("a/m.so"), "--input", "image=random")
        # Another model or other options extend the file.
        self.succeeds("tune", self.model, "-o", file, "--time", "1", "--threads", "1")
        with open(file, encoding="utf-8") as tuning:
            extended = tuning.read()
        self.assertEqual(extended.count('name: "host"'), 1)
        for problem in re.findall("problem: .*", lines) + ['problem: "%s"' % PROBLEM]:
            self.assertIn(problem, extended)

    def test_interrupted(self):
        file = self.path("digits.tuning")
        process = subprocess.Popen(
            [KILN, "tune", DIGITS, "-o", file, "--time", "20"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.assertRegex(process.stderr.readline().decode(), "^contraction 1 of ")
        process.send_signal(signal.SIGINT)
        text, error = process.communicate()
        self.assertEqual(process.returncode, 0, error.decode())
        self.assertIn("interrupted before the whole model was", text.decode())
        self.assertTrue(os.path.exists(file))
        self.succeeds("compile", DIGITS, "-o", self.out, "--tuning", file)

    def test_tune_refuses(self):
        for words, options in (
            ("--time: found 0, wanted a number of seconds above 0", ["--time", "0"]),
            ("--time", ["--time", "soon"]),
            ("needs an operating system", ["--target", "cortex-m4f"]),
            ("wanted one that it runs", ["--target", "aarch64"]),
        ):
            with self.subTest(words):
                self.refuses(words, "tune", self.model, "-o", self.path("x.tuning"), *options)
                self.assertFalse(os.path.exists(self.path("x.tuning")))
        # A file that is not a tuning file is not overwritten.
        self.refuses("wanted a tuning file", "tune", self.model, "-o", self.model)
        with open(self.model, encoding="utf-8") as model:
            self.assertEqual(model.read(), DENSE)
        self.refuses("-o: found the folder", "tune", self.model, "-o", self.folder)


if __name__ == "__main__":
    unittest.main()
