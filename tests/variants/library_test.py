# SPDX-License-Identifier: Apache-2.0
"""Libraries with CPU variants: the output of the command line about them, and the instructions in their functions."""

import os
import re
import shutil
import subprocess
import unittest

from tests.cli.cli_case import CODEGENS, DIGITS, MY_MOD, CliCase, needs_llvm

INCLUDE = os.path.abspath("runtime_crt/include")
COMPILERS = [compiler for compiler in ("gcc", "clang-19") if shutil.which(compiler)]
# Products of bytes with many rows and columns.
BYTES = """#[version = "0.0.5"]
def @main(%x: Tensor[(64, 128), int8]) {
  %0 = cast(multiply(sin(cumsum(full(0.37f, shape=[16384]))), 100f), dtype="int8");
  nn.dense(%x, reshape(%0, newshape=[128, 128]), units=128, out_dtype="int32")
}
"""
DOTS = {"pmaddwd", "vpmaddwd", "vpdpbusd", "vpdpwssd", "tdpbssd"}
THREE = "x86-64-v2,x86-64-v3,x86-64-v4"
VARIANT = re.compile(r"_x86_64_v([234])")


def instructions(file):
    """Returns the instructions of an object's functions, by name."""
    text = subprocess.check_output(["objdump", "-d", "--no-show-raw-insn", file]).decode()
    functions, current = {}, None
    for line in text.splitlines():
        head = re.match(r"^[0-9a-f]+ <(.*)>:$", line)
        if head:
            current = functions.setdefault(head.group(1), [])
        elif current is not None and re.match(r"^ +[0-9a-f]+:\t", line):
            current.append(line.split("\t", 1)[1].strip())
    return functions


def is_vex(instruction):
    """True for instructions of AVX, AVX2, AVX-512, FMA or BMI, which are encoded with VEX or EVEX."""
    name = instruction.split()[0]
    if name in ("verr", "verw", "vmcall"):
        return False
    return name.startswith("v") or name in ("andn", "bextr", "blsi", "blsmsk", "blsr", "bzhi", "mulx", "pdep", "pext", "rorx", "sarx", "shlx", "shrx")


class LibraryTest(CliCase):
    def compiled(self, *flags):
        self.succeeds("compile", DIGITS, "-o", self.out, "--cpu-variants", THREE, *flags)

    @needs_llvm
    def test_what_is_for_every_cpu_has_no_vex(self):
        for executor in ("aot", "graph"):
            self.compiled("--system-lib", "--executor", executor)
            plain, wide, widest = 0, 0, 0
            for name, body in instructions(self.path("out/digits.o")).items():
                variant = VARIANT.search(name)
                vex = [i for i in body if is_vex(i)]
                if variant is None or variant.group(1) == "2":
                    self.assertEqual(vex, [], name)
                    plain += 1
                else:
                    wide += len(vex)
                    widest += sum("%zmm" in i for i in vex if variant.group(1) == "4")
                    if variant.group(1) == "3":
                        self.assertFalse([i for i in body if "%zmm" in i], name)
            self.assertGreater(plain, 5)
            self.assertGreater(wide, 100)
            self.assertGreater(widest, 100)
            names = set(instructions(self.path("out/digits.o")))
            self.assertIn("tvmgen_digits_choose_cpu_variant", names)

    def test_it_is_a_plain_library(self):
        for codegen in CODEGENS:
            self.compiled("--codegen", codegen)
            symbols = subprocess.check_output(["readelf", "-W", "--dyn-syms", "-s", "-r", self.path("out/digits.so")]).decode()
            self.assertNotIn("IFUNC", symbols)
            self.assertNotIn("IRELATIV", symbols)
            self.assertRegex(symbols, r"GLOBAL +DEFAULT +\d+ cpu_variant\b")

    def test_generated_c_compiles_without_a_warning(self):
        self.assertIn("gcc", COMPILERS)
        flags = ["-std=c99", "-O1", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wconversion", "-Wshadow"]
        for options in (
            ("--system-lib",),
            ("--runtime", "crt", "--executor", "graph"),
            ("--runtime", "crt", "--interface", "c"),
        ):
            self.compiled("--codegen", "c", *options)
            for compiler in COMPILERS:
                command = [compiler] + flags + ["-Wmissing-prototypes", "-I" + INCLUDE, "-c", "digits.c", "-o", "digits_c.o"]
                subprocess.run(command, cwd=self.out, check=True)
                for name, body in instructions(self.path("out/digits_c.o")).items():
                    variant = VARIANT.search(name)
                    if variant is None or variant.group(1) == "2":
                        self.assertEqual([i for i in body if is_vex(i)], [], name)

    def test_variants_have_their_instructions(self):
        """Variants use features beyond the levels, in LLVM's machine code and in that of C compilers, which get no
        flags for them."""
        model = self.write("bytes.relay", BYTES)
        variants = ["x86-64-v2", "x86-64-v3", "x86-64-v4 -mattr=+avx512vnni", "x86-64-v4 -mattr=+avx512vnni -mattr=+amx-int8"]
        found = []
        for codegen in CODEGENS:
            self.succeeds("compile", model, "-o", self.out, "--module-name", "bytes", "--system-lib", "--codegen", codegen, "--cpu-variants", ",".join(variants))
            objects = {"llvm": ["bytes.o"], "c": []}[codegen]
            for compiler in COMPILERS if codegen == "c" else []:
                objects.append(compiler + ".o")
                subprocess.run([compiler, "-std=c99", "-O2", "-w", "-I" + INCLUDE, "-c", "bytes.c", "-o", objects[-1]], cwd=self.out, check=True)
            for name in objects:
                of_variant = {}
                for function, body in instructions(self.path("out/" + name)).items():
                    variant = re.search(r"_x86_64_(v[234]\w*)", function)
                    if variant:
                        of_variant.setdefault(variant.group(1), set()).update(i.split()[0] for i in body)
                found.append((name, {key: sorted(DOTS & names) for key, names in of_variant.items() if DOTS & names}))
        for name, dots in found:
            self.assertEqual(sorted(dots.values()), sorted([["pmaddwd"], ["vpmaddwd"], ["vpdpbusd"], ["tdpbssd"]]), name)

    def test_the_choice_asks_linux_for_registers_of_matrices(self):
        """The request is in the code only if a variant has AMX."""
        ask = {
            "llvm": r"(?s)choose_cpu_variant\.ask\(\) #.*? call i64 @kiln\.request_matrices\(\).*? and i32 %\d+, -54525953\n",
            "c": r"\(words\[3\] & 0x3400000u\) != 0 && kiln_request_matrices\(\) != 0\) words\[3\] &= ~0x3400000u;",
        }
        for codegen in CODEGENS:
            for last, asks in (("x86-64-v4", False), ("x86-64-v4 -mattr=+amx-int8", True)):
                text = self.succeeds("compile", DIGITS, "--codegen", codegen, "--emit", codegen, "--cpu-variants", "x86-64-v3," + last)
                self.assertEqual(re.search(ask[codegen], text) is not None, asks, codegen)
                self.assertEqual("request_matrices" in text, asks, codegen)

    def test_which_one_runs_is_said(self):
        for codegen in CODEGENS:
            for executor in ("aot", "graph"):
                self.compiled("--codegen", codegen, "--executor", executor)
                library = self.path("out/digits.so")
                of = r" \(of x86-64-v2, x86-64-v3, x86-64-v4\)\n"
                self.assertRegex(self.succeeds("inspect", library), r"^variant x86-64-v[234]" + of)
                image = "image=random"
                self.assertRegex(self.succeeds("run", library, "--input", image), r"^variant x86-64-v[234]" + of)
                forced = ("--cpu-variant", "x86-64-v2")
                self.assertRegex(self.succeeds("run", library, "--input", image, *forced), "^variant x86-64-v2" + of)
                self.assertRegex(self.succeeds("bench", library, "--seconds", "0.01", *forced), "^variant x86-64-v2" + of)
                self.assertIn('"cpu_variant":"x86-64-v2"', self.succeeds("bench", library, "--seconds", "0.01", "--json", *forced))
                self.assertIn('"cpu_variants": [\n    "x86-64-v2"', self.succeeds("inspect", "--json", library))
                result = self.kiln("run", library, "--input", image, "--cpu-variant", "x86-64")
                self.assertNotEqual(result.returncode, 0)
                self.assertIn("found the name of no CPU variant, wanted one of x86-64-v2, x86-64-v3, x86-64-v4", result.stderr.decode())

    def test_a_library_for_one_target_has_none(self):
        self.succeeds("compile", DIGITS, "-o", self.out)
        self.assertNotIn("variant", self.succeeds("inspect", self.path("out/digits.so")))
        result = self.kiln("run", self.path("out/digits.so"), "--input", "image=random", "--cpu-variant", "x86-64-v2")
        self.assertIn("--cpu-variant: the code of the model is for one target", result.stderr.decode())

    def test_weights_are_shared(self):
        """The constants of three variants are smaller than those of three libraries."""
        sizes = {}
        for name, flags in (("three", ("--cpu-variants", THREE)), ("v2", ("--target", "x86-64-v2"))):
            self.succeeds("compile", MY_MOD, "-o", self.path(name), *flags)
            self.succeeds("compile", DIGITS, "-o", self.path(name), *flags)
            metadata = self.files(self.path(name))["digits.metadata.json"].decode()
            sizes[name] = int(re.search(r'"constant_size_bytes": (\d+)', metadata).group(1))
        self.assertGreaterEqual(sizes["three"], sizes["v2"])
        self.assertLess(sizes["three"], 3 * sizes["v2"])

    def test_what_does_not_go_together_is_refused(self):
        for words, flags in (
            ("found 'x86-64-v2' after 'x86-64-v3', but it lacks avx, ", ("--cpu-variants", "x86-64-v3,x86-64-v2")),
            ("found 'x86-64-v3' after 'x86-64-v3', which has as much", ("--cpu-variants", "x86-64-v3,x86-64-v3")),
            ("found 'aarch64', which is no x86-64 machine", ("--cpu-variants", "aarch64")),
            ("found 'cortex-m4f', which is no x86-64 machine", ("--cpu-variants", "cortex-m4f", "--runtime", "crt")),
            ("--cpu-variants and --target x86-64-v4 do not go together", ("--cpu-variants", THREE, "--target", "x86-64-v4")),
        ):
            self.refuses(words, "compile", DIGITS, "-o", self.out, *flags)


if __name__ == "__main__":
    unittest.main()
