# SPDX-License-Identifier: Apache-2.0
"""Compiles objects of a model: its C source with the stack usage of its functions, and an object
for its module name.
"""

load("@rules_cc//cc:action_names.bzl", "ACTION_NAMES")
load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cc_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")

def compile_object(ctx, name, source, compilation_context, copts):
    """Compiles a C source for the platform of the build.

    Args:
      ctx: of a rule with the C++ tool chain and the fragment cpp.
      name: name of the output files, without suffix.
      source: File.
      compilation_context: has the paths of the headers.
      copts: flags of the compiler.
    Returns:
      The object, and the file that gcc -fstack-usage writes.
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

def module_name_context(ctx, module_name):
    """Returns an object that two models with the same module name both define.

    If a program links two such models, the linker refuses it, and the symbol's name states the
    reason. Without this object, the linker would silently use the plain C functions of one model
    for both.

    Args:
      ctx: of a rule with the C++ tool chain and the fragment cpp.
      module_name: of the model.
    Returns:
      The linking context of the object.
    """
    cc_toolchain = find_cc_toolchain(ctx)
    feature_configuration = cc_common.configure_features(ctx = ctx, cc_toolchain = cc_toolchain)
    source = ctx.actions.declare_file("%s.name/%s_module_name.c" % (ctx.label.name, ctx.label.name))
    symbol = "two_cc_models_of_one_program_have_the_module_name_" + module_name
    ctx.actions.write(source, "extern const char {symbol};\nconst char {symbol} = 0; /* {label} */\n".format(
        label = ctx.label,
        symbol = symbol,
    ))
    _, compiled = cc_common.compile(
        actions = ctx.actions,
        feature_configuration = feature_configuration,
        cc_toolchain = cc_toolchain,
        name = ctx.label.name + "_module_name",
        srcs = [source],
        # The object takes no room if the linker drops unreferenced data.
        user_compile_flags = ["-std=c99", "-fdata-sections"],
    )
    linking_context, _ = cc_common.create_linking_context_from_compilation_outputs(
        actions = ctx.actions,
        name = ctx.label.name + "_module_name",
        feature_configuration = feature_configuration,
        cc_toolchain = cc_toolchain,
        compilation_outputs = compiled,
        alwayslink = True,
        disallow_dynamic_library = True,
    )
    return linking_context
