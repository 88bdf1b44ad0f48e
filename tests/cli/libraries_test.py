# SPDX-License-Identifier: Apache-2.0
"""Libraries that are damaged or for another machine, and a system that gives little."""

import unittest

from tests.cli.cli_case import DIGITS, CliCase, needs_llvm


class LibrariesTest(CliCase):
    @needs_llvm
    def test_library_for_another_machine(self):
        for target, machine in (("aarch64", "aarch64"), ("riscv64gc", "riscv64"), ("x86-64", "x86-64")):
            self.succeeds("compile", DIGITS, "-o", self.path(target), "--target", target)
            library = self.path(target + "/digits.so")
            results = [self.kiln(command, library) for command in ("run", "inspect", "bench")]
            if any(" is for " in result.stderr.decode() for result in results):
                for result in results:
                    self.assertEqual(result.returncode, 2)
                    self.assertRegex(result.stderr.decode(), r"digits.so: is for {}, this machine is \w+".format(machine))
            else:
                self.assertEqual(results[1].returncode, 0, target + " is not this machine")

    def test_library_that_is_cut_off(self):
        self.succeeds("compile", DIGITS, "-o", self.path("lib"))
        with open(self.path("lib/digits.so"), "rb") as file:
            library = file.read()
        for size in (100, 5000, len(library) // 2):
            cut = self.write("cut.so", library[:size])
            for command in ("run", "inspect", "bench"):
                self.refuses("cut.so: ", command, cut)


if __name__ == "__main__":
    unittest.main()
