# SPDX-License-Identifier: Apache-2.0
"""Processor cores for firmware. Platforms, tool chains, cc_model and tests read this table.

    load("//tools/bazel/platforms:cores.bzl", "CORES")

    [
        platform(name = core, constraint_values = ["//tools/bazel/platforms/core:" + core])
        for core in CORES
    ]

`compiler` is the prefix of the GNU tool chain for the core. `flags` are its options. `target` is
the core's name for `kiln compile --target`.
"""

_ARM = "arm-none-eabi"
_RISCV = "riscv64-unknown-elf"

CORES = {
    "cortex_m3": struct(
        compiler = _ARM,
        flags = ["-mcpu=cortex-m3", "-mthumb", "-mfloat-abi=soft"],
        target = "cortex-m3",
    ),
    "cortex_m33f": struct(
        compiler = _ARM,
        flags = ["-mcpu=cortex-m33", "-mthumb", "-mfpu=fpv5-sp-d16", "-mfloat-abi=hard"],
        target = "cortex-m33f",
    ),
    "cortex_m4f": struct(
        compiler = _ARM,
        flags = ["-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"],
        target = "cortex-m4f",
    ),
    "cortex_m55": struct(
        compiler = _ARM,
        # No MVE for floats: its vectors flush subnormals to zero, so that results would differ.
        flags = ["-mcpu=cortex-m55+nomve.fp", "-mthumb", "-mfloat-abi=hard"],
        target = "cortex-m55",
    ),
    "cortex_m7f": struct(
        compiler = _ARM,
        flags = ["-mcpu=cortex-m7", "-mthumb", "-mfpu=fpv5-sp-d16", "-mfloat-abi=hard"],
        target = "cortex-m7f",
    ),
    "riscv32imac": struct(
        compiler = _RISCV,
        # With the default -misa-spec, GCC 12 selects 64-bit libraries for this -march.
        flags = ["-misa-spec=2.2", "-march=rv32imac", "-mabi=ilp32", "-mcmodel=medany", "--specs=picolibc.specs"],
        target = "riscv32imac",
    ),
}
