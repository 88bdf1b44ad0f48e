# SPDX-License-Identifier: Apache-2.0
"""A program that needs no package of Debian but the C and C++ libraries."""

load("@release_libraries//:link.bzl", "RELEASE_FLAGS")
load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cc_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

def _without_flags(linker_input):
    return cc_common.create_linker_input(owner = linker_input.owner, libraries = depset(linker_input.libraries))

def _static_program_impl(ctx):
    cc_toolchain = find_cc_toolchain(ctx)
    linking_context = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps]).linking_context
    inputs = linking_context.linker_inputs.to_list()
    flags = ["-Wl,-Bstatic"]
    for linker_input in inputs:
        for flag in linker_input.user_link_flags:
            flags += RELEASE_FLAGS.get(flag, [flag])
    flags += ["-Wl,-Bdynamic", "-Wl,--as-needed", "-Wl,--strip-all", "-Wl,--disable-new-dtags", "-Wl,-rpath,$ORIGIN/../lib/kiln"]
    result = cc_common.link(
        name = ctx.label.name,
        actions = ctx.actions,
        # Debian's archives are not files of a repository. The file with the package versions stands
        # for them as input.
        additional_inputs = [ctx.file._packages] + [file for linker_input in inputs for file in linker_input.additional_inputs],
        cc_toolchain = cc_toolchain,
        feature_configuration = cc_common.configure_features(ctx = ctx, cc_toolchain = cc_toolchain),
        linking_contexts = [cc_common.create_linking_context(
            linker_inputs = depset([_without_flags(linker_input) for linker_input in inputs], order = "topological"),
        )],
        user_link_flags = flags,
    )
    return [DefaultInfo(files = depset([result.executable]), executable = result.executable)]

static_program = rule(
    implementation = _static_program_impl,
    doc = """Links what a cc_binary of the same deps links, with static archives in the place of shared objects where there are any.

The object files are those of every other build, so a release costs one more link. The rest lies in ../lib/kiln, which the program
searches before the system's folders, also for what these need themselves: by DT_RPATH, since DT_RUNPATH does not go on to them.""",
    attrs = {
        "deps": attr.label_list(mandatory = True, providers = [CcInfo]),
        "_packages": attr.label(default = "@release_libraries//:packages.json", allow_single_file = True),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    executable = True,
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
