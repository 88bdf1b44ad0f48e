# SPDX-License-Identifier: Apache-2.0
"""C++ targets of this tree. If their copts are KILN_COPTS, they begin with a precompiled header,
and the sources of a library or binary are joined (//tools/bazel/unity).

    load("//tools/bazel:cc.bzl", "kiln_library", "kiln_test")

    kiln_library(
        name = "graph",
        srcs = ["graph.cc"],
        hdrs = ["graph.h"],
    )

    kiln_test(
        name = "graph_test",
        deps = [":graph"],
    )

kiln_binary, kiln_library and kiln_test have the copts KILN_COPTS. A kiln_test is small, its source
is <name>.cc if none is given, and it links GoogleTest's main. cc_binary, cc_library and cc_test are
those of rules_cc, for targets with other copts.

flags.bazelrc switches the headers on for gcc (--//tools/bazel/pch:enabled), and the joined sources
(--//tools/bazel/unity:enabled). Users of @kiln compile without both.
"""

load("@rules_cc//cc:defs.bzl", _cc_binary = "cc_binary", _cc_library = "cc_library", _cc_test = "cc_test")
load("//tools/bazel/unity:unity.bzl", "unity")
load(":copts.bzl", "KILN_COPTS")

def _fast_to_build(attributes, header, joined = True):
    """Returns the attributes of a target whose C++ begins with a header of //tools/bazel/pch.

    If `joined`, //tools/bazel/unity joins its sources.
    """
    copts = attributes.get("copts", [])
    sources = attributes.get("srcs", [])
    if type(copts) != "list" or type(sources) != "list":
        return attributes
    is_cpp = [source for source in sources if source.endswith(".cc")] and not [source for source in sources if source.endswith(".c")]
    if not is_cpp or copts != KILN_COPTS:
        return attributes
    attributes = dict(unity(attributes) if joined else attributes)
    attributes["copts"] = attributes["copts"] + select({
        # -include and the path are one word. -Winvalid-pch makes an unusable header an error.
        "//tools/bazel/pch:is_clang": [],
        "//tools/bazel/pch:is_enabled": ["-include$(BINDIR)/tools/bazel/pch/%s.h" % header, "-Winvalid-pch"],
        "//conditions:default": [],
    })
    attributes["deps"] = attributes.get("deps", []) + select({
        "//tools/bazel/pch:is_clang": [],
        "//tools/bazel/pch:is_enabled": ["//tools/bazel/pch:" + header],
        "//conditions:default": [],
    })
    return attributes

def cc_binary(**attributes):
    _cc_binary(**_fast_to_build(attributes, "common"))

def cc_library(**attributes):
    _cc_library(**_fast_to_build(attributes, "common"))

def cc_test(**attributes):
    _cc_test(**_fast_to_build(attributes, "testing", joined = False))

def kiln_binary(**attributes):
    cc_binary(copts = KILN_COPTS, **attributes)

def kiln_library(**attributes):
    cc_library(copts = KILN_COPTS, **attributes)

def kiln_test(name, srcs = None, size = "small", deps = [], **attributes):
    cc_test(
        name = name,
        size = size,
        srcs = srcs or [name + ".cc"],
        copts = KILN_COPTS,
        deps = deps + ["@com_google_googletest//:gtest_main"],
        **attributes
    )
