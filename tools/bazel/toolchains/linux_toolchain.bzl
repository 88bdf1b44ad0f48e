# SPDX-License-Identifier: Apache-2.0
"""A cc_toolchain of a GNU cross compiler for Linux.

It has the features that Bazel gives to the host's compiler.
"""

load("@bazel_tools//tools/cpp:unix_cc_toolchain_config.bzl", "cc_toolchain_config")
load("@rules_cc//cc:defs.bzl", "cc_toolchain")

# The same bytes on every machine.
_UNFILTERED_COMPILE_FLAGS = [
    "-fno-canonical-system-headers",
    "-Wno-builtin-macro-redefined",
    "-D__DATE__=\"redacted\"",
    "-D__TIME__=\"redacted\"",
    "-D__TIMESTAMP__=\"redacted\"",
]

def linux_toolchain(name, compiler, cpu, include_directories):
    """Declares a cc_toolchain.

    Args:
      name: name of the target.
      compiler: prefix of the compiler's programs, such as "aarch64-linux-gnu".
      cpu: the name of the machine.
      include_directories: the compiler's default include directories.
    """
    native.filegroup(name = "nothing")
    cc_toolchain_config(
        name = name + "_config",
        abi_libc_version = "glibc",
        abi_version = "gcc",
        compiler = "gcc",
        cpu = cpu,
        cxx_builtin_include_directories = include_directories,
        host_system_name = "local",
        link_flags = ["-Wl,-z,relro,-z,now"],
        link_libs = ["-lstdc++", "-lm"],
        opt_compile_flags = ["-O2", "-DNDEBUG", "-ffunction-sections", "-fdata-sections"],
        opt_link_flags = ["-Wl,--gc-sections"],
        target_libc = "glibc",
        target_system_name = compiler,
        tool_paths = dict(
            {
                tool: "/usr/bin/{}-{}".format(compiler, tool)
                for tool in ["ar", "cpp", "gcc", "gcov", "ld", "nm", "objcopy", "objdump", "strip"]
            },
            **{"llvm-cov": "/usr/bin/false"}  # only coverage calls it
        ),
        toolchain_identifier = compiler,
        unfiltered_compile_flags = _UNFILTERED_COMPILE_FLAGS,
    )
    cc_toolchain(
        name = name,
        all_files = ":nothing",
        ar_files = ":nothing",
        as_files = ":nothing",
        compiler_files = ":nothing",
        dwp_files = ":nothing",
        linker_files = ":nothing",
        objcopy_files = ":nothing",
        strip_files = ":nothing",
        supports_param_files = True,
        toolchain_config = ":" + name + "_config",
        toolchain_identifier = compiler,
        visibility = ["//visibility:public"],
    )
