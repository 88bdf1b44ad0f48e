# SPDX-License-Identifier: Apache-2.0
"""QEMU's boards for the cores of //tools/bazel/platforms: one per core, named after the core.

`emulator` starts the machine: a program and its arguments, separated by blanks. run_image.cc runs
it.
`flash_start`, `ram_start`, `max_flash_bytes` and `max_ram_bytes` describe its memory.
`core` is LLVM's name of a core with known cycles (cycles.h), or "". `machines` are the machines of
QEMU with this core.
"""

load("//tools:model_copts.bzl", "size_level")
load("//tools/bazel/platforms:cores.bzl", "CORES")

# The machine has no display, monitor or serial line. Semihosting writes to standard output.
_CONSOLE = (" -display none -monitor none -serial none -chardev stdio,id=console" +
            " -semihosting-config enable=on,target=native,chardev=console")

def _arm(core, machines, flash_start, ram_start, max_bytes):
    return struct(
        core = core,
        emulator = "qemu-system-arm -machine " + machines[0] + _CONSOLE,
        flash_start = flash_start,
        machines = machines,
        max_flash_bytes = max_bytes,
        max_ram_bytes = max_bytes,
        ram_start = ram_start,
    )

_MEGABYTE = 1024 * 1024

BOARDS = {
    "cortex_m3": _arm("cortex-m3", ["mps2-an385"], 0x00000000, 0x20000000, 4 * _MEGABYTE),
    "cortex_m33f": _arm("cortex-m33", ["mps2-an505", "mps2-an521"], 0x10000000, 0x38000000, 4 * _MEGABYTE),
    "cortex_m4f": _arm("cortex-m4", ["mps2-an386"], 0x00000000, 0x20000000, 4 * _MEGABYTE),
    "cortex_m55": _arm("cortex-m55", ["mps3-an547"], 0x00000000, 0x30000000, 512 * 1024),
    "cortex_m7f": _arm("cortex-m7", ["mps2-an500"], 0x00000000, 0x20000000, 4 * _MEGABYTE),
    "riscv32imac": struct(
        core = "",
        # Without firmware of its own, the machine starts at the first byte of its memory.
        emulator = "qemu-system-riscv32 -machine virt -bios none" + _CONSOLE,
        flash_start = 0x80000000,
        machines = ["virt"],
        max_flash_bytes = 4 * _MEGABYTE,
        max_ram_bytes = 4 * _MEGABYTE,
        ram_start = 0x80400000,
    ),
}

def board_properties(board):
    """Returns a dictionary with everything that is needed to build an image for a board and run it:
    its name, fields of BOARDS and CORES, and size_level.
    """
    return dict(
        compiler = CORES[board].compiler,
        core = BOARDS[board].core,
        emulator = BOARDS[board].emulator,
        flags = CORES[board].flags,
        flash_start = BOARDS[board].flash_start,
        machines = BOARDS[board].machines,
        max_flash_bytes = BOARDS[board].max_flash_bytes,
        max_ram_bytes = BOARDS[board].max_ram_bytes,
        name = board,
        ram_start = BOARDS[board].ram_start,
        size_level = size_level(CORES[board].target),
        target = CORES[board].target,
    )

def _boards_json_impl(ctx):
    output = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(output, json.encode([board_properties(board) for board in BOARDS]))
    return [DefaultInfo(files = depset([output]))]

boards_json = rule(
    implementation = _boards_json_impl,
    doc = "A file with the properties of all boards, for programs.",
)
