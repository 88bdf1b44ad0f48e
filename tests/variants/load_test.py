# SPDX-License-Identifier: Apache-2.0
"""A library for another CPU is refused, with its name, before any of its code runs."""

import os
import shutil
import subprocess
import unittest

from tests.cli.cli_case import CODEGENS, MY_MOD, CliCase

QEMU = shutil.which("qemu-x86_64")
PROGRAM = os.path.abspath("tests/variants/load_library")
CONSTRUCTOR = """
#include <stdio.h>
__attribute__((constructor)) static void leave(void) {
  FILE* file = fopen(MARK, "w");
  if (file != NULL) fclose(file);
}
"""


@unittest.skipUnless(QEMU and os.uname().machine == "x86_64", "no qemu-x86_64, which the package qemu-user has, or another machine")
class LoadTest(CliCase):
    def load(self, cpu, library):
        result = subprocess.run([QEMU, "-cpu", cpu, PROGRAM, library], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertIn(result.returncode, (0, 1), "on {}: {}".format(cpu, result.stderr.decode()))
        return result.stdout.decode().strip()

    def compiled(self, *flags):
        self.succeeds("compile", MY_MOD, "-o", self.out, *flags)
        return self.path("out/my_mod.so")

    def test_features_that_the_cpu_lacks_are_named(self):
        lines = {
            ("x86-64-v4", "Haswell"): "x86-64-v4, this CPU lacks avx512f; it runs what is compiled with --target x86-64-v3",
            ("x86-64-v3", "Nehalem"): "x86-64-v3, this CPU lacks avx, bmi, bmi2, lzcnt, movbe; it runs what is compiled with --target x86-64-v2",
            ("x86-64 -mcpu=znver3", "Haswell"): "znver3 with popcnt, cx16, sahf, avx2, bmi, bmi2, sse4a, f16c, fma, lzcnt, movbe, this CPU lacks sse4a; it runs what is compiled with --target x86-64-v3",
            ("x86-64-v3 -mattr=+avxvnni", "Haswell"): "x86-64-v3 with avxvnni, this CPU lacks avxvnni; it runs what is compiled with --target x86-64-v3",
        }
        for codegen in CODEGENS:
            for (target, cpu), words in lines.items():
                library = self.compiled("--codegen", codegen, "--target", target)
                self.assertEqual(self.load(cpu, library), "FAILED_PRECONDITION: {}: is built for {}".format(library, words))
                self.assertIn("\nCPU: {}\n".format(words.split(", this CPU")[0]), self.succeeds("inspect", library))

    def test_a_cpu_that_has_all_of_them_runs_it(self):
        for target, cpu in (("x86-64", "Nehalem"), ("x86-64-v2", "Nehalem"), ("x86-64-v3", "Haswell")):
            self.assertEqual(self.load(cpu, self.compiled("--target", target)), "my_mod")

    def test_with_cpu_variants_the_lowest_one_counts(self):
        library = self.compiled("--cpu-variants", "x86-64-v2,x86-64-v3")
        self.assertEqual(self.load("Nehalem", library), "my_mod")
        self.assertIn("is built for x86-64-v2, this CPU lacks ", self.load("Conroe", library))

    @unittest.skipUnless(shutil.which("cc"), "no C compiler")
    def test_constructors_do_not_run(self):
        library, notes, mark = self.compiled("--target", "x86-64-v4"), self.path("notes.bin"), self.path("ran")
        subprocess.run(["objcopy", "--dump-section", ".note.kiln=" + notes, library], check=True)
        source = self.write("notes.s", '.section .note.kiln,"a"\n.balign 4\n.incbin "{}"\n.section .note.GNU-stack,"",%progbits\n'.format(notes))
        other = self.path("other.so")
        command = ["cc", "-shared", "-fPIC", '-DMARK="{}"'.format(mark), self.write("constructor.c", CONSTRUCTOR), source, "-o", other]
        subprocess.run(command, check=True)
        self.assertIn("this CPU lacks avx512f", self.load("Haswell", other))
        self.assertFalse(os.path.exists(mark))
        # The same library without the notes shows that the constructor exists.
        command.remove(source)
        subprocess.run(command, check=True)
        self.assertIn("not a compiled model", self.load("Haswell", other))
        self.assertTrue(os.path.exists(mark))


if __name__ == "__main__":
    unittest.main()
