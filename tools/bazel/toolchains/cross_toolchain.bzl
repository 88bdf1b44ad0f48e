# SPDX-License-Identifier: Apache-2.0
"""cc_toolchain targets for the cores of one GNU cross compiler."""

load("@rules_cc//cc:action_names.bzl", "ACTION_NAMES")
load(
    "@rules_cc//cc:cc_toolchain_config_lib.bzl",
    "feature",
    "flag_group",
    "flag_set",
    "tool_path",
    "with_feature_set",
)
load("@rules_cc//cc:defs.bzl", "cc_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/toolchains:cc_toolchain_config_info.bzl", "CcToolchainConfigInfo")
load("//tools/bazel/platforms:cores.bzl", "CORES")

_COMPILE = [
    ACTION_NAMES.assemble,
    ACTION_NAMES.c_compile,
    ACTION_NAMES.cpp_compile,
    ACTION_NAMES.preprocess_assemble,
]

# Sections: the linker can drop each function and object separately. Macros: the same bytes on every
# machine. -ffp-contract: the same results as on a server.
_COMPILE_FLAGS = [
    "-ffunction-sections",
    "-fdata-sections",
    "-ffp-contract=off",
    "-fno-canonical-system-headers",
    "-Wno-builtin-macro-redefined",
    "-D__DATE__=\"redacted\"",
    "-D__TIME__=\"redacted\"",
    "-D__TIMESTAMP__=\"redacted\"",
]

_LINK_FLAGS = [
    # The image has its own start-up code.
    "-nostartfiles",
    "-Wl,--gc-sections",
    "-Wl,--no-warn-rwx-segments",
    "-Wl,-z,noexecstack",
]

def _flags(actions, flags, mode = None):
    return flag_set(
        actions = actions,
        flag_groups = [flag_group(flags = flags)],
        with_features = [with_feature_set(features = [mode])] if mode else [],
    )

def _cross_toolchain_config_impl(ctx):
    features = [
        feature(name = "dbg"),
        feature(name = "fastbuild"),
        feature(name = "opt"),
        # An image is linked at fixed addresses, so --force_pic does not change its code.
        feature(name = "supports_pic", enabled = True),
        feature(name = "pic"),
        feature(name = "force_pic_flags"),
        feature(
            name = "default_compile_flags",
            enabled = True,
            flag_sets = [
                _flags(_COMPILE, ctx.attr.flags + _COMPILE_FLAGS),
                _flags(_COMPILE, ["-Og", "-g"], "dbg"),
                _flags(_COMPILE, ["-Os"], "fastbuild"),
                _flags(_COMPILE, ["-Os", "-DNDEBUG"], "opt"),
            ],
        ),
        feature(
            name = "default_link_flags",
            enabled = True,
            flag_sets = [_flags([ACTION_NAMES.cpp_link_executable], ctx.attr.flags + _LINK_FLAGS)],
        ),
    ]
    prefix = "/usr/bin/{}-".format(ctx.attr.compiler)
    return cc_common.create_cc_toolchain_config_info(
        ctx = ctx,
        abi_libc_version = "unknown",
        abi_version = "unknown",
        compiler = "gcc",
        cxx_builtin_include_directories = ctx.attr.include_directories,
        features = features,
        host_system_name = "local",
        target_cpu = ctx.attr.core,
        target_libc = "unknown",
        target_system_name = ctx.attr.compiler,
        tool_paths = [
            tool_path(name = name, path = prefix + program)
            for name, program in [
                ("ar", "ar"),
                ("cpp", "cpp"),
                ("gcc", "gcc"),
                ("gcov", "gcov"),
                ("ld", "ld"),
                ("nm", "nm"),
                ("objcopy", "objcopy"),
                ("objdump", "objdump"),
                ("strip", "strip"),
            ]
        ],
        toolchain_identifier = ctx.attr.core,
    )

_cross_toolchain_config = rule(
    implementation = _cross_toolchain_config_impl,
    attrs = {
        "compiler": attr.string(mandatory = True),
        "core": attr.string(mandatory = True),
        "flags": attr.string_list(mandatory = True),
        "include_directories": attr.string_list(mandatory = True),
    },
    provides = [CcToolchainConfigInfo],
)

def cross_toolchains(compiler, include_directories):
    """Declares a cc_toolchain for each core of `compiler`, named after the core.

    Args:
      compiler: as in cores.bzl.
      include_directories: the compiler's default include directories.
    """

    # All files that the compiler needs are installed on the machine.
    native.filegroup(name = "nothing")
    for core, description in CORES.items():
        if description.compiler != compiler:
            continue
        _cross_toolchain_config(
            name = core + "_config",
            compiler = compiler,
            core = core,
            flags = description.flags,
            include_directories = include_directories,
        )
        cc_toolchain(
            name = core,
            all_files = ":nothing",
            ar_files = ":nothing",
            as_files = ":nothing",
            compiler_files = ":nothing",
            dwp_files = ":nothing",
            linker_files = ":nothing",
            objcopy_files = ":nothing",
            strip_files = ":nothing",
            supports_param_files = True,
            toolchain_config = ":{}_config".format(core),
            visibility = ["//visibility:public"],
        )
