# SPDX-License-Identifier: Apache-2.0
"""With the C++ interface of a generated header, a program with wrong tensors does not compile."""

import subprocess
import tempfile
import unittest

HEADERS = ["tests/rules/swap", "tests/rules/scalar", "tests/rules/upper"]
PROGRAM = """
#include "swap.h"
#include "scalar.h"
{more}
float a[2] = {{}}, b[2] = {{}}, longer[3] = {{}}, out[2] = {{}};
double wide[2] = {{}};
const float fixed[2] = {{}};
std::int32_t Run() noexcept {{
  using namespace tvmgen_swap;
  return run({{{inputs}}}, {{{outputs}}});
}}
"""
RIGHT = {"inputs": "input::a(a), input::b(b)", "outputs": "output::output(out)", "more": '#include "swap.h"'}


class CppInterfaceTest(unittest.TestCase):
    def compile(self, **changed):
        text = PROGRAM.format(**{**RIGHT, **changed})
        with tempfile.NamedTemporaryFile("w", suffix=".cc") as file:
            file.write(text)
            file.flush()
            command = ["c++", "-std=c++17", "-ffreestanding", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fno-exceptions", "-fno-rtti", "-fsyntax-only"]
            for folder in HEADERS:
                command += ["-I", folder]
            return subprocess.run(command + [file.name], stderr=subprocess.PIPE)

    def test_right_program(self):
        result = self.compile()
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        # Inputs may be const.
        self.assertEqual(self.compile(inputs="input::a(fixed), input::b(fixed)").returncode, 0)

    def test_refused(self):
        for what, changed in {
            "swapped inputs": {"inputs": "input::b(b), input::a(a)"},
            "one input twice": {"inputs": "input::a(a), input::a(b)"},
            "another element type": {"inputs": "input::a(wide), input::b(b)"},
            "another number of elements": {"inputs": "input::a(longer), input::b(b)"},
            "an array without its name": {"inputs": "a, b"},
            "too few inputs": {"inputs": "input::a(a)"},
            "an input of another model": {"inputs": "tvmgen_scalar::input::x(a), input::b(b)"},
            "a constant output": {"outputs": "output::output(fixed)"},
            "an input as output": {"outputs": "input::a(a)"},
        }.items():
            with self.subTest(what):
                result = self.compile(**changed)
                self.assertNotEqual(result.returncode, 0)
                self.assertIn(b"error:", result.stderr)

    def test_names_that_differ_in_case(self):
        result = self.compile(more='#include "Swap.h"')
        self.assertNotEqual(result.returncode, 0)
        self.assertIn(b"another model is called Swap but for upper and lower case", result.stderr)


if __name__ == "__main__":
    unittest.main()
