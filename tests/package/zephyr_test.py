# SPDX-License-Identifier: Apache-2.0
"""Packages for Zephyr, in the stand-in of tests/package/zephyr: the sample builds, and the module is off by default."""

import os
import subprocess
import unittest

from tests.package.package_case import CODEGENS, DIGITS, HERE, MY_MOD_OUTPUT, PackageCase

ZEPHYR = os.path.join(HERE, "zephyr")


class ZephyrTest(PackageCase):
    def configure(self, folder, name):
        """Code without an operating system is for one place in memory."""
        options = ["-DZephyr_DIR=" + ZEPHYR, "-DCMAKE_EXE_LINKER_FLAGS=-no-pie"]
        return self.cmake(folder, *options, build=name, KCONFIG=os.path.join(ZEPHYR, "kconfig.py"))

    def refuses_configuration(self, words, folder):
        command = ["cmake", "-S", folder, "-B", self.path("refused"), "-DZephyr_DIR=" + ZEPHYR]
        environment = dict(os.environ, KCONFIG=os.path.join(ZEPHYR, "kconfig.py"))
        result = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn(words, " ".join(result.stdout.decode().split()))

    def test_sample(self):
        for codegen in CODEGENS:
            with self.subTest(codegen):
                folder = self.package("zephyr", "--codegen", codegen, folder=codegen)
                build = self.configure(os.path.join(folder, "samples", "run"), "build-" + codegen)
                self.assertEqual(self.run_command(os.path.join(build, "zephyr_elf")), MY_MOD_OUTPUT)

    def test_floats(self):
        """Zephyr saves the registers of floats only if it is told to."""
        folder = self.package("zephyr", model=DIGITS, target="cortex-m4f", folder="hard")
        self.assertIn("\timply FPU\n", self.read(folder, "zephyr", "Kconfig"))
        folder = self.package("zephyr", model=DIGITS, target="cortex-m4", folder="soft")
        self.assertNotIn("FPU", self.read(folder, "zephyr", "Kconfig"))

    def test_off_by_default(self):
        sample = os.path.join(self.package("zephyr"), "samples", "run")
        self.write(os.path.join(sample, "prj.conf"), "\n")
        self.write(os.path.join(sample, "src", "main.c"), "int main(void) { return 0; }\n")
        build = self.configure(sample, "build")
        self.assertNotIn("my_mod", self.run_command("nm", os.path.join(build, "zephyr_elf")))

    def test_what_the_stand_in_is_for(self):
        """Each of these would be found in a package."""
        folder = self.package("zephyr")
        sample = os.path.join(folder, "samples", "run")
        files = {name: self.read(folder, name) for name in ("zephyr/CMakeLists.txt", "zephyr/module.yml", "samples/run/prj.conf")}
        for name, old, new, words in (
            ("zephyr/CMakeLists.txt", "my_mod.c", "no.c", "no file"),
            ("zephyr/CMakeLists.txt", "zephyr_library_named", "zephyr_library_name", "Unknown CMake command"),
            ("zephyr/CMakeLists.txt", "zephyr_library_named(kiln_my_mod)", "", "before zephyr_library"),
            ("zephyr/module.yml", "kconfig:", "Kconfig:", "wanted keys of"),
            ("samples/run/prj.conf", "MY_MOD", "MY_MOT", "KILN_MY_MOT"),
        ):
            with self.subTest(new):
                self.assertIn(old, files[name])
                self.write(os.path.join(folder, name), files[name].replace(old, new))
                self.refuses_configuration(words, sample)
                self.write(os.path.join(folder, name), files[name])


if __name__ == "__main__":
    unittest.main()
