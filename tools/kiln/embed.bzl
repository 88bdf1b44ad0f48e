# SPDX-License-Identifier: Apache-2.0
"""Embeds files in the tool as C++ data."""

load("//tools/bazel:tool_configuration.bzl", "TOOL_CONFIGURATION")

def _embed_files_impl(ctx):
    output = ctx.actions.declare_file(ctx.label.name + ".cc")
    arguments = ctx.actions.args()
    arguments.add(output)
    arguments.add(ctx.attr.function)
    arguments.add(ctx.attr.below)
    arguments.add_all(ctx.files.srcs)
    ctx.actions.run(
        executable = ctx.executable._embed,
        arguments = [arguments],
        inputs = ctx.files.srcs,
        outputs = [output],
        mnemonic = "EmbedFiles",
    )
    return [DefaultInfo(files = depset([output]))]

embed_files = rule(
    implementation = _embed_files_impl,
    doc = "The definition of a function of runtime_files.h, which returns the files of `srcs`.",
    attrs = {
        "below": attr.string(doc = "Files are named by their paths below the last folder of this name; without it, by their whole paths."),
        "function": attr.string(mandatory = True),
        "srcs": attr.label_list(allow_files = True, mandatory = True),
        "_embed": attr.label(default = "//tools/kiln:embed", executable = True, cfg = TOOL_CONFIGURATION),
    },
)
