# SPDX-License-Identifier: Apache-2.0
"""A test that the dependencies of real targets follow the table in //tools/bazel:layers.bzl."""

load("//tools/bazel:layers.bzl", "LAYERS", "TOP")

def _layers_json_impl(ctx):
    output = ctx.actions.declare_file(ctx.label.name + ".json")
    ctx.actions.write(output, json.encode({"layers": LAYERS, "top": TOP}))
    return [DefaultInfo(files = depset([output]), runfiles = ctx.runfiles([output]))]

_layers_json = rule(implementation = _layers_json_impl)

def layering_test(name, roots):
    """Checks every dependency between the targets that `roots` reach.

    Args:
      name: name of the test.
      roots: labels of binaries and libraries that together reach every library. The test fails if
          they do not reach a package of the table.
    """
    _layers_json(name = name + "_table")
    native.genquery(
        name = name + "_edges",
        expression = "deps(set({}))".format(" ".join(roots)),
        opts = [
            "--nohost_deps",
            "--noimplicit_deps",
            "--output=graph",
            "--graph:factored=false",
            "--graph:node_limit=-1",
        ],
        scope = roots,
        testonly = True,
    )
    native.py_test(
        name = name,
        size = "small",
        srcs = ["layering_test.py"],
        args = [
            "$(location :{}_table)".format(name),
            "$(location :{}_edges)".format(name),
        ],
        data = [
            ":{}_edges".format(name),
            ":{}_table".format(name),
        ],
        main = "layering_test.py",
    )
