# SPDX-License-Identifier: Apache-2.0
"""Compiler options of the code in this repository: every cc_* target names one of these lists.

    load("//tools/bazel:copts.bzl", "KILN_COPTS")

    cc_library(
        name = "graph",
        srcs = ["print.cc"],
        hdrs = ["graph.h"],
        copts = KILN_COPTS,
    )

The language standard is here as well as in .bazelrc because a workspace that uses Kiln as @kiln has a .bazelrc of its own.
"""

_WARNINGS = [
    "-Wall",
    "-Wextra",
    "-Werror",
]

# C++ of the compiler, the tools and the runtime's sources.
KILN_COPTS = _WARNINGS + [
    "-std=c++20",
    # A designated initialiser names what differs from the default.
    "-Wno-missing-field-initializers",
]

# C++ that must compile for users of C++17: tests of the public headers of runtime_cpp.
KILN_CXX17_COPTS = _WARNINGS + ["-std=c++17"]

# C of runtime_crt and of generated code.
KILN_C_COPTS = _WARNINGS + [
    "-std=c99",
    "-pedantic",
    "-Wconversion",
    "-Wmissing-prototypes",
    "-Wshadow",
]
