# SPDX-License-Identifier: Apache-2.0
"""Packages for CMake: built separately, and in the project of a program."""

import os
import unittest

from tests.package.package_case import CODEGENS, DIGITS, FLAGS, HERE, MY_MOD_OUTPUT, PackageCase

# The project of a program with packages as subfolders.
PROJECT = """
cmake_minimum_required(VERSION 3.13)
project(app C)
{subdirectories}
add_executable(app {sources})
target_link_libraries(app PRIVATE {libraries})
"""


class CMakeTest(PackageCase):
    def test_example(self):
        for codegen in CODEGENS:
            with self.subTest(codegen):
                folder = self.package("cmake", "--codegen", codegen, folder=codegen)
                build = self.cmake(folder, build="build-" + codegen)
                self.assertEqual(self.run_command(os.path.join(build, "my_mod_run")), MY_MOD_OUTPUT)

    def test_without_a_target_it_is_for_this_machine(self):
        self.succeeds("package", DIGITS, "--for", "cmake", "-o", self.path("package"))
        build = self.cmake(self.path("package"))
        self.assertRegex(self.run_command(os.path.join(build, "digits_run")), r"^status 0, 1000 \* outputs.probabilities\[0\] = \d+\n$")

    def test_two_packages_in_a_project(self):
        self.package("cmake", folder="one")
        self.package("cmake", model=DIGITS, folder="two")
        self.write("both.c", '#include "digits.h"\n#include "my_mod.h"\nint both(void) { return TVMGEN_DIGITS_NUM_INPUTS + TVMGEN_MY_MOD_NUM_INPUTS; }\n')
        text = PROJECT.format(
            subdirectories="add_subdirectory(one)\nadd_subdirectory(two)",
            sources="both.c " + os.path.join(HERE, "check_my_mod.c"),
            libraries="kiln::my_mod kiln::digits",
        )
        self.write("CMakeLists.txt", text)
        self.run_command(os.path.join(self.cmake(self.folder), "app"))
        # A package builds its examples only if it is the top-level project.
        self.assertFalse(os.path.exists(self.path("build/one/my_mod_run")))

    def test_an_application_that_is_called_like_the_model(self):
        self.package("cmake", folder="package")
        check = os.path.join(HERE, "check_my_mod.c")
        text = PROJECT.format(subdirectories="add_subdirectory(package)", sources=check, libraries="kiln::my_mod")
        self.write("CMakeLists.txt", text.replace("(app", "(my_mod"))
        self.run_command(os.path.join(self.cmake(self.folder), "my_mod"))

    def test_flags_are_of_gcc_and_clang(self):
        text = self.read(self.package("cmake", target="cortex-m55"), "CMakeLists.txt")
        self.assert_flags_are_of_gcc_and_clang(text, FLAGS + ["-mcpu=cortex-m55+nomve.fp"])

    def test_every_kind_of_memory(self):
        """The example supports pools and tensors in the workspace."""
        text = '#[version = "0.0.5"]\ndef @main(%x: Tensor[(1, 4), float32]) { %0 = nn.softmax(%x); %1 = nn.softmax(%0); nn.softmax(%1) }\n'
        model = self.write("soft.relay", text)
        pools = ["--pool", "fast:16::4", "--pool", "any:any"]
        for number, options in enumerate((["--workspace-io"], pools, pools + ["--workspace-io"])):
            with self.subTest(" ".join(options)):
                folder = self.package("cmake", *options, model=model, folder="package{}".format(number))
                build = self.cmake(folder, build="build{}".format(number))
                self.assertRegex(self.run_command(os.path.join(build, "soft_run")), r"^status 0, .* = 250\n$")


if __name__ == "__main__":
    unittest.main()
