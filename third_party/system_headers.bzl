# SPDX-License-Identifier: Apache-2.0
"""Headers in a directory below /usr/include that the compiler does not search by itself."""

load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

def _system_headers_impl(ctx):
    context = cc_common.create_compilation_context(
        defines = depset(ctx.attr.defines),
        system_includes = depset(ctx.attr.directories),
    )
    return [CcInfo(compilation_context = context)]

system_headers = rule(
    implementation = _system_headers_impl,
    doc = "Puts directories on the include path without making each header an input of every compilation: LLVM has 2,000.",
    attrs = {
        "defines": attr.string_list(),
        "directories": attr.string_list(mandatory = True),
    },
    provides = [CcInfo],
)
