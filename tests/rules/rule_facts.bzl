# SPDX-License-Identifier: Apache-2.0
"""Writes the attributes and output groups of a rule as JSON, for tests of the documentation."""

_AttributesInfo = provider(
    doc = "What attributes a target has.",
    fields = {"names": "list of strings"},
)

def _attributes_impl(_target, ctx):
    return [_AttributesInfo(names = [name for name in dir(ctx.rule.attr) if not name.startswith("_")])]

_attributes = aspect(implementation = _attributes_impl)

# A rule that has only the attributes of every rule.
def _bare_impl(_ctx):
    return []

_bare = rule(implementation = _bare_impl)

def _facts_impl(ctx):
    common = ctx.attr.bare[_AttributesInfo].names
    output = ctx.actions.declare_file(ctx.label.name + ".json")
    ctx.actions.write(output, json.encode({
        "attributes": [name for name in ctx.attr.target[_AttributesInfo].names if name not in common],
        "output_groups": [
            name
            for name in dir(ctx.attr.target[OutputGroupInfo])
            if name not in ["to_json", "to_proto"] and not name.startswith("_")
        ],
    }))
    return [DefaultInfo(files = depset([output]), runfiles = ctx.runfiles([output]))]

_facts = rule(
    implementation = _facts_impl,
    attrs = {
        "bare": attr.label(aspects = [_attributes]),
        "target": attr.label(aspects = [_attributes]),
    },
)

def rule_facts(name, target):
    """Writes <name>.json.

    Args:
      name: name of the target.
      target: an instance of the rule.
    """
    _bare(name = name + "_bare")
    _facts(
        name = name,
        bare = ":%s_bare" % name,
        target = target,
    )
