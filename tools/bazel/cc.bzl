# SPDX-License-Identifier: Apache-2.0
"""cc_binary, cc_library and cc_test of this tree, which add a precompiled header.

    load("//tools/bazel:cc.bzl", "cc_library", "cc_test")

C++ targets whose copts are KILN_COPTS begin with the header. Otherwise the rules equal those of
rules_cc. For gcc, --//tools/bazel/pch:enabled turns the headers on; flags.bazelrc sets it. Users of
@kiln compile without them.
"""

load("@rules_cc//cc:defs.bzl", _cc_binary = "cc_binary", _cc_library = "cc_library", _cc_test = "cc_test")
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
    attributes["copts"] = copts + select({
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
