# SPDX-License-Identifier: Apache-2.0
"""Compiles headers and generated C of the C interface with the flags of strict projects, by gcc and clang, in every
standard, and for microcontrollers at every level of optimization."""

import os
import re
import shutil
import subprocess
import unittest

from tests.cli.cli_case import DIGITS, CliCase

INCLUDE = "runtime_crt/include"
INTEGERS = os.path.abspath("tests/firmware/models/integers.relay")
COMMON = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-Wconversion", "-Wshadow", "-Wcast-qual", "-Wcast-align", "-Wundef", "-Wvla", "-Walloca"]
C_FLAGS = COMMON + ["-Wmissing-prototypes", "-Wstrict-prototypes"]
CXX_FLAGS = COMMON + ["-Wold-style-cast", "-fno-exceptions"]
C_STANDARDS = ["c99", "c11", "c17", "gnu17", "c2x"]
CXX_STANDARDS = ["c++11", "c++14", "c++17", "c++20", "c++23"]
CLANG = "clang-19"
# All warnings of clang, except three. Generated C computes addresses, and declares variables after statements. Structs of kiln/model.h
# have padding.
EVERYTHING = ["-Weverything", "-Wno-unsafe-buffer-usage", "-Wno-declaration-after-statement", "-Wno-padded"]
PAIRS = [("gcc", "g++")] + ([(CLANG, "clang++-19")] if shutil.which(CLANG) else [])

# The tool chain, the flags and the model of a core, by target.
CORES = {
    "cortex-m4f": ("arm-none-eabi", ["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"], DIGITS),
    "cortex-m55": ("arm-none-eabi", ["-mcpu=cortex-m55+nomve.fp", "-mthumb", "-mfloat-abi=hard"], INTEGERS),
    "riscv32imac": ("riscv64-unknown-elf", ["-march=rv32imac", "-mabi=ilp32"], INTEGERS),
}
# Flags of a tool chain that only gcc needs, and flags that only clang needs.
OF_GCC = {"arm-none-eabi": [], "riscv64-unknown-elf": ["-misa-spec=2.2", "--specs=picolibc.specs"]}
OF_CLANG = {"arm-none-eabi": ["--target=arm-none-eabi", "-fshort-enums"], "riscv64-unknown-elf": ["--target=riscv32-unknown-elf"]}

STREAM = """#[version = "0.0.5"]
def @main(%sample: Tensor[(1, 4), float32], %sum: Tensor[(1, 4), float32], output_tensor_names=["total", "sum.next"],
          state_inputs=["sum"], state_outputs=["sum.next"], state_initial=[2f]) {
  %0 = add(%sum, %sample);
  (nn.softmax(%0), %0)
}
"""
QUANTIZED = """#[version = "0.0.5"]
def @main(%left: Tensor[(1, 3), int8], %right: Tensor[(1, 3), int8], input_scales=[[0.05f], [0.5f]],
          input_zero_points=[[-3], [0]], output_tensor_names=["level"]) {
  add(clip(%left, a_min=-3f, a_max=127f), maximum(%left, %right))
}
"""
CONSTANT = '#[version = "0.0.5"]\ndef @main(output_tensor_names=["five"]) { full(5f, shape=[], dtype="float32") }\n'

# A model whose input is called input_1.
INPUT_1 = """#[version = "0.0.5"]
def @main(%input_1: Tensor[(1, {0}), float32], output_tensor_names=["output_1"]) {{ nn.softmax(%input_1) }}
"""
BOTH = """
#include "first.h"
#include "second.h"

int32_t both(float (&three)[3], float (&four)[4]);
int32_t both(float (&three)[3], float (&four)[4]) {
  float first[3], second[4];
  const int32_t status = tvmgen_first::run({tvmgen_first::input::input_1(three)}, {tvmgen_first::output::output_1(first)});
  return status != 0 ? status : tvmgen_second::run({tvmgen_second::input::input_1(four)}, {tvmgen_second::output::output_1(second)});
}
"""

# Model and options by module. The header depends on both.
MODELS = {
    "plain": (None, []),
    "pooled": (None, ["--pool", "sram:any"]),
    "inside": (None, ["--workspace-io"]),
    "streaming": (STREAM, []),
    "stream_in_pools": (STREAM, ["--pool", "sram:any", "--workspace-io"]),
    "quantized": (QUANTIZED, []),
    "constant": (CONSTANT, []),
}

# Names that belong to the program, even if modules have the same names.
NAMES_IN_C = """
static int plain(int pooled) { return pooled; }
int streaming(void);
int streaming(void) {
  int quantized = plain(1);
  return quantized;
}
"""
NAMES_IN_CXX = """
namespace plain { inline int pooled() { return 1; } }
int streaming();
int streaming() {
  int quantized = plain::pooled();
  return quantized;
}
"""

# Macros of the C library whose names tensors may have, and the headers that define them.
MACROS = ["errno", "stdin", "stdout", "stderr", "EOF", "I", "complex", "BUFSIZ", "RAND_MAX", "signgam", "M_PI", "assert", "NAN",
          "INT_MAX", "FLT_EPSILON", "SIGINT", "EINVAL", "LC_ALL", "FE_INEXACT", "PRId32", "offsetof", "setjmp", "SEEK_SET", "bool"]
HEADERS_IN_C = ["assert", "complex", "errno", "fenv", "float", "inttypes", "limits", "locale", "math", "setjmp", "signal", "stdbool",
                "stddef", "stdint", "stdio", "stdlib", "string", "tgmath", "time", "wchar"]
HEADERS_IN_CXX = [name for name in HEADERS_IN_C if name not in ("complex", "stdbool", "tgmath")]


class InterfaceFlagsTest(CliCase):
    def compile_models(self):
        self.folders = []
        for module, (text, options) in MODELS.items():
            model = self.write(module + ".relay", text) if text else DIGITS
            folder = self.path(module)
            common = ["--module-name", module, "--runtime", "crt", "--interface", "c", "--codegen", "c", "--target", "x86-64"]
            self.succeeds("compile", model, "-o", folder, *common, *options)
            self.folders.append(folder)

    def headers(self):
        return "".join('#include "{}.h"\n'.format(module) for module in MODELS)

    def run_compiler(self, *command):
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(result.returncode, 0, result.stdout.decode())

    def check(self, compiler, source, *flags):
        self.run_compiler(compiler, "-fsyntax-only", source, *flags, "-I" + INCLUDE, *["-I" + folder for folder in self.folders])

    def check_calls(self, compiler, source, *flags):
        """Checks that no function calls itself, directly or through others. gcc writes the graph of calls."""
        self.run_compiler(compiler, "-O0", "-fcallgraph-info", "-c", source, *flags, "-o", self.path("calls.o"))
        callees = {}
        with open(self.path("calls.ci"), encoding="utf-8") as file:
            for caller, callee in re.findall(r'^edge: \{ sourcename: "(.*?)" targetname: "(.*?)"', file.read(), re.M):
                callees.setdefault(caller, set()).add(callee)
        self.assertTrue(callees)
        while callees:
            ends = [function for function, called in callees.items() if not called & set(callees)]
            self.assertTrue(ends, "functions that call themselves, and their callers: {}".format(sorted(callees)))
            for function in ends:
                del callees[function]

    def test_headers(self):
        self.compile_models()
        in_c = self.write("names.c", self.headers() + NAMES_IN_C)
        in_cxx = self.write("names.cc", self.headers() + NAMES_IN_CXX)
        for c_compiler, cxx_compiler in PAIRS:
            for checks in ([], ["-DKILN_CHECKS"], ["-DKILN_CHECKS=1"]):
                for standard in C_STANDARDS:
                    with self.subTest(compiler=c_compiler, standard=standard, checks=checks):
                        self.check(c_compiler, in_c, "-std=" + standard, *C_FLAGS, *checks)
                for standard in CXX_STANDARDS:
                    with self.subTest(compiler=cxx_compiler, standard=standard, checks=checks):
                        self.check(cxx_compiler, in_cxx, "-std=" + standard, *CXX_FLAGS, *checks)

    def test_all_models_in_one_translation_unit(self):
        self.compile_models()
        sources = ["{0}/{0}.c".format(module) for module in MODELS]
        descriptions = ["{0}/{0}_model.c".format(module) for module in MODELS]
        for name, files in ("code.c", sources), ("all.c", sources + descriptions):
            unit = self.write(name, "".join('#include "{}"\n'.format(file) for file in files))
            for compiler, _ in PAIRS:
                for standard in C_STANDARDS:
                    with self.subTest(unit=name, compiler=compiler, standard=standard):
                        self.check(compiler, unit, "-std=" + standard, "-O2", *C_FLAGS, *(EVERYTHING if compiler == CLANG else []))

    def test_levels_of_optimization_on_cores(self):
        """Warnings that depend on the level, and on code for the core."""
        for target, (tools, processor, model) in CORES.items():
            gcc = tools + "-gcc"
            self.succeeds("compile", model, "-o", self.path(target), "--module-name", "m", "--runtime", "crt", "--interface", "c", "--codegen", "c",
                          "--target", target)
            unit = self.write(target + ".c", '#include "{}/m.c"\n'.format(target))
            if shutil.which(CLANG):
                with self.subTest(target=target, compiler=CLANG):
                    self.run_compiler(CLANG, "-std=c99", *OF_CLANG[tools], *processor, *C_FLAGS, *EVERYTHING, "-fsyntax-only", unit)
            with self.subTest(target=target, compiler=gcc):
                if shutil.which(gcc) is None:
                    self.skipTest(gcc + " is not installed")
                flags = OF_GCC[tools] + processor
                for level in ("-Os", "-O3", "-Og"):
                    self.run_compiler(gcc, "-std=gnu17", level, *flags, *C_FLAGS, "-c", unit, "-o", self.path("m.o"))
                self.check_calls(gcc, unit, *flags)

    def test_no_recursion(self):
        self.compile_models()
        sources = "".join('#include "{0}/{0}.c"\n#include "{0}/{0}_model.c"\n'.format(module) for module in MODELS)
        self.check_calls("gcc", self.write("all.c", sources), "-I" + INCLUDE)
        recursive = self.write("recursive.c", "int odd(int n);\nint even(int n) { return n == 0 ? 1 : odd(n - 1); }\n"
                               "int odd(int n) { return n == 0 ? 0 : even(n - 1); }\n")
        with self.assertRaisesRegex(AssertionError, "even.*odd"):
            self.check_calls("gcc", recursive)

    def test_two_models_with_inputs_of_one_name(self):
        """Firmware in C++17 that runs both."""
        tools, processor, _ = CORES["cortex-m4f"]
        if shutil.which(tools + "-g++") is None:
            self.skipTest(tools + "-g++ is not installed")
        includes, sources = [], []
        for module, size in (("first", 3), ("second", 4)):
            model, folder = self.write(module + ".relay", INPUT_1.format(size)), self.path(module)
            self.succeeds("compile", model, "-o", folder, "--runtime", "crt", "--interface", "c", "--codegen", "c", "--target", "cortex-m4f")
            includes.append("-I" + folder)
            sources.append(os.path.join(folder, module + ".c"))
        both = self.write("both.cc", BOTH)
        self.run_compiler(tools + "-g++", "-std=c++17", *processor, *CXX_FLAGS, *includes, "-c", both, "-o", self.path("both.o"))
        self.run_compiler(tools + "-gcc", "-std=c99", *processor, "-r", "-nostdlib", self.path("both.o"), *sources, "-o", self.path("firmware.o"))

    def test_tensors_called_like_macros_of_the_c_library(self):
        """The header compiles after the macro's header, in C and C++, and a program can name the tensors."""
        parameters = ", ".join("%{}: Tensor[(1, 2), float32]".format(name) for name in MACROS)
        results = ", ".join("nn.relu(%{})".format(name) for name in MACROS)
        names = ", ".join('"{}"'.format(name) for name in MACROS)
        model = self.write("macros.relay", '#[version = "0.0.5"]\ndef @main({}, output_tensor_names=[{}]) {{ ({}) }}\n'.format(parameters, names, results))
        self.succeeds("compile", model, "-o", self.out, "--runtime", "crt", "--interface", "c", "--codegen", "c", "--target", "x86-64")
        self.folders = [self.out]
        use = "int32_t go(float (&memory)[2]) {\n  using namespace tvmgen_macros;\n  return run({" + ", ".join("input::{}_(memory)".format(name) for name in MACROS)
        use += "}, {" + ", ".join("output::{}_(memory)".format(name) for name in MACROS) + "});\n}\n"
        pointers = ", ".join(".{}_ = memory".format(name) for name in MACROS)
        in_c = "int32_t go(float* memory);\nint32_t go(float* memory) {\n"
        in_c += "  const struct tvmgen_macros_inputs inputs = {{{0}}};\n  const struct tvmgen_macros_outputs outputs = {{{0}}};\n".format(pointers)
        in_c += "  return tvmgen_macros_run(&inputs, &outputs);\n}\n"
        includes = lambda headers: "".join("#include <{}.h>\n".format(name) for name in headers) + '#include "macros.h"\n'
        in_c, in_cxx = self.write("use.c", includes(HEADERS_IN_C) + in_c), self.write("use.cc", includes(HEADERS_IN_CXX) + "int32_t go(float (&memory)[2]);\n" + use)
        for c_compiler, cxx_compiler in PAIRS + [("arm-none-eabi-gcc", "arm-none-eabi-g++")]:
            for standard in ("c99", "gnu17"):
                with self.subTest(compiler=c_compiler, standard=standard):
                    self.check(c_compiler, in_c, "-std=" + standard, "-Wall", "-Werror")
            for standard in ("c++17", "gnu++20"):
                with self.subTest(compiler=cxx_compiler, standard=standard):
                    self.check(cxx_compiler, in_cxx, "-std=" + standard, "-Wall", "-Werror")

    def test_a_module_called_like_a_keyword(self):
        """Only the TVMModel gets another name, and a note states this."""
        options = ["--runtime", "crt", "--codegen", "c", "--target", "x86-64"]
        note = "kiln: note: the TVMModel of the module '{0}' is called '{0}_', because C, its library or Kiln reserves the other name\n"
        for name in ("int", "main"):
            result = self.kiln("compile", DIGITS, "--module-name", name, "--interface", "c", "-o", self.out, *options)
            self.assertEqual((result.returncode, result.stderr.decode()), (0, note.format(name)))
            with open(self.path("out/" + name + ".h"), encoding="utf-8") as file:
                self.assertIn("extern const struct TVMModel {}_;\n".format(name), file.read())
        result = self.kiln("package", DIGITS, "--for", "cmake", "--module-name", "int", "-o", self.path("package"))
        self.assertEqual((result.returncode, result.stderr.decode()), (0, note.format("int")))
        for module, interface in (("integer", "c"), ("int", "packed")):
            result = self.kiln("compile", DIGITS, "--module-name", module, "--interface", interface, *options, "-o", self.path(interface))
            self.assertEqual((result.returncode, result.stderr), (0, b""))

    def test_the_model_for_tvmexecute(self):
        """The TVMModel has the module's name, and is declared if kiln/model.h is included before the header."""
        self.compile_models()
        source = self.write("execute.c", '#include <kiln/model.h>\n\n' + self.headers() + "const TVMModel* first(void);\n"
                            "const TVMModel* first(void) { return &plain; }\n")
        for compiler, _ in PAIRS:
            self.check(compiler, source, "-std=c99", *C_FLAGS)


if __name__ == "__main__":
    unittest.main()
