# SPDX-License-Identifier: Apache-2.0
"""rules_cc of Debian's bazel-rules-cc, changed so that Debian's Bazel can load it."""

load(":system_library.bzl", "require_files")

_ROOT = "/usr/share/bazel/rules/cc"

# These files load use_cpp_toolchain, which Bazel 4.2 does not have.
_NEWER_THAN_BAZEL = [
    "cc/private/rules_impl/cc_flags_supplier.bzl",
    "cc/private/rules_impl/compiler_flag.bzl",
]

# Names that newer versions of rules_cc define in files, but that are built into this Bazel.
_BUILT_IN = {
    "cc/common/cc_common.bzl": "cc_common",
    "cc/common/cc_info.bzl": "CcInfo",
    "cc/toolchains/cc_toolchain_config_info.bzl": "CcToolchainConfigInfo",
}

def _rules_cc_repository_impl(repository_ctx):
    require_files(repository_ctx, [_ROOT + "/cc/defs.bzl"], "bazel-rules-cc")
    for entry in repository_ctx.path(_ROOT).readdir():
        if entry.basename != "cc":
            repository_ctx.symlink(entry, entry.basename)
    result = repository_ctx.execute(["cp", "-r", _ROOT + "/cc", "cc"])
    if result.return_code != 0:
        fail("cannot copy rules_cc: " + result.stderr)
    for path in _NEWER_THAN_BAZEL:
        text = repository_ctx.read(path)
        text = text.replace(", \"use_cpp_toolchain\")", ")")
        text = text.replace("use_cpp_toolchain()", "[\"@bazel_tools//tools/cpp:toolchain_type\"]")
        repository_ctx.file(path, text)
    for path, name in _BUILT_IN.items():
        # A file that defines the name cannot read the built-in name itself, so another file passes
        # it on.
        native = path.replace(".bzl", "_native.bzl")
        repository_ctx.file(native, "Native_{0} = {0}\n".format(name))
        repository_ctx.file(path, "load(\":{}\", Native = \"Native_{}\")\n\n{} = Native\n".format(native.split("/")[-1], name, name))
    for folder in ["cc/common", "cc/toolchains"]:
        repository_ctx.file(folder + "/BUILD", "")

rules_cc_repository = repository_rule(
    implementation = _rules_cc_repository_impl,
    local = True,
)
