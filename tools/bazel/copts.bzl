# SPDX-License-Identifier: Apache-2.0
"""Compiler options of the code in this repository. Every cc_* target names one of these lists.

    load("//tools/bazel:copts.bzl", "KILN_COPTS")

    cc_library(
        name = "graph",
        srcs = ["print.cc"],
        hdrs = ["graph.h"],
        copts = KILN_COPTS,
    )

The lists repeat the language standard of .bazelrc. A workspace that uses Kiln as @kiln has its own
.bazelrc, which may not set it.
"""

_WARNINGS = [
    "-Wall",
    "-Wextra",
    "-Werror",
]

# C++ of the compiler, the tools and the sources of the runtime.
KILN_COPTS = _WARNINGS + [
    "-std=c++20",
    # A designated initializer names only the fields that differ from the default.
    "-Wno-missing-field-initializers",
]

# C++ that must compile for users of C++17: tests of the public headers of runtime_cpp.
KILN_CXX17_COPTS = _WARNINGS + ["-std=c++17"]

# C of runtime_crt and generated C.
KILN_C_COPTS = _WARNINGS + [
    "-std=c99",
    "-pedantic",
    "-Wconversion",
    "-Wmissing-prototypes",
    "-Wshadow",
]
