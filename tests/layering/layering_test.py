# SPDX-License-Identifier: Apache-2.0
"""Compares the table of layers (JSON) with the edges of a Bazel query graph, and prints each forbidden edge."""

import json
import re
import sys

_EDGE = re.compile(r'^\s*"([^"]+)" -> "([^"]+)"')
# Repositories that are part of Bazel itself, and build rules that consist only of headers.
_TOOLS = ("@bazel_tools", "@bazel_skylib", "@platforms", "@rules_cc", "@rules_java", "@local_config")


def package_of(label):
    return label.split(":")[0][2:]


def owner_of(package, owners):
    """Returns the longest of `owners` that is `package` or a directory above it, or None."""
    fitting = [owner for owner in owners if package == owner or package.startswith(owner + "/")]
    return max(fitting, key=len, default=None)


def check(source, destination, layers, top):
    """Returns the error of the edge, or None."""
    if source.startswith("@") or destination.startswith(_TOOLS):
        return None
    source_package = package_of(source)
    layer = owner_of(source_package, layers)
    if layer is None:
        if source_package == "" or owner_of(source_package, top):
            return None
        return "the package is not in tools/bazel/layers.bzl"
    allowed = layers[layer]
    if destination.startswith("@"):
        if destination.split("//")[0] in allowed:
            return None
    else:
        package = package_of(destination)
        if owner_of(package, layers) == layer or owner_of(package, [a for a in allowed if a[0] != "@"]):
            return None
        if package.startswith("tools/bazel"):  # build settings
            return None
    return "{} may depend on {}".format(layer, ", ".join(allowed) or "nothing")


def main():
    table_path, edges_path = sys.argv[1:]
    with open(table_path, encoding="utf-8") as file:
        table = json.load(file)
    with open(edges_path, encoding="utf-8") as file:
        edges = [match.groups() for match in map(_EDGE.match, file) if match]
    layers, top = table["layers"], table["top"]

    errors = []
    for source, destination in sorted(edges):
        reason = check(source, destination, layers, top)
        if reason:
            errors.append("{} -> {}: {}".format(source, destination, reason))
    reached = {owner_of(package_of(source), layers) for source, _ in edges if source.startswith("//")}
    for layer in sorted(set(layers) - reached):
        errors.append("no target of {} is reached, so nothing was checked there: name one in `roots`".format(layer))
    for error in errors:
        print(error)
    print("{} dependencies checked, {} forbidden".format(len(edges), len(errors)))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
