# SPDX-License-Identifier: Apache-2.0
"""Libraries that are damaged or for another machine, and a system with few resources."""

import hashlib
import json
import os
import shutil
import subprocess
import unittest

from tests.cli.cli_case import CODEGENS, DIGITS, MY_MOD, CliCase, needs_llvm

# A library that creates a file when it is loaded.
CONSTRUCTOR = """
#include <stdio.h>
__attribute__((constructor)) static void leave(void) {
  FILE* file = fopen(MARK, "w");
  if (file != NULL) fclose(file);
}
int __tvm_dev_mblob = 1;
"""


class LibrariesTest(CliCase):
    @needs_llvm
    def test_library_for_another_machine(self):
        for target, machine in (("aarch64", "aarch64"), ("riscv64gc", "riscv64"), ("x86-64", "x86-64")):
            self.succeeds("compile", DIGITS, "-o", self.path(target), "--target", target)
            library = self.path(target + "/digits.so")
            results = [self.kiln(*command, library) for command in (("run",), ("inspect", "--load"), ("bench",))]
            if any(" is for " in result.stderr.decode() for result in results):
                for result in results:
                    self.assertEqual(result.returncode, 2)
                    self.assertRegex(result.stderr.decode(), r"digits.so: is for {}, this machine is \w+".format(machine))
            else:
                self.assertEqual(results[1].returncode, 0, target + " is not this machine")
            # The metadata of a library is read from the file, even if it is for another machine.
            self.assertIn("module digits for {}: ".format(target), self.succeeds("inspect", library))

    def test_library_for_another_cpu(self):
        """Only CPUs of AMD's Bulldozer family have XOP."""
        self.succeeds("compile", DIGITS, "-o", self.path("xop"), "--target", "x86-64 -mattr=+xop")
        library = self.path("xop/digits.so")
        for command in (("run",), ("inspect", "--load"), ("bench",)):
            self.refuses("digits.so: is built for x86-64 with xop, this CPU lacks ", *command, library)
        self.assertIn("\nCPU: x86-64 with xop\n", self.succeeds("inspect", library))

    # Origin of a library.

    def origin(self, *options):
        """Returns the origin in the library of digits, compiled with the given options."""
        self.succeeds("compile", DIGITS, "-o", self.path("origin"), *options)
        return json.loads(self.succeeds("inspect", "--json", self.path("origin/digits.so")))["origin"]

    @needs_llvm
    def test_origin(self):
        with open(DIGITS, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        first = self.origin()
        self.assertEqual(first["model_sha256"], digest)
        self.assertRegex(first["compiler"], r"\Akiln \d+\.\d+\.\d+\Z")
        self.assertRegex(first["options_sha256"], r"\A[0-9a-f]{64}\Z")
        self.assertEqual(self.origin(), first)
        text = self.succeeds("inspect", self.path("origin/digits.so"))
        self.assertIn("SHA-256 model   {}\n".format(digest), text)
        # Every option that changes the code changes the digest of the options.
        options = (("--target", "x86-64-v2"), ("--executor", "graph"), ("--threads", "1"), ("--optimize", "size"), ("--profile",))
        digests = {self.origin(*option)["options_sha256"] for option in options} | {first["options_sha256"]}
        self.assertEqual(len(digests), len(options) + 1)
        loaded = json.loads(self.succeeds("inspect", "--load", "--json", self.path("origin/digits.so")))["origin"]
        self.assertEqual(loaded, self.origin("--profile"))

    # inspect does not load the library.

    def library_with_a_constructor(self, name, *more):
        """Builds a shared object that creates the file `ran` when it is loaded."""
        source = self.write("constructor.c", CONSTRUCTOR)
        path = self.path(name)
        mark = '-DMARK="{}"'.format(self.path("ran"))
        subprocess.run(["cc", "-shared", "-fPIC", mark, source, *more, "-o", path], check=True)
        return path

    def ran(self):
        found = os.path.exists(self.path("ran"))
        if found:
            os.remove(self.path("ran"))
        return found

    @unittest.skipUnless(shutil.which("cc"), "no C compiler")
    def test_inspecting_runs_no_code_of_the_file(self):
        for name in ("evil.so", "evil.onnx", "evil"):
            library = self.library_with_a_constructor(name)
            for options in ((), ("--json",), ("--skip-checksum",)):
                self.refuses(name + ": is a shared object without a note of Kiln's metadata", "inspect", library, *options)
                self.assertFalse(self.ran())
        self.refuses("evil: ", "inspect", library, "--load")
        self.assertTrue(self.ran(), "--load loads it")
        program = self.path("program")
        subprocess.run(["cc", "-x", "c", "-", "-no-pie", "-o", program], input=b"int main(void) { return 0; }", check=True)
        self.refuses("program: is a program; for a firmware image wanted --emulator with a QEMU", "inspect", program)

    @unittest.skipUnless(shutil.which("cc"), "no C compiler")
    def test_inspecting_a_model_with_other_code(self):
        """The metadata of a library is shown, but additional code in it is not run."""
        self.succeeds("compile", MY_MOD, "-o", self.path("lib"))
        notes = self.path("notes.bin")
        subprocess.run(["objcopy", "--dump-section", ".note.kiln=" + notes, self.path("lib/my_mod.so")], check=True)
        source = self.write("notes.s", '.section .note.kiln,"a"\n.balign 4\n.incbin "{}"\n.section .note.GNU-stack,"",%progbits\n'.format(notes))
        library = self.library_with_a_constructor("model.so", source)
        self.assertEqual(self.succeeds("inspect", library), self.succeeds("inspect", self.path("lib/my_mod.so")))
        self.assertFalse(self.ran())

    def test_the_notes_survive_strip(self):
        for codegen in CODEGENS:
            self.succeeds("compile", DIGITS, "-o", self.path(codegen), "--codegen", codegen)
            library = self.path(codegen + "/digits.so")
            with open(self.path(codegen + "/digits.metadata.json"), encoding="utf-8") as file:
                wanted = json.load(file)
            self.assertEqual(json.loads(self.succeeds("inspect", "--json", library)), wanted)
            subprocess.run(["strip", library], check=True)
            self.assertEqual(json.loads(self.succeeds("inspect", "--json", library)), wanted)

    def test_the_cpu_is_named(self):
        """The target `host` does not name a CPU, so the metadata contains its name."""
        self.succeeds("compile", DIGITS, "-o", self.path("lib"))
        metadata = json.loads(self.succeeds("inspect", "--json", self.path("lib/digits.so")))
        self.assertEqual(metadata["target"], "host")
        self.assertRegex(metadata["cpu"], r"^x86-64(-v[234])?$" if os.uname().machine == "x86_64" else ".*")
        self.assertIn("\nCPU: " + metadata["cpu"], self.succeeds("inspect", self.path("lib/digits.so")))

    def test_library_that_is_cut_off(self):
        self.succeeds("compile", DIGITS, "-o", self.path("lib"))
        with open(self.path("lib/digits.so"), "rb") as file:
            library = file.read()
        for size in (100, 5000, len(library) // 2):
            cut = self.write("cut.so", library[:size])
            for command in ("run", "inspect", "bench"):
                self.refuses("cut.so: ", command, cut)
            self.refuses("cut.so: ", "inspect", "--load", cut)

    def test_library_with_a_changed_byte(self):
        for codegen in CODEGENS:
            self.succeeds("compile", DIGITS, "-o", self.path(codegen), "--codegen", codegen)
            with open(self.path(codegen + "/digits.so"), "rb") as file:
                library = file.read()
            for at in range(0, len(library), len(library) // 4):
                changed = self.write("changed.so", library[:at] + bytes([library[at] ^ 1]) + library[at + 1 :])
                for command in ("run", "inspect", "bench"):
                    self.refuses("changed.so: found ", command, changed)
            # The last byte belongs to the checksum. The rest of the library is intact.
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
