# SPDX-License-Identifier: Apache-2.0
"""Packages for CMake in firmware for a Cortex-M4F, run in QEMU."""

import os
import unittest

from tests.package.package_case import DIGITS, HERE, MY_MOD, ROOT, PackageCase, needs_llvm
from tools.firmware.run_images import run_image

RUN_SECONDS = 60

FIRMWARE = """
cmake_minimum_required(VERSION 3.13)
project(firmware C)
add_subdirectory(package)
set(platform {root}/runtime_crt/platform/bare_metal)
add_executable(firmware {check} ${{platform}}/semihosting.c ${{platform}}/stack_usage.c ${{platform}}/start.c
  ${{platform}}/start_cortex_m.c)
target_include_directories(firmware PRIVATE {root})
target_link_libraries(firmware PRIVATE kiln::{name})
target_link_options(firmware PRIVATE -nostartfiles -T${{platform}}/image.ld -Wl,--gc-sections
  -Wl,--defsym=stack_bytes=0x1000,--defsym=flash_start=0,--defsym=flash_bytes=0x80000
  -Wl,--defsym=ram_start=0x20000000,--defsym=ram_bytes=0x10000)
"""

CORTEX_M4F = """
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_C_FLAGS_INIT "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 -ffunction-sections")
"""


class BoardTest(PackageCase):
    def check(self, model, name, codegen):
        """Runs check_<name>.c on the board. Its exit status is the result."""
        self.write("cortex_m4f.cmake", CORTEX_M4F)
        self.package("cmake", "--codegen", codegen, model=model, target="cortex-m4f")
        check = os.path.join(HERE, "check_{}.c".format(name))
        self.write("CMakeLists.txt", FIRMWARE.format(root=ROOT, check=check, name=name))
        build = self.cmake(self.folder, "-DCMAKE_TOOLCHAIN_FILE=cortex_m4f.cmake")
        result = run_image("cortex_m4f", os.path.join(build, "firmware"), RUN_SECONDS)
        self.assertEqual(result["status"], 0, result["output"])

    def test_source(self):
        self.check(DIGITS, "digits", "c")

    @needs_llvm
    def test_object(self):
        self.check(MY_MOD, "my_mod", "llvm")


if __name__ == "__main__":
    unittest.main()
