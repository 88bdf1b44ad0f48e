# SPDX-License-Identifier: Apache-2.0
"""QEMU's boards for the cores of //tools/bazel/platforms: one per core, named after the core.

`emulator` and `arguments` start the machine. `flash_start`, `ram_start`, `max_flash_bytes` and
`max_ram_bytes` describe its memory.
"""

load("//tools:model_copts.bzl", "size_level")
load("//tools/bazel/platforms:cores.bzl", "CORES")

# The machine has no display, monitor or serial line. Semihosting writes to standard output.
_CONSOLE = [
    "-display",
    "none",
    "-monitor",
    "none",
    "-serial",
    "none",
    "-chardev",
    "stdio,id=console",
    "-semihosting-config",
    "enable=on,target=native,chardev=console",
]

def _arm(machine, flash_start, ram_start, max_bytes):
    return struct(
        arguments = ["-machine", machine] + _CONSOLE,
        emulator = "qemu-system-arm",
        flash_start = flash_start,
        max_flash_bytes = max_bytes,
        max_ram_bytes = max_bytes,
        ram_start = ram_start,
    )

_MEGABYTE = 1024 * 1024

BOARDS = {
    "cortex_m3": _arm("mps2-an385", 0x00000000, 0x20000000, 4 * _MEGABYTE),
    "cortex_m33f": _arm("mps2-an505", 0x10000000, 0x38000000, 4 * _MEGABYTE),
    "cortex_m4f": _arm("mps2-an386", 0x00000000, 0x20000000, 4 * _MEGABYTE),
    "cortex_m55": _arm("mps3-an547", 0x00000000, 0x30000000, 512 * 1024),
    "cortex_m7f": _arm("mps2-an500", 0x00000000, 0x20000000, 4 * _MEGABYTE),
    "riscv32imac": struct(
        # Without firmware of its own, the machine starts at the first byte of its memory.
        arguments = ["-machine", "virt", "-bios", "none"] + _CONSOLE,
        emulator = "qemu-system-riscv32",
        flash_start = 0x80000000,
        max_flash_bytes = 4 * _MEGABYTE,
        max_ram_bytes = 4 * _MEGABYTE,
        ram_start = 0x80400000,
    ),
}

def board_properties(board):
    """Returns a dictionary with everything that is needed to build an image for a board and run it:
    fields of BOARDS and CORES, and size_level.
    """
    return dict(
        arguments = BOARDS[board].arguments,
        compiler = CORES[board].compiler,
        emulator = BOARDS[board].emulator,
        flags = CORES[board].flags,
        flash_start = BOARDS[board].flash_start,
        max_flash_bytes = BOARDS[board].max_flash_bytes,
        max_ram_bytes = BOARDS[board].max_ram_bytes,
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
