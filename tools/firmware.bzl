# SPDX-License-Identifier: Apache-2.0
"""firmware_image and firmware_test: programs for boards without an operating system.

Tests of such programs run in QEMU.

    load("@kiln//tools:firmware.bzl", "firmware_image", "firmware_test")

    firmware_image(
        name = "blink",
        srcs = ["blink.c"],
        flash_bytes = 64 * 1024,
        ram_bytes = 16 * 1024,
        deps = [":my_mod"],
    )

    firmware_test(
        name = "blink_test",
        board = "cortex_m4f",
        images = [":blink"],
    )

An image is built for the platform of the build. A test builds its images for its board, on any
platform. The result of a test is the status that main returns: 0 passes. A fault (status 200 and
above), an abort of the runtime (199) and a timeout (124) fail. docs/embedded.md has an example.
"""

load("@rules_cc//cc:defs.bzl", "cc_binary")
load("//tools/bazel:tool_configuration.bzl", "TOOL_CONFIGURATION")
load("//tools/firmware:boards.bzl", "BOARDS")

_BARE_METAL = "//runtime_crt/platform/bare_metal:"
_IMAGE_LD = str(Label(_BARE_METAL + "image.ld"))

def _condition(board):
    return str(Label("//tools/bazel/platforms:on_" + board))

def firmware_image(name, deps = [], flash_bytes = 256 * 1024, ram_bytes = 64 * 1024, stack_bytes = 4096, linkopts = [], **kwargs):
    """A program with start-up code for a machine with the given memory.

    A program that needs more memory does not link.

    Args:
      name: name of the target.
      deps: deps of cc_binary, in addition to the start-up code.
      flash_bytes: room for code, constants and initial values.
      ram_bytes: room for stack, data, and the memory that TVMPlatformMemoryAllocate returns.
      stack_bytes: part of ram_bytes for the stack.
      linkopts: of cc_binary.
      **kwargs: of cc_binary.
    """
    sizes = [("flash_bytes", flash_bytes), ("ram_bytes", ram_bytes), ("stack_bytes", stack_bytes)]
    cc_binary(
        name = name,
        additional_linker_inputs = [_IMAGE_LD],
        linkopts = linkopts + ["-T $(location %s)" % _IMAGE_LD] + [
            "-Wl,--defsym=%s=%d" % size
            for size in sizes
        ] + select(dict([
            (_condition(name), ["-Wl,--defsym=flash_start=%d" % board.flash_start, "-Wl,--defsym=ram_start=%d" % board.ram_start])
            for name, board in BOARDS.items()
        ], **{"//conditions:default": []})),
        target_compatible_with = select({
            str(Label("//tools/bazel/platforms:firmware")): [],
            "//conditions:default": ["@platforms//:incompatible"],
        }),
        deps = deps + [str(Label(_BARE_METAL + "start"))],
        **kwargs
    )

# The images of a test are built for its board, without the flags of a sanitizer or of a debug
# build.
def _board_transition_impl(_settings, attr):
    return {
        "//command_line_option:compilation_mode": "opt",
        "//command_line_option:copt": [],
        "//command_line_option:features": [],
        "//command_line_option:linkopt": [],
        "//command_line_option:platforms": str(Label("//tools/bazel/platforms:" + attr.board)),
    }

board_transition = transition(
    implementation = _board_transition_impl,
    inputs = [],
    outputs = [
        "//command_line_option:compilation_mode",
        "//command_line_option:copt",
        "//command_line_option:features",
        "//command_line_option:linkopt",
        "//command_line_option:platforms",
    ],
)

def _firmware_test_impl(ctx):
    images = ctx.files.images
    statuses = ctx.attr.statuses or [0 for _ in images]
    if len(statuses) != len(images):
        fail("%s: found %d statuses for %d images" % (ctx.label, len(statuses), len(images)))
    configuration = ctx.actions.declare_file(ctx.label.name + ".json")
    ctx.actions.write(configuration, json.encode({
        "board": ctx.attr.board,
        "images": [{"path": images[i].short_path, "status": statuses[i]} for i in range(len(images))],
        "runner": ctx.executable._run_image.short_path,
        "timeout_seconds": ctx.attr.timeout_seconds,
    }))
    executable = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(
        executable,
        "#!/bin/sh\nexec %s %s\n" % (ctx.executable._run_images.short_path, configuration.short_path),
        is_executable = True,
    )
    return [DefaultInfo(
        executable = executable,
        runfiles = ctx.runfiles(files = images + [configuration, ctx.executable._run_image]).merge(ctx.attr._run_images[DefaultInfo].default_runfiles),
    )]

firmware_test = rule(
    implementation = _firmware_test_impl,
    doc = "Runs images on a board that QEMU emulates, one after the other; each must end with its status.",
    attrs = {
        "board": attr.string(
            doc = "A board of tools/firmware/boards.bzl: the name of its core.",
            mandatory = True,
            values = BOARDS.keys(),
        ),
        "images": attr.label_list(
            cfg = board_transition,
            doc = "Targets of firmware_image.",
            mandatory = True,
        ),
        "statuses": attr.int_list(doc = "What each image must end with; default: 0."),
        "timeout_seconds": attr.int(
            default = 60,
            doc = "For each image.",
        ),
        "_allowlist_function_transition": attr.label(default = "@bazel_tools//tools/allowlists/function_transition_allowlist"),
        "_run_image": attr.label(default = "//tools/firmware:run_image", executable = True, cfg = TOOL_CONFIGURATION),
        "_run_images": attr.label(default = "//tools/firmware:run_images", executable = True, cfg = "target"),
    },
    test = True,
)
