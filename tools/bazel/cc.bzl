# SPDX-License-Identifier: Apache-2.0
"""C++ targets of this tree. They begin with a precompiled header if their copts are KILN_COPTS.

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

The setting --//tools/bazel/pch:enabled, which flags.bazelrc sets, switches the headers on for gcc.
Users of @kiln compile without them.
"""

load("@rules_cc//cc:defs.bzl", _cc_binary = "cc_binary", _cc_library = "cc_library", _cc_test = "cc_test")
load("//tools/bazel/unity:unity.bzl", "UNITY_COPTS", "unity_sources")
load(":copts.bzl", "KILN_COPTS")

def _beginning_with(header, attributes):
    """Returns the attributes of a target whose C++ begins with a header of //tools/bazel/pch."""
    copts = attributes.get("copts", [])
    sources = attributes.get("srcs", [])
    if type(copts) != "list" or type(sources) != "list":
        return attributes
    is_cpp = [source for source in sources if source.endswith(".cc")] and not [source for source in sources if source.endswith(".c")]
    if not is_cpp or copts != KILN_COPTS:
        return attributes
    attributes = dict(attributes)
    if header == "common":
        attributes["srcs"] = unity_sources(attributes["name"], sources)
    attributes["copts"] = copts + UNITY_COPTS + select({
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
    _cc_binary(**_beginning_with("common", attributes))

def cc_library(**attributes):
    _cc_library(**_beginning_with("common", attributes))

def cc_test(**attributes):
    _cc_test(**_beginning_with("testing", attributes))

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
