# SPDX-License-Identifier: Apache-2.0
"""compile_object: a model's C source as one object, with what the compiler says of its functions' stack."""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "ACTION_NAMES")
load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cc_toolchain")

def compile_object(ctx, name, source, compilation_context, copts):
    """Compiles a C source for the platform of the build.

    Args:
      ctx: of a rule with the C++ tool chain and the fragment cpp.
      name: of the files, without suffix.
      source: File.
      compilation_context: where its headers are.
      copts: flags of the compiler.
    Returns:
      The object, and what gcc -fstack-usage writes.
    """
    cc_toolchain = find_cc_toolchain(ctx)
    feature_configuration = cc_common.configure_features(ctx = ctx, cc_toolchain = cc_toolchain)
    object = ctx.actions.declare_file(name + ".o")
    stack_usage = ctx.actions.declare_file(name + ".su")
    variables = cc_common.create_compile_variables(
        cc_toolchain = cc_toolchain,
        feature_configuration = feature_configuration,
        include_directories = compilation_context.includes,
        output_file = object.path,
        quote_include_directories = compilation_context.quote_includes,
        source_file = source.path,
        system_include_directories = compilation_context.system_includes,
        user_compile_flags = copts + ["-fstack-usage"],
    )
    ctx.actions.run(
        executable = cc_common.get_tool_for_action(
            action_name = ACTION_NAMES.c_compile,
            feature_configuration = feature_configuration,
        ),
        arguments = cc_common.get_memory_inefficient_command_line(
            action_name = ACTION_NAMES.c_compile,
            feature_configuration = feature_configuration,
            variables = variables,
        ),
        inputs = depset([source], transitive = [compilation_context.headers, cc_toolchain.all_files]),
        outputs = [object, stack_usage],
        mnemonic = "KilnStackUsage",
    )
    return object, stack_usage
