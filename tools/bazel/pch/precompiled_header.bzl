# SPDX-License-Identifier: Apache-2.0
"""precompiled_header: a header that is parsed once for all compilations that begin with it."""

load("@rules_cc//cc:action_names.bzl", "ACTION_NAMES")
load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cc_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

def _precompiled_header_impl(ctx):
    header = ctx.actions.declare_file(ctx.label.name + ".h")
    compiled = ctx.actions.declare_file(ctx.label.name + ".h.gch")
    ctx.actions.expand_template(output = header, substitutions = {}, template = ctx.file.src)
    cc_toolchain = find_cc_toolchain(ctx)
    feature_configuration = cc_common.configure_features(ctx = ctx, cc_toolchain = cc_toolchain)
    context = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps]).compilation_context
    variables = cc_common.create_compile_variables(
        cc_toolchain = cc_toolchain,
        feature_configuration = feature_configuration,
        include_directories = context.includes,
        output_file = compiled.path,
        quote_include_directories = context.quote_includes,
        source_file = header.path,
        system_include_directories = context.system_includes,
        use_pic = True,
        user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts + ["-xc++-header"],
    )
    ctx.actions.run(
        executable = cc_common.get_tool_for_action(
            action_name = ACTION_NAMES.cpp_compile,
            feature_configuration = feature_configuration,
        ),
        arguments = cc_common.get_memory_inefficient_command_line(
            action_name = ACTION_NAMES.cpp_compile,
            feature_configuration = feature_configuration,
            variables = variables,
        ),
        env = cc_common.get_environment_variables(
            action_name = ACTION_NAMES.cpp_compile,
            feature_configuration = feature_configuration,
            variables = variables,
        ),
        inputs = depset([header], transitive = [context.headers, cc_toolchain.all_files]),
        mnemonic = "PrecompileHeader",
        outputs = [compiled],
        progress_message = "Precompiling %s" % header.short_path,
    )
    return [CcInfo(compilation_context = cc_common.create_compilation_context(
        headers = depset([header, compiled]),
    ))]

precompiled_header = rule(
    doc = "Makes <name>.h and <name>.h.gch, which gcc takes for it.",
    implementation = _precompiled_header_impl,
    attrs = {
        "deps": attr.label_list(doc = "Owners of what the header includes.", providers = [CcInfo]),
        "src": attr.label(allow_single_file = True, doc = "The header.", mandatory = True),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
