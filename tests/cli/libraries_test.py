# SPDX-License-Identifier: Apache-2.0
"""Libraries that are damaged or for another machine, and a system that gives little."""

import subprocess
import unittest

from tests.cli.cli_case import CODEGENS, DIGITS, CliCase, needs_llvm


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

    def test_library_with_a_changed_byte(self):
        for codegen in CODEGENS:
            self.succeeds("compile", DIGITS, "-o", self.path(codegen), "--codegen", codegen)
            with open(self.path(codegen + "/digits.so"), "rb") as file:
                library = file.read()
            for at in range(0, len(library), len(library) // 4):
                changed = self.write("changed.so", library[:at] + bytes([library[at] ^ 1]) + library[at + 1 :])
                for command in ("run", "inspect", "bench"):
                    self.refuses("changed.so: found ", command, changed)
            # The last byte is one of the checksum, without which the library is whole.
            changed = self.write("changed.so", library[:-1] + bytes([library[-1] ^ 1]))
            for command in (["run", changed, "--input", "image=random"], ["inspect", changed], ["bench", changed, "--seconds", "0.01"]):
                self.refuses("wanted ", *command)
                self.succeeds(*command, "--skip-checksum")
            for other in (library[:-24], library[:-1], library + b"\n"):
                self.refuses("its last bytes are no checksum", "inspect", self.write("other.so", other))
                self.succeeds("inspect", self.path("other.so"), "--skip-checksum")

    def test_library_that_a_tool_has_written_anew(self):
        self.succeeds("compile", DIGITS, "-o", self.path("lib"))
        for number, command in enumerate((["strip"], ["strip", "-g"], ["strip", "--strip-unneeded"], ["objcopy", "-R", ".comment"])):
            bare = self.path("bare{}.so".format(number))
            output = [bare] if command[0] == "objcopy" else ["-o", bare]
            source = [self.path("lib/digits.so")]
            subprocess.run(command + (source + output if command[0] == "objcopy" else output + source), check=True)
            self.succeeds("run", bare, "--input", "image=random")


if __name__ == "__main__":
    unittest.main()
