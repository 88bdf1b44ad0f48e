# SPDX-License-Identifier: Apache-2.0
"""rules_cc of Debian's bazel-rules-cc, made loadable by Debian's Bazel."""

load(":system_library.bzl", "require_files")

_ROOT = "/usr/share/bazel/rules/cc"

# These load use_cpp_toolchain, which came after Bazel 4.2.
_NEWER_THAN_BAZEL = [
    "cc/private/rules_impl/cc_flags_supplier.bzl",
    "cc/private/rules_impl/compiler_flag.bzl",
]

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

rules_cc_repository = repository_rule(
    implementation = _rules_cc_repository_impl,
    local = True,
)
