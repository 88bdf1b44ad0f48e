# SPDX-License-Identifier: Apache-2.0
"""Compiles headers and generated C of the C interface with the flags of strict projects, by gcc and clang, in every
standard."""

import shutil
import subprocess
import unittest

from tests.cli.cli_case import DIGITS, CliCase

INCLUDE = "runtime_crt/include"
COMMON = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-Wconversion", "-Wshadow", "-Wcast-qual", "-Wcast-align", "-Wundef"]
C_FLAGS = COMMON + ["-Wmissing-prototypes", "-Wstrict-prototypes"]
CXX_FLAGS = COMMON + ["-Wold-style-cast", "-fno-exceptions"]
C_STANDARDS = ["c99", "c11", "c17", "c2x"]
CXX_STANDARDS = ["c++11", "c++14", "c++17", "c++20", "c++23"]
CLANG = "clang-19"
PAIRS = [("gcc", "g++")] + ([(CLANG, "clang++-19")] if shutil.which(CLANG) else [])

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

    def check(self, compiler, source, *flags):
        command = [compiler, "-fsyntax-only", source] + list(flags) + ["-I" + INCLUDE] + ["-I" + folder for folder in self.folders]
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(result.returncode, 0, result.stdout.decode())

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
                        self.check(compiler, unit, "-std=" + standard, "-O2", *C_FLAGS)

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
