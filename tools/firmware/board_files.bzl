# SPDX-License-Identifier: Apache-2.0
"""board_files: the files of targets that are built for a board, for tests that inspect the bytes.

    board_files(
        name = "parts",
        board = "cortex_m4f",
        targets = ["//runtime_crt:module"],
    )

The files are named <name>/<name of the target><extension>.
"""

load("//tools:firmware.bzl", "board_transition")
load("//tools/firmware:boards.bzl", "BOARDS")

def _board_files_impl(ctx):
    links = []
    for target in ctx.attr.targets:
        file = target[DefaultInfo].files.to_list()[0]
        extension = "." + file.extension if file.extension else ""
        link = ctx.actions.declare_file("%s/%s%s" % (ctx.label.name, target.label.name, extension))
        ctx.actions.symlink(output = link, target_file = file)
        links.append(link)
    return [DefaultInfo(files = depset(links), runfiles = ctx.runfiles(files = links))]

board_files = rule(
    implementation = _board_files_impl,
    doc = "The first file of each target, built for a board.",
    attrs = {
        "board": attr.string(mandatory = True, values = BOARDS.keys()),
        "targets": attr.label_list(cfg = board_transition, mandatory = True),
        "_allowlist_function_transition": attr.label(default = "@bazel_tools//tools/allowlists/function_transition_allowlist"),
    },
)
