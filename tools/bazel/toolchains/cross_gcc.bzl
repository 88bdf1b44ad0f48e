# SPDX-License-Identifier: Apache-2.0
"""Repositories with cc_toolchains of installed GNU cross compilers, for cores or for Linux."""

load("//third_party:system_library.bzl", "require_files")

# Returns the compiler's default include directories, as listed and with links resolved. Bazel
# accepts headers in them that are not inputs of an action.
def _include_directories(repository_ctx, gcc, flags, language = "c"):
    result = repository_ctx.execute([gcc] + flags + ["-E", "-v", "-x", language, "/dev/null", "-o", "/dev/null"])
    if result.return_code != 0:
        fail("{} does not run: {}".format(gcc, result.stderr))
    listed = result.stderr.split("#include <...> search starts here:\n", 1)[1].split("\nEnd of search list.", 1)[0]
    paths = [repository_ctx.path(line.strip()) for line in listed.split("\n")]
    return {str(path): None for path in paths + [path.realpath for path in paths]}.keys()

def _cross_gcc_impl(repository_ctx):
    gcc = "/usr/bin/{}-gcc".format(repository_ctx.attr.compiler)
    require_files(repository_ctx, [gcc] + repository_ctx.attr.requires, repository_ctx.attr.package)
    repository_ctx.file("BUILD.bazel", """\
load("@kiln//tools/bazel/toolchains:cross_toolchain.bzl", "cross_toolchains")

cross_toolchains(
    compiler = {compiler},
    include_directories = {include_directories},
)
""".format(
        compiler = repr(repository_ctx.attr.compiler),
        include_directories = repr(_include_directories(repository_ctx, gcc, repository_ctx.attr.flags)),
    ))

cross_gcc = repository_rule(
    implementation = _cross_gcc_impl,
    doc = "Describes /usr/bin/<compiler>-gcc for Bazel.",
    attrs = {
        "compiler": attr.string(mandatory = True, doc = "As `compiler` in cores.bzl: arm-none-eabi."),
        "flags": attr.string_list(doc = "Options that choose the C library's headers."),
        "package": attr.string(mandatory = True, doc = "Debian packages."),
        "requires": attr.string_list(doc = "Absolute paths that must exist beside the compiler."),
    },
    local = True,
)

def _linux_gcc_impl(repository_ctx):
    compiler = "/usr/bin/{}-g++".format(repository_ctx.attr.compiler)
    require_files(repository_ctx, [compiler], repository_ctx.attr.package)
    repository_ctx.file("BUILD.bazel", """\
load("@kiln//tools/bazel/toolchains:linux_toolchain.bzl", "linux_toolchain")

linux_toolchain(
    name = "linux",
    compiler = {compiler},
    cpu = {cpu},
    include_directories = {include_directories},
)
""".format(
        compiler = repr(repository_ctx.attr.compiler),
        cpu = repr(repository_ctx.attr.cpu),
        include_directories = repr(_include_directories(repository_ctx, compiler, [], "c++")),
    ))

linux_gcc = repository_rule(
    implementation = _linux_gcc_impl,
    doc = "Describes /usr/bin/<compiler>-g++, which builds for Linux, to Bazel.",
    attrs = {
        "compiler": attr.string(mandatory = True, doc = "aarch64-linux-gnu"),
        "cpu": attr.string(mandatory = True, doc = "aarch64"),
        "package": attr.string(mandatory = True, doc = "Debian package."),
    },
    local = True,
)
