# SPDX-License-Identifier: Apache-2.0
"""External code generators from the command line: libraries, profiles, reports and errors."""

import os
import subprocess
import tempfile
import unittest

KILN = os.path.abspath("tools/kiln/kiln")
CLASSIFY = os.path.abspath("models/digits/classify")
DIGITS = os.path.abspath("models/digits/digits.onnx")
IMAGE = os.path.abspath("models/digits/image.npy")
IMAGES = os.path.abspath("models/digits/test_images.npy")
LABELS = os.path.abspath("models/digits/test_labels.npy")
PROBABILITIES = os.path.abspath("models/digits/probabilities.npy")
MIXED = os.path.abspath("tests/external/mixed.relay")
CHECK = ["--input", "image=" + IMAGE, "--check", "probabilities=" + PROBABILITIES, "--rtol", "1e-4", "--atol", "1e-6"]


class ExternalTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def kiln(self, *args):
        return subprocess.run([KILN] + list(args), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def succeeds(self, *args):
        result = self.kiln(*args)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        return result.stdout.decode()

    def refuses(self, words, *args):
        result = self.kiln(*args)
        self.assertEqual(result.returncode, 2, result.stderr.decode())
        self.assertIn(words, result.stderr.decode())

    def compile(self, folder, *options):
        out = os.path.join(self.folder, folder)
        self.succeeds("compile", DIGITS, "-o", out, "--module-name", "digits", *options)
        return os.path.join(out, "digits.so")

    def test_libraries_give_the_right_result(self):
        for externals in ("dnnl", "csource", "csource,dnnl", "dnnl,csource"):
            for executor in ("aot", "graph"):
                for codegen in ("llvm", "c"):
                    with self.subTest(externals=externals, executor=executor, codegen=codegen):
                        library = self.compile("out", "--external", externals, "--executor", executor, "--codegen", codegen)
                        self.succeeds("run", library, *CHECK)

    def test_same_bytes_twice(self):
        files = []
        for folder in ("a", "b"):
            library = self.compile(folder, "--external", "csource,dnnl")
            out = os.path.dirname(library)
            names = sorted(os.path.relpath(os.path.join(path, name), out) for path, _, inside in os.walk(out) for name in inside)
            self.assertIn("digits_csource.c", names)
            self.assertIn("digits_dnnl.c", names)
            contents = []
            for name in names:
                with open(os.path.join(out, name), "rb") as file:
                    contents.append(file.read())
            files.append((names, contents))
        self.assertEqual(files[0], files[1])

    def test_profile_and_inspect_show_subgraphs_beside_operators(self):
        library = self.compile("out", "--external", "dnnl", "--profile")
        profile = self.succeeds("bench", library, "--profile", "--seconds", "0.05")
        self.assertRegex(profile, r"% (FMA|memory)  dnnl_main_0 \(nn\.conv2d nn\.bias_add nn\.relu .*\) +dnnl\n")
        self.assertIn("  dnnl_main_1 (", profile)
        self.assertIn("  fused_nn_softmax", profile)
        for report in (self.succeeds("inspect", library), self.succeeds("inspect", DIGITS, "--external", "dnnl")):
            self.assertRegex(report, r"dnnl +nn\.conv2d nn\.bias_add nn\.relu")
            self.assertRegex(report, r"nn\.softmax")

    def test_emit_shows_the_modules(self):
        text = self.succeeds("compile", DIGITS, "--external", "dnnl", "--emit=external")
        self.assertIn("module of type dnnl by dnnl", text)
        self.assertIn("function tvmgen_digits_dnnl_main_0", text)
        self.assertIn("constant tvmgen_digits_dnnl_main_0_const_0: Tensor[(", text)
        text = self.succeeds("compile", MIXED, "--external", "csource", "--emit=after:partition", "--module-name", "m")
        self.assertIn('Compiler="csource", global_symbol="tvmgen_m_csource_main_1"', text)

    def test_the_pass_can_be_switched_off(self):
        text = self.succeeds("compile", DIGITS, "--external", "dnnl", "--passes=-partition", "--emit=fused")
        self.assertNotIn("Compiler", text)

    def test_two_generators_in_one_model(self):
        text = self.succeeds("compile", DIGITS, "--external", "csource,dnnl", "--emit=after:partition")
        self.assertIn('Compiler="csource"', text)
        self.assertIn('Compiler="dnnl"', text)

    def test_a_program_without_the_loader_says_so(self):
        library = self.compile("out", "--external", "dnnl")
        result = subprocess.run([CLASSIFY, library, IMAGES, LABELS], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(result.returncode, 1)
        self.assertIn("holds a module of type 'dnnl', for which this program has no loader", result.stderr.decode())

    def test_errors(self):
        out = ["-o", os.path.join(self.folder, "none")]
        self.refuses(
            "--external: found 'npu', which is not built into this compiler; wanted one of csource, dnnl",
            "compile", DIGITS, "--external", "dnnl,npu", *out
        )
        self.refuses("--external: found 'dnnl' twice", "compile", DIGITS, "--external", "dnnl,dnnl", *out)
        for interface in ("packed", "c"):
            self.refuses(
                "module 'tvmgen_m_dnnl_main_0' (dnnl) cannot be taken by the C runtime: it is not code that can be linked",
                "compile", DIGITS, "--external", "dnnl", "--runtime", "crt", "--interface", interface, "--module-name", "m", *out
            )
        self.refuses(
            "module 'tvmgen_digits_dnnl_main_0' (dnnl) and --calling-convention cpacked do not go together",
            "compile", DIGITS, "--external", "dnnl", "--calling-convention", "cpacked", *out
        )
        self.refuses(
            "found 'csource:npu', wanted csource or csource:device=<name>", "compile", MIXED, "--external", "csource:npu", *out
        )
        self.refuses("makes no code that could call the hooks", "compile", MIXED, "--external", "dnnl:device=npu", *out)
        self.refuses(
            "--external with a device and --interface packed do not go together",
            "compile", MIXED, "--external", "csource:device=npu", "--runtime", "crt", *out
        )
        self.refuses(
            "--external with a device: found the name 'int', which C or C++ reserves",
            "compile", MIXED, "--external", "csource:device=int", "--runtime", "crt", "--interface", "c", *out
        )
        self.assertFalse(os.path.exists(out[1]))


if __name__ == "__main__":
    unittest.main()
