# SPDX-License-Identifier: Apache-2.0
"""What a user's C compiler makes of generated C, without flags of Kiln's."""

import glob
import os
import shutil
import subprocess
import tarfile
import tempfile
import unittest

KILN = os.path.abspath("tools/kiln/kiln")
DIGITS = os.path.abspath("models/digits/digits.onnx")
CHAIN = os.path.abspath("tests/tvm_compat/chain.relay")
# A constant above 64 KiB.
LARGE = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 160), float32]) {
  nn.dense(%x, full(0.3f, shape=[160, 160], dtype="float32"))
}
"""
COMPILERS = [compiler for compiler in ("gcc", "clang-19") if shutil.which(compiler)]


class GeneratedCTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def undefined(self, compiler, target):
        """The symbols that the compiled sources of the model want of other objects."""
        options = ["--runtime", "crt", "--interface", "c", "--codegen", "c", "--target", target]
        subprocess.run([KILN, "compile", DIGITS, "-o", self.folder, "--module-name", "digits"] + options, check=True)
        sources = glob.glob(os.path.join(self.folder, "digits*.c"))
        flags = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic"]
        subprocess.run([compiler] + flags + ["-c"] + sources, cwd=self.folder, check=True)
        objects = glob.glob(os.path.join(self.folder, "*.o"))
        self.assertEqual(len(objects), len(sources))
        lines = subprocess.run(["nm", "-u"] + objects, stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()
        return {line.split()[1] for line in lines if line.strip().startswith("U ")}

    def test_fused_multiply_add_is_an_instruction(self):
        self.assertIn("gcc", COMPILERS)
        for compiler in COMPILERS:
            with self.subTest(compiler):
                with_fma = self.undefined(compiler, "x86-64-v3")
                self.assertTrue(with_fma)
                self.assertFalse(with_fma & {"fma", "fmaf"})

    def compile(self, name, *options):
        """The folder with what `kiln compile` makes of a small model."""
        folder = os.path.join(self.folder, name)
        command = [KILN, "compile", CHAIN, "-o", folder, "--module-name", "m", "--codegen", "c"]
        subprocess.run(command + list(options), check=True)
        return folder

    def check(self, folder, *flags):
        sources = sorted(glob.glob(os.path.join(folder, "*.c")))
        self.assertTrue(sources)
        strict = ["-std=c99", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-pedantic"]
        subprocess.run(["gcc"] + strict + list(flags) + sources, check=True)

    def test_large_constants(self):
        model = os.path.join(self.folder, "large.relay")
        with open(model, "w") as file:
            file.write(LARGE)
        results = []
        for form in ("packed", "elements"):
            folder = os.path.join(self.folder, form)
            subprocess.run([KILN, "compile", model, "-o", folder, "--codegen", "c", "--c-constants", form], check=True)
            with open(os.path.join(folder, "large.c")) as file:
                self.assertEqual("KILN_CONSTANTS_FILE" in file.read(), form == "packed")
            command = [KILN, "run", os.path.join(folder, "large.so"), "--input", "x=random", "--output", os.path.join(folder, "y")]
            results.append(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
            # As the user's compiler sees it, which has no file of the constants.
            self.check(folder, "-I" + folder)
        self.assertTrue(results[0])
        self.assertEqual(results[0], results[1])

    def test_what_is_written_compiles_alone(self):
        crt = ["--runtime", "crt"]
        c = crt + ["--interface", "c"]
        for name, options in {"c": c, "pools": c + ["--pool", "ram:any", "--workspace-io"]}.items():
            self.check(self.compile(name, *options))
        packed = {
            "aot": crt,
            "graph": crt + ["--executor", "graph"],
            "external": crt + ["--external", "csource"],
            "system_lib": ["--system-lib"],
        }
        for name, options in packed.items():
            with self.subTest(name):
                folder = self.compile(name, *options)
                self.check(folder, "-I" + folder)
        self.assertFalse(os.path.exists(os.path.join(self.compile("none", "--no-headers", *crt), "kiln")))

    # The host project of microTVM has the runtime's headers, and those of the archive.
    def test_archives_compile_with_the_headers_of_the_runtime(self):
        headers = self.compile("headers", "--runtime", "crt")
        shutil.rmtree(os.path.join(headers, "kiln"))
        for options in ([], ["--executor", "graph"], ["--interface", "c"]):
            with self.subTest(options):
                model = tempfile.mkdtemp(dir=self.folder)
                archive = os.path.join(model, "m.tar")
                command = [KILN, "compile", CHAIN, "--mlf", archive, "--module-name", "m", "--runtime", "crt", "--codegen", "c"]
                subprocess.run(command + options, check=True)
                with tarfile.open(archive) as tar:
                    tar.extractall(model)
                host = os.path.join(model, "codegen", "host")
                self.check(os.path.join(host, "src"), "-isystem", headers, "-isystem", os.path.join(host, "include"))


if __name__ == "__main__":
    unittest.main()
