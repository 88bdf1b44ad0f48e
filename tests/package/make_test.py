# SPDX-License-Identifier: Apache-2.0
"""Packages for make: the example, and the makefile of a program that includes two of them."""

import os
import unittest

from tests.package.package_case import CODEGENS, DIGITS, HERE, MY_MOD_OUTPUT, WARNINGS, PackageCase

MAKEFILE = """
include one/my_mod.mk
include two/digits.mk

app: {check} $(MY_MOD_LIBRARY) $(DIGITS_LIBRARY)
\t$(CC) $(CFLAGS) $(MY_MOD_CFLAGS) $(DIGITS_CFLAGS) $^ -o $@

clean:
\trm -rf app build
"""


class MakeTest(PackageCase):
    def make(self, *arguments):
        return self.run_command("make", *arguments, "CFLAGS=" + " ".join(WARNINGS))

    def test_example(self):
        for codegen in CODEGENS:
            with self.subTest(codegen):
                folder = self.package("make", "--codegen", codegen, folder=codegen)
                self.make("-C", os.path.join(folder, "examples", "run"))
                self.assertEqual(self.run_command(os.path.join(folder, "examples", "run", "run")), MY_MOD_OUTPUT)

    def test_two_packages_in_a_program(self):
        """The first target is still that of the program, and nothing is made twice."""
        self.package("make", folder="one")
        self.package("make", model=DIGITS, folder="two")
        self.write("Makefile", MAKEFILE.format(check=os.path.join(HERE, "check_my_mod.c")))
        self.make()
        self.run_command(self.path("app"))
        self.assertIn("up to date", self.make())
        self.assertEqual(sorted(os.listdir(self.path("build"))), ["digits", "my_mod"])

    def test_where_it_is_built(self):
        self.package("make", folder="one")
        self.write("Makefile", "MY_MOD_OUT := elsewhere\ninclude one/my_mod.mk\nall: $(MY_MOD_LIBRARY)\n")
        self.make()
        self.assertTrue(os.path.exists(self.path("elsewhere/libmy_mod.a")))

    def test_another_compiler(self):
        self.package("make", model=DIGITS, target="cortex-m4f", folder="two")
        self.write("Makefile", "include two/digits.mk\nall: $(DIGITS_LIBRARY)\n")
        processor = "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16"
        self.run_command("make", "CC=arm-none-eabi-gcc", "AR=arm-none-eabi-ar", "CFLAGS=" + processor)
        self.assertIn("elf32-littlearm", self.run_command("arm-none-eabi-objdump", "-a", "build/digits/libdigits.a"))


if __name__ == "__main__":
    unittest.main()
