# SPDX-License-Identifier: Apache-2.0
"""The examples for CMake and make build every kind of archive in an empty folder, and the program that they build runs."""

import os
import shutil
import subprocess
import tempfile
import unittest

KILN = os.path.abspath("tools/kiln/kiln")
MY_MOD = os.path.abspath("models/my_mod/my_mod.relay")
EXAMPLES = os.path.abspath("mlf/examples")

# Maps the program of an example to options of `kiln compile`.
PROGRAMS = {
    "run_c": ["--interface", "c"],
    "run_packed": ["--interface", "packed"],
    "run_graph": ["--interface", "packed", "--executor", "graph"],
}


class ExamplesTest(unittest.TestCase):
    def run_command(self, *command, folder=None):
        result = subprocess.run(
            command, cwd=folder or self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        self.assertEqual(result.returncode, 0, "{}:\n{}".format(" ".join(command), result.stdout.decode()))
        return result.stdout.decode()

    def check(self, build):
        """Checks every program and code generator.

        `build` makes a program named app in the folder `build` from an archive.
        """
        for program, options in PROGRAMS.items():
            for codegen in os.environ["CODEGENS"].split():
                with self.subTest(program + " " + codegen), tempfile.TemporaryDirectory() as self.folder:
                    archive = os.path.join(self.folder, "my_mod.tar")
                    # Every x86-64 machine can run code for this target.
                    compile_command = [KILN, "compile", MY_MOD, "--runtime", "crt", "--codegen", codegen, "--target", "x86-64"]
                    self.run_command(*compile_command, "--mlf", archive, "--mlf-runtime", *options)
                    os.mkdir(os.path.join(self.folder, "build"))
                    build(archive, program)
                    self.assertEqual(self.run_command("build/app"), "3 255\n")

    def test_make(self):
        self.check(
            lambda archive, program: self.run_command(
                "make",
                "-f",
                os.path.join(EXAMPLES, "makefile", "Makefile"),
                "ARCHIVE=" + archive,
                "PROGRAM=" + program,
                folder=os.path.join(self.folder, "build"),
            )
        )

    @unittest.skipIf(shutil.which("cmake") is None, "cmake is not installed")
    def test_cmake(self):
        def build(archive, program):
            sources = os.path.join(EXAMPLES, "cmake")
            self.run_command("cmake", "-S", sources, "-B", "build", "-DARCHIVE=" + archive, "-DPROGRAM=" + program)
            self.run_command("cmake", "--build", "build")

        self.check(build)


if __name__ == "__main__":
    unittest.main()
