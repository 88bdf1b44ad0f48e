# SPDX-License-Identifier: Apache-2.0
"""Unity builds: several sources of a target are compiled as one, which parses their headers once.

    cc_library(**unity({"name": "graph", "srcs": ["parse.cc", "print.cc", "graph.h"], "copts": []}))

Each generated source contains the text of several sources, so the originals are no inputs of the
compilation. gcc and clang name the original file and line in messages, and clang-tidy those of the
generated source.
"""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")

# More sources per unit make a first build faster, and the build after a change slower.
_SOURCES_PER_UNIT = 8

# gcc 12 takes types of a source for types of a header, and finds accesses beyond the end of inlined
# vectors and strings where no such access is possible. Builds of single sources check both.
_COPTS = ["-Wno-array-bounds", "-Wno-subobject-linkage"]

UnitInfo = provider(
    doc = "Marks a generated source as the text of sources of this repository.",
    fields = [],
)

def _unit_impl(ctx):
    if not ctx.attr._enabled[BuildSettingInfo].value:
        return [DefaultInfo(files = depset(ctx.files.srcs))]
    output = ctx.actions.declare_file(ctx.label.name + ".cc")
    arguments = ctx.actions.args()
    arguments.add(output)
    arguments.add_all(ctx.files.srcs)
    ctx.actions.run_shell(
        arguments = [arguments],
        command = 'out="$1"; shift; for file; do printf "#line 1 \\"%s\\"\\n" "$file"; cat "$file"; done >"$out"',
        inputs = ctx.files.srcs,
        mnemonic = "UnitySource",
        outputs = [output],
        progress_message = "Joining %s" % output.short_path,
    )
    return [DefaultInfo(files = depset([output])), UnitInfo()]

_unit = rule(
    doc = "Makes <name>.cc, the text of all sources, or hands on the sources if units are off.",
    implementation = _unit_impl,
    attrs = {
        "srcs": attr.label_list(doc = "The sources.", allow_files = [".cc"], mandatory = True),
        "_enabled": attr.label(default = "//tools/bazel/unity:enabled"),
    },
)

def unity(attributes):
    """Joins the sources of a C++ target if --//tools/bazel/unity:enabled is set.

    Args:
      attributes: those of the target. srcs and copts are lists.

    Returns:
      The attributes with other srcs and copts; the same ones if there is a single source.
    """
    sources = [source for source in attributes["srcs"] if source.endswith(".cc")]
    if len(sources) < 2:
        return attributes
    units = []
    for first in range(0, len(sources), _SOURCES_PER_UNIT):
        unit = "%s_unity_%d" % (attributes["name"].replace("/", "_").replace(".", "_"), first // _SOURCES_PER_UNIT)
        _unit(name = unit, srcs = sources[first:first + _SOURCES_PER_UNIT], visibility = ["//visibility:private"])
        units.append(unit)
    attributes = dict(attributes)
    attributes["copts"] = attributes["copts"] + select({
        "//tools/bazel/unity:is_enabled": _COPTS,
        "//conditions:default": [],
    })

    # A select would make Bazel 4 add actions that name the folder of the checkout.
    attributes["srcs"] = units + [source for source in attributes["srcs"] if source not in sources]
    return attributes
