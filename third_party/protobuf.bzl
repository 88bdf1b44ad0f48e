# SPDX-License-Identifier: Apache-2.0
"""Generates C++ code of protocol buffer messages with the protoc of the library. Bazel's own rules
for this are not used because they differ between the supported versions of Bazel."""

load("@rules_cc//cc:defs.bzl", "cc_library")
load("//tools/bazel:tool_configuration.bzl", "TOOL_CONFIGURATION")

def _protobuf_sources_impl(ctx):
    root = ctx.label.workspace_root
    arguments = ctx.actions.args()
    arguments.add("--proto_path=" + (root or "."))
    arguments.add("--cpp_out=%s/%s" % (ctx.bin_dir.path, root) if root else "--cpp_out=" + ctx.bin_dir.path)
    arguments.add(ctx.file.src)
    ctx.actions.run(
        executable = ctx.executable._protoc,
        arguments = [arguments],
        inputs = [ctx.file.src],
        outputs = [ctx.outputs.header, ctx.outputs.source],
        mnemonic = "ProtobufSources",
    )

_protobuf_sources = rule(
    implementation = _protobuf_sources_impl,
    attrs = {
        "header": attr.output(mandatory = True),
        "source": attr.output(mandatory = True),
        "src": attr.label(allow_single_file = [".proto"], mandatory = True),
        "_protoc": attr.label(
            allow_files = True,
            cfg = TOOL_CONFIGURATION,
            default = "@com_google_protobuf//:protoc",
            executable = True,
        ),
    },
)

def protobuf_cc_library(name, src, **kwargs):
    """Declares a library with the header `<stem>.pb.h` of a file `<stem>.proto` without imports.

    Args:
      name: name of the library.
      src: the .proto file, a file of this package.
      **kwargs: further attributes of the cc_library.
    """
    stem = src[:-len(".proto")]
    header = stem + ".pb.h"
    source = stem + ".pb.cc"
    _protobuf_sources(
        name = name + "_sources",
        header = header,
        source = source,
        src = src,
    )
    cc_library(
        name = name,
        srcs = [source],
        hdrs = [header],
        deps = ["@com_google_protobuf//:protobuf"],
        **kwargs
    )
