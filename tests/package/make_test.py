# SPDX-License-Identifier: Apache-2.0
"""Packages for make: the example, and the makefile of a program that includes two packages."""

import os
import re
import unittest

from tests.package.package_case import CODEGENS, DIGITS, HERE, MY_MOD_OUTPUT, WARNINGS, PackageCase

MAKEFILE = """
include one/my_mod.mk
include two/digits.mk

app: {check} $(KILN_MY_MOD_LIBRARY) $(KILN_DIGITS_LIBRARY)
\t$(CC) $(CFLAGS) $(KILN_MY_MOD_CFLAGS) $(KILN_DIGITS_CFLAGS) $^ -o $@

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
        """The program's target remains the first one, and nothing is built twice."""
        self.package("make", folder="one")
        self.package("make", model=DIGITS, folder="two")
        self.write("Makefile", MAKEFILE.format(check=os.path.join(HERE, "check_my_mod.c")))
        self.make()
        self.run_command(self.path("app"))
        self.assertIn("up to date", self.make())
        self.assertEqual(sorted(os.listdir(self.path("build"))), ["kiln_digits", "kiln_my_mod"])

    def test_an_application_called_like_the_model(self):
        """The names of the program in build/ and of its variables do not conflict with the package's."""
        self.package("make", folder="one")
        self.write("Makefile", "MY_MOD_SOURCES := {}\nall: build/my_mod\ninclude one/my_mod.mk\n"
                   "build/my_mod: $(MY_MOD_SOURCES) $(KILN_MY_MOD_LIBRARY)\n\t$(CC) $(CFLAGS) $(KILN_MY_MOD_CFLAGS) $^ -o $@\n".format(os.path.join(HERE, "check_my_mod.c")))
        self.make()
        self.run_command(self.path("build/my_mod"))

    def test_the_static_workspace_goes(self):
        """A program that passes its own workspace does not contain the static one: its .bss is smaller by that size."""
        folder = self.package("make", model=DIGITS, folder="two")
        call = "tvmgen_digits_run_with_workspace(image, probabilities, memory)"
        bss = {}
        for name, run in (("own", call), ("static", "tvmgen_digits_run_model(image, probabilities)")):
            self.write(name + ".c", '#include "digits.h"\nstatic float image[64], probabilities[10];\n'
                       "static uint8_t memory[TVMGEN_DIGITS_WORKSPACE_SIZE_BYTES] __attribute__((aligned(64)));\n"
                       "int main(void) {{ return memory[0] + {}; }}\n".format(run))
            self.write("Makefile", "all: {0}\ninclude two/digits.mk\n{0}: {0}.c $(KILN_DIGITS_LIBRARY)\n"
                       "\t$(CC) $(CFLAGS) $(KILN_DIGITS_CFLAGS) $^ -Wl,--gc-sections -o $@\n".format(name))
            self.make()
            bss[name] = int(self.run_command("size", self.path(name)).splitlines()[1].split()[2])
        workspace = int(re.search(r"\| (\d+) \| workspace \| RAM", self.read(folder, "README.md")).group(1))
        self.assertGreater(workspace, 10000)
        self.assertLess(abs(bss["static"] - bss["own"] - workspace), 128)

    def test_where_it_is_built(self):
        self.package("make", folder="one")
        self.write("Makefile", "KILN_MY_MOD_OUT := elsewhere\ninclude one/my_mod.mk\nall: $(KILN_MY_MOD_LIBRARY)\n")
        self.make()
        self.assertTrue(os.path.exists(self.path("elsewhere/libkiln_my_mod.a")))

    def test_another_compiler(self):
        self.package("make", model=DIGITS, target="cortex-m4f", folder="two")
        self.write("Makefile", "include two/digits.mk\nall: $(KILN_DIGITS_LIBRARY)\n")
        processor = "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16"
        self.run_command("make", "CC=arm-none-eabi-gcc", "AR=arm-none-eabi-ar", "CFLAGS=" + processor)
        self.assertIn("elf32-littlearm", self.run_command("arm-none-eabi-objdump", "-a", "build/kiln_digits/libkiln_digits.a"))


if __name__ == "__main__":
    unittest.main()
