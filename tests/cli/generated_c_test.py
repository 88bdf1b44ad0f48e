# SPDX-License-Identifier: Apache-2.0
"""Compiles generated C as a user's C compiler does, without Kiln's own flags."""

import glob
import json
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import unittest

import onnx
from onnx import TensorProto, helper

KILN = os.path.abspath("tools/kiln/kiln")
DIGITS = os.path.abspath("models/digits/digits.onnx")
CHAIN = os.path.abspath("tests/tvm_compat/chain.relay")
# A model with a constant above 64 KiB.
LARGE = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 160), float32]) {
  nn.dense(%x, full(0.3f, shape=[160, 160], dtype="float32"))
}
"""
# Names that end a comment, a string or a line of C if they are written as they are. "??/" stands for a backslash in C99.
HOSTILE = ["*/ int hit = 1; /*", "\\\n", "??/", "??/\n??)", "\"; int hit = 1; \"", "\n#error hit\n", "//", "/*", "\\u000a", "\\", "%s%n", "\u2028\u202e", "\x1b[31m",
           '_Pragma("GCC error \\"hit\\"")', "</script>"]
COMPILERS = [compiler for compiler in ("gcc", "clang-19") if shutil.which(compiler)]


class GeneratedCTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def undefined(self, compiler, target):
        """Returns the undefined symbols of the model's compiled sources."""
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

    def test_sections_of_constant_pools(self):
        """Each pool is a section of the object, with C as with LLVM."""
        codegens = re.search("^code generators: (.*)$", subprocess.check_output([KILN, "--version"]).decode(), re.M).group(1).split(", ")
        pools = ["--constant-pool", "itcm:8K:16:4", "--constant-pool", "qspi:any"]
        for codegen in codegens:
            folder = os.path.join(self.folder, codegen)
            options = ["--module-name", "m", "--runtime", "crt", "--interface", "c", "--codegen", codegen, "--target", "cortex-m4f"]
            subprocess.run([KILN, "compile", DIGITS, "-o", folder] + options + pools, check=True)
            if codegen == "c":
                flags = ["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16", "-std=c99", "-O2", "-fdata-sections"]
                subprocess.run(["arm-none-eabi-gcc"] + flags + ["-c", "m.c", "-o", "m.o"], cwd=folder, check=True)
            text = subprocess.check_output(["arm-none-eabi-readelf", "--wide", "-S", os.path.join(folder, "m.o")]).decode()
            sizes = {}
            for name, size in re.findall(r"(\.rodata\.(?:itcm|qspi)) +PROGBITS +\w+ \w+ (\w+)", text):
                sizes[name] = sizes.get(name, 0) + int(size, 16)
            with open(os.path.join(folder, "m.metadata.json"), encoding="utf-8") as file:
                wanted = {".rodata." + pool["name"]: int(pool["size_bytes"]) for pool in json.load(file)["pools"] if pool["kind"] == "CONSTANT"}
            self.assertEqual(set(sizes), {".rodata.itcm", ".rodata.qspi"})
            for name, size in wanted.items():
                self.assertIn(sizes[name] - size, range(64), (codegen, name))  # gaps between constants

    def test_a_processor_without_the_instructions(self):
        """C for a core with an FPU or the DSP extension does not compile for a core without it, unless the program
        permits slow code."""
        gcc = shutil.which("arm-none-eabi-gcc")
        self.assertIsNotNone(gcc, "tools/install_packages.sh test installs gcc-arm-none-eabi")
        dense = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 16), int8]) {
  qnn.dense(%x, full(3, shape=[8, 16], dtype="int8"), 1, 0, 0.5f, 0.25f, units=8, out_dtype="int32")
}
"""
        model = os.path.join(self.folder, "dense.relay")
        with open(model, "w", encoding="utf-8") as file:
            file.write(dense)
        with_unit = ["-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"]
        without = ["-mcpu=cortex-m3"]
        for path, words, permission in ((model, "no DSP extension: compile for the processor of the model's target", "-DKILN_ASSEMBLY=0"),
                                        (DIGITS, "no fused multiply-add: compile for the processor of the model's target", "-DKILN_SLOW_FMA")):
            options = ["--module-name", "m", "--runtime", "crt", "--interface", "c", "--codegen", "c", "--target", "cortex-m4f"]
            subprocess.run([KILN, "compile", path, "-o", self.folder] + options, check=True)
            for flags, fires in ((with_unit, False), (without, True), (without + [permission], False)):
                command = [gcc, "-std=c99", "-mthumb", "-O2", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", os.path.join(self.folder, "m.c")]
                result = subprocess.run(command + flags, stderr=subprocess.PIPE)
                self.assertEqual((result.returncode != 0, words in result.stderr.decode()), (fires, fires), (flags, result.stderr.decode()))

    def compile(self, name, *options):
        """Compiles a small model, and returns the output folder."""
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
            # A user's compiler does not have the file with the constants.
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

    def test_hostile_names(self):
        """Inputs, outputs and operators with names that are no identifiers."""
        names = [str(number) + name for number, name in enumerate(HOSTILE)]
        nodes = [helper.make_node("Softmax", [name], ["y" + name], name=name) for name in names]
        tensors = lambda prefix: [helper.make_tensor_value_info(prefix + name, TensorProto.FLOAT, [1, 8]) for name in names]
        graph = helper.make_graph(nodes, HOSTILE[0], tensors(""), tensors("y"))
        model = os.path.join(self.folder, "m.onnx")
        onnx.save(helper.make_model(graph, producer_name=HOSTILE[0], opset_imports=[helper.make_opsetid("", 13)]), model)
        c = ["--runtime", "crt", "--interface", "c"]
        for name, options in {"c": c, "inside": c + ["--pool", "ram:any", "--workspace-io"], "aot": ["--runtime", "crt"],
                              "graph": ["--system-lib", "--executor", "graph"]}.items():
            folder = os.path.join(self.folder, name)
            subprocess.run([KILN, "compile", model, "-o", folder, "--codegen", "c"] + options, check=True)
            for flags in [], ["-DKILN_CHECKS"]:
                with self.subTest(name, flags=flags):
                    self.check(folder, "-I" + folder, *flags)
            header = os.path.join(folder, "m.h")
            for compiler, language in (("gcc", ["-std=c99", "-x", "c"]), ("g++", ["-std=c++17", "-x", "c++"])):
                subprocess.run([compiler] + language + ["-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I" + folder, header], check=True)

    # The host project of microTVM has two sets of headers: the runtime's, and those in the archive.
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
