# SPDX-License-Identifier: Apache-2.0
"""Packages for Zephyr in the stand-in of tests/package/zephyr: the sample builds, and the module is off by default."""

import os
import subprocess
import unittest

import yaml

from tests.package.package_case import CODEGENS, DIGITS, FLAGS, HERE, MY_MOD_OUTPUT, PackageCase

# A model with a state of 40,000 bytes, floats with the initial value 2.
STREAM = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 10000), float32], %h: Tensor[(1, 10000), float32], output_tensor_names=["y", "h.next"],
          state_inputs=["h"], state_outputs=["h.next"], state_initial=[2f]) {
  %0 = add(%x, %h);
  (mean(%0, axis=[1]), %0)
}
"""
ZEPHYR = os.path.join(HERE, "zephyr")


class ZephyrTest(PackageCase):
    def configure(self, folder, name):
        """Configures a project with -no-pie, because code without an operating system cannot be relocated."""
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
        """Zephyr saves floating-point registers only if FPU is enabled."""
        folder = self.package("zephyr", model=DIGITS, target="cortex-m4f", folder="hard")
        self.assertIn("\timply FPU\n", self.read(folder, "zephyr", "Kconfig"))
        folder = self.package("zephyr", model=DIGITS, target="cortex-m4", folder="soft")
        self.assertNotIn("FPU", self.read(folder, "zephyr", "Kconfig"))

    def test_flags_are_of_gcc_and_clang(self):
        text = self.read(self.package("zephyr", target="cortex-m55"), "zephyr/CMakeLists.txt")
        self.assert_flags_are_of_gcc_and_clang(text, FLAGS + ["-mcpu=cortex-m55+nomve.fp"])

    def test_the_sample_names_what_it_needs(self):
        """The sample declares an architecture, memory for code and initial values, and a stack for main."""
        stream = self.write("stream.relay", STREAM)
        figures = {}
        for target, arch in (("cortex-m4f", "arm"), ("riscv32imac", "riscv"), ("xtensa-esp32s3-elf", "xtensa")):
            folder = self.package("zephyr", model=stream, target=target, folder=target)
            sample = yaml.safe_load(self.read(folder, "samples/run/sample.yaml"))
            self.assertEqual(sample["sample"]["name"], "stream")
            test = sample["tests"]["kiln.stream.run"]
            self.assertEqual(test["arch_allow"], arch)
            # 40,960 bytes of tensors, as many bytes of state, and a kernel.
            self.assertGreaterEqual(test["min_ram"], 80)
            self.assertLess(test["min_ram"], 160)
            figures[target] = test["min_flash"]
            configuration = dict(line.split("=") for line in self.read(folder, "samples/run/prj.conf").splitlines())
            self.assertEqual(configuration["CONFIG_KILN_STREAM"], "y")
            self.assertGreaterEqual(int(configuration["CONFIG_MAIN_STACK_SIZE"]), 4096)
        # Without the initial values of the state, which take 40,000 bytes of flash.
        plain = self.package("zephyr", model=self.write("stream.relay", STREAM.replace("[2f]", "[0f]")), target="cortex-m4f", folder="zeros")
        zeros = yaml.safe_load(self.read(plain, "samples/run/sample.yaml"))["tests"]["kiln.stream.run"]["min_flash"]
        self.assertIn(figures["cortex-m4f"] - zeros, (39, 40))
        # DIGITS has 105,512 bytes of constants, and code.
        digits = self.package("zephyr", model=DIGITS, target="cortex-m4f", folder="digits")
        needed = yaml.safe_load(self.read(digits, "samples/run/sample.yaml"))["tests"]["kiln.digits.run"]["min_flash"]
        self.assertGreaterEqual(needed, (105512 + 2000) // 1024 + 40)

    def test_an_application_called_like_the_model(self):
        """The names of the module, its library and its symbol begin with kiln_."""
        folder = self.package("zephyr")
        module = yaml.safe_load(self.read(folder, "zephyr/module.yml"))
        self.assertEqual(module["name"], "kiln_my_mod")
        self.assertIn("zephyr_library_named(kiln_my_mod)", self.read(folder, "zephyr/CMakeLists.txt"))
        sample = os.path.join(folder, "samples", "run")
        name = "samples/run/CMakeLists.txt"
        self.write(os.path.join(folder, name), self.read(folder, name).replace("project(my_mod_run", "project(my_mod") + "add_custom_target(my_mod)\n")
        build = self.configure(sample, "build")
        self.assertEqual(self.run_command(os.path.join(build, "zephyr_elf")), MY_MOD_OUTPUT)

    def test_off_by_default(self):
        sample = os.path.join(self.package("zephyr"), "samples", "run")
        self.write(os.path.join(sample, "prj.conf"), "\n")
        self.write(os.path.join(sample, "src", "main.c"), "int main(void) { return 0; }\n")
        build = self.configure(sample, "build")
        self.assertNotIn("my_mod", self.run_command("nm", os.path.join(build, "zephyr_elf")))

    def test_what_the_stand_in_is_for(self):
        """The stand-in detects each of these errors in a package."""
        folder = self.package("zephyr")
        sample = os.path.join(folder, "samples", "run")
        files = {name: self.read(folder, name) for name in ("zephyr/CMakeLists.txt", "zephyr/module.yml", "samples/run/prj.conf")}
        for name, old, new, words in (
            ("zephyr/CMakeLists.txt", "my_mod.c", "no.c", "no file"),
            ("zephyr/CMakeLists.txt", "zephyr_library_named", "zephyr_library_name", "Unknown CMake command"),
            ("zephyr/CMakeLists.txt", "zephyr_library_named(kiln_my_mod)", "", "before zephyr_library"),
            ("zephyr/CMakeLists.txt", ":-O2>", ":-O2> -g", "one option per call"),
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
