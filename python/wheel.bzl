# SPDX-License-Identifier: Apache-2.0
"""Builds the Python package as a wheel, which pip installs."""

load("@rules_cc//cc:action_names.bzl", "ACTION_NAMES")
load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cc_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("//tools/bazel:named_files.bzl", "named_files")
load("//tools/bazel:tool_configuration.bzl", "TOOL_CONFIGURATION")

# CPython 3.10 and later versions, through the stable ABI.
_PYTHON_TAG = "cp310-abi3"

def _name_in_wheel(ctx, file):
    return file.short_path[len(ctx.label.package) + 1:]

def _strip(ctx, file):
    cc_toolchain = find_cc_toolchain(ctx)
    feature_configuration = cc_common.configure_features(ctx = ctx, cc_toolchain = cc_toolchain)
    output = ctx.actions.declare_file("{}.stripped/{}".format(ctx.label.name, _name_in_wheel(ctx, file)))
    arguments = ctx.actions.args()
    arguments.add("--strip-all")
    arguments.add("-o", output)
    arguments.add(file)
    ctx.actions.run(
        executable = cc_common.get_tool_for_action(
            action_name = ACTION_NAMES.strip,
            feature_configuration = feature_configuration,
        ),
        arguments = [arguments],
        inputs = depset([file], transitive = [cc_toolchain.all_files]),
        outputs = [output],
        mnemonic = "KilnStrip",
    )
    return output

def _wheel_impl(ctx):
    tag = "{}-{}".format(_PYTHON_TAG, ctx.attr.platform)
    output = ctx.actions.declare_file("kiln-{}-{}.whl".format(ctx.attr.version, tag))
    files = {_name_in_wheel(ctx, file): file for file in ctx.files.srcs}
    for file in ctx.files.binaries:
        files[_name_in_wheel(ctx, file)] = _strip(ctx, file)
    files.update(named_files(ctx.attr.added))
    arguments = ctx.actions.args()
    arguments.add("--output", output)
    arguments.add("--version", ctx.attr.version)
    arguments.add("--tag", tag)
    arguments.add("--metadata", ctx.file.metadata)
    arguments.add("--license", ctx.file.license)
    for name, file in files.items():
        arguments.add(file, format = name + "=%s")
    ctx.actions.run(
        executable = ctx.executable._make_wheel,
        arguments = [arguments],
        inputs = files.values() + [ctx.file.metadata, ctx.file.license],
        outputs = [output],
        mnemonic = "KilnWheel",
    )
    return [DefaultInfo(files = depset([output]), runfiles = ctx.runfiles([output]))]

wheel = rule(
    implementation = _wheel_impl,
    doc = "A wheel of the package beside this file, with binaries stripped. Equal input gives equal bytes.",
    attrs = {
        "added": attr.label_keyed_string_dict(allow_files = True, doc = "Files of other packages, by where they go: see named_files."),
        "binaries": attr.label_list(allow_files = True, doc = "Shared objects of the package."),
        "license": attr.label(allow_single_file = True, mandatory = True),
        "metadata": attr.label(allow_single_file = True, mandatory = True, doc = "METADATA with @version@ for the version."),
        "platform": attr.string(mandatory = True, doc = "The last part of the wheel's tag."),
        "srcs": attr.label_list(allow_files = True, doc = "Files of the package that go in as they are."),
        "version": attr.string(mandatory = True),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
        "_make_wheel": attr.label(default = "//python:make_wheel", executable = True, cfg = TOOL_CONFIGURATION),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
