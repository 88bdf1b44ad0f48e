# SPDX-License-Identifier: Apache-2.0
"""Helpers for the tests of packages."""

import os
import re
import shutil
import subprocess

from tests.cli.cli_case import CODEGENS, DIGITS, MY_MOD, CliCase, needs_llvm

HERE = os.path.abspath("tests/package")
ROOT = os.getcwd()
# Targets whose code runs on every machine that runs the tests. Systems for firmware use the target without an operating
# system.
HOST = "x86-64"
BARE_HOST = "x86_64-none-elf"
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
# Flags with which packages compile a model. The last two let the linker drop the static workspace.
FLAGS = ["-O2", "-ffp-contract=off", "-ffunction-sections", "-fdata-sections"]
# Output of an example with inputs of zero.
MY_MOD_OUTPUT = "status 0, outputs.output[0] = 0\n"


class PackageCase(CliCase):
    def package(self, system, *options, model=MY_MOD, target=None, folder="package"):
        """Writes a package and returns its folder. Its code runs on this machine unless `target` is given."""
        path = self.path(folder)
        target = target or (HOST if system in ("cmake", "make") else BARE_HOST)
        self.succeeds("package", model, "--for", system, "-o", path, "--target", target, *options)
        return path

    def run_command(self, *command, folder=None, **environment):
        result = subprocess.run(
            command,
            cwd=folder or self.folder,
            env=dict(os.environ, **environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.assertEqual(result.returncode, 0, "{}:\n{}".format(" ".join(command), result.stdout.decode()))
        return result.stdout.decode()

    def cmake(self, source, *options, build="build", **environment):
        """Configures and builds a project. Returns the build folder."""
        self.assertIsNotNone(shutil.which("cmake"), "tools/install_packages.sh test installs cmake")
        environment["CFLAGS"] = " ".join(WARNINGS)
        self.run_command("cmake", "-S", source, "-B", self.path(build), "-Werror=dev", *options, **environment)
        self.run_command("cmake", "--build", self.path(build), **environment)
        return self.path(build)

    def assert_flags_are_of_gcc_and_clang(self, text, flags):
        """Checks that each flag in a file for CMake stands in a generator expression for compilers that know it."""
        expression = re.compile(r"\$<\$<C_COMPILER_ID:GNU,Clang,AppleClang,ARMClang>:([^>;]*)>")
        self.assertEqual(expression.findall(text), flags)
        self.assertNotRegex(expression.sub("", text), r"\s-|[(:;]-")

    def read(self, *path):
        with open(os.path.join(self.folder, *path), encoding="utf-8") as file:
            return file.read()
