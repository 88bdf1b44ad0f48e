# SPDX-License-Identifier: Apache-2.0
"""The documentation as a site: a folder of HTML pages with a search that needs no server."""

load("//tools/bazel:tool_configuration.bzl", "TOOL_CONFIGURATION")

def _site_impl(ctx):
    out = ctx.actions.declare_directory(ctx.label.name)
    arguments = ctx.actions.args()
    arguments.add(ctx.file.config)
    arguments.add(ctx.executable.kiln)
    arguments.add(out.path)
    arguments.add_all(ctx.files.pages)
    ctx.actions.run(
        outputs = [out],
        inputs = [ctx.file.config] + ctx.files.pages,
        tools = [ctx.executable.kiln],
        executable = ctx.executable._build,
        arguments = [arguments],
        mnemonic = "Site",
        progress_message = "Building the documentation site",
        use_default_shell_env = True,
    )
    return [DefaultInfo(files = depset([out]), runfiles = ctx.runfiles([out]))]

site = rule(
    implementation = _site_impl,
    doc = "Builds the pages with MkDocs. A link that leads nowhere and a page without a place in the navigation end the build.",
    attrs = {
        "config": attr.label(mandatory = True, allow_single_file = [".yml"]),
        "kiln": attr.label(
            mandatory = True,
            executable = True,
            cfg = TOOL_CONFIGURATION,
            doc = "The program whose help texts are the reference of the command line.",
        ),
        "pages": attr.label_list(mandatory = True, allow_files = True),
        "_build": attr.label(default = "//docs:build_site", executable = True, cfg = TOOL_CONFIGURATION),
    },
)
