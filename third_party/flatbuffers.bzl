# SPDX-License-Identifier: Apache-2.0
"""Generates C++ code from FlatBuffers schemas."""

load("@rules_cc//cc:defs.bzl", "cc_library")

def flatbuffers_cc_library(name, src, **kwargs):
    """Declares a library with the header `<stem>_generated.h` of a schema `<stem>.fbs`.

    Args:
      name: name of the library.
      src: the schema, a file of this package.
      **kwargs: further attributes of the cc_library.
    """
    header = src[:-len(".fbs")] + "_generated.h"
    native.genrule(
        name = name + "_header",
        srcs = [src],
        outs = [header],
        cmd = "$(location @com_github_google_flatbuffers//:flatc) --cpp --gen-object-api --scoped-enums -o $(@D) $<",
        tools = ["@com_github_google_flatbuffers//:flatc"],
    )
    cc_library(
        name = name,
        hdrs = [header],
        deps = ["@com_github_google_flatbuffers//:flatbuffers"],
        **kwargs
    )
