# SPDX-License-Identifier: Apache-2.0
"""Files as C++ data, so that the tool carries them."""

def _embed_headers_impl(ctx):
    output = ctx.actions.declare_file(ctx.label.name + ".cc")
    arguments = ctx.actions.args()
    arguments.add(output)
    arguments.add_all(ctx.files.srcs)
    ctx.actions.run(
        executable = ctx.executable._embed,
        arguments = [arguments],
        inputs = ctx.files.srcs,
        outputs = [output],
        mnemonic = "EmbedHeaders",
    )
    return [DefaultInfo(files = depset([output]))]

embed_headers = rule(
    implementation = _embed_headers_impl,
    doc = "The definition of RuntimeHeaders() over `srcs`, named by their paths below a folder `include`.",
    attrs = {
        "srcs": attr.label_list(allow_files = True, mandatory = True),
        "_embed": attr.label(default = "//tools/kiln:embed", executable = True, cfg = "host"),
    },
)
