# SPDX-License-Identifier: Apache-2.0
"""unity_sources: C++ sources that are compiled together, so that their headers are parsed once.

    srcs = unity_sources("graph", ["parse.cc", "print.cc", "graph.cc"])

Each generated source contains the text of up to SOURCES_PER_UNIT sources, so the originals are no
inputs of the compilation. Lines in messages of the compiler are those of the originals.
"""

# More sources per unit make a first build faster, and the build after a change slower.
SOURCES_PER_UNIT = 8

# gcc 12 takes types of a source for types of a header, and finds accesses beyond the end of inlined
# vectors and strings where no such access is possible. Builds of single sources check both.
UNITY_COPTS = select({
    "//tools/bazel/unity:is_enabled": ["-Wno-array-bounds", "-Wno-subobject-linkage"],
    "//conditions:default": [],
})

def _unity_source_impl(ctx):
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
    return [DefaultInfo(files = depset([output]))]

_unity_source = rule(
    doc = "Makes <name>.cc, the text of all sources.",
    implementation = _unity_source_impl,
    attrs = {
        "srcs": attr.label_list(doc = "The sources.", allow_files = [".cc"], mandatory = True),
    },
)

def unity_sources(name, sources):
    """Joins sources if --//tools/bazel/unity:enabled is set.

    Args:
      name: the name of the target that compiles the sources.
      sources: a list of labels of sources and headers.

    Returns:
      The value of the attribute srcs: the sources, or what they are joined to.
    """
    joined = [source for source in sources if source.endswith(".cc")]
    if len(joined) < 2:
        return sources
    units = []
    for first in range(0, len(joined), SOURCES_PER_UNIT):
        unit = "%s_unity_%d" % (name.replace("/", "_").replace(".", "_"), first // SOURCES_PER_UNIT)
        _unity_source(name = unit, srcs = joined[first:first + SOURCES_PER_UNIT], visibility = ["//visibility:private"])
        units.append(unit)
    return select({
        "//tools/bazel/unity:is_enabled": units + [source for source in sources if not source.endswith(".cc")],
        "//conditions:default": sources,
    })
