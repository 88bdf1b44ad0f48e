# SPDX-License-Identifier: Apache-2.0
"""Debian's cross compilers as tool chains of Bazel.

    load("@kiln//tools/bazel/toolchains:firmware_toolchains.bzl", "kiln_firmware_toolchains")

    kiln_firmware_toolchains()

--platforms=@kiln//tools/bazel/platforms:cortex_m4f then builds with arm-none-eabi-gcc. A compiler
is looked up at the first build for it, so unused compilers need not be installed. Kiln's
MODULE.bazel does the same for modules.
"""

load("@bazel_tools//tools/build_defs/repo:utils.bzl", "maybe")
load(":cross_gcc.bzl", "cross_gcc", "linux_gcc")

def declare_cross_compilers(declare):
    """Declares a repository for each cross compiler.

    Args:
      declare: called with a repository rule, and with its name and attributes as keywords.
    """
    declare(
        cross_gcc,
        name = "kiln_arm_none_eabi",
        compiler = "arm-none-eabi",
        package = "gcc-arm-none-eabi libnewlib-arm-none-eabi",
        requires = ["/usr/lib/arm-none-eabi/include/string.h"],
    )
    declare(
        cross_gcc,
        name = "kiln_riscv64_unknown_elf",
        compiler = "riscv64-unknown-elf",
        flags = ["--specs=picolibc.specs"],
        package = "gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf",
        requires = ["/usr/lib/picolibc/riscv64-unknown-elf/include/string.h"],
    )
    declare(
        linux_gcc,
        name = "kiln_aarch64_linux_gnu",
        compiler = "aarch64-linux-gnu",
        cpu = "aarch64",
        package = "g++-aarch64-linux-gnu",
    )

def kiln_firmware_toolchains():
    """Declares a repository for each cross compiler and registers the tool chains of all cores."""
    declare_cross_compilers(maybe)
    native.register_toolchains("@kiln//tools/bazel/toolchains:all")
