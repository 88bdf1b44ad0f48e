# SPDX-License-Identifier: Apache-2.0
"""Which versions of Bazel Kiln works with."""

_LEAST = (4, 2)

def bazel_problem(version):
    """Says what is wrong with a version of Bazel.

    Args:
      version: as Bazel says it, such as "4.2.3- (@non-git)".

    Returns:
      A text; an empty one for a version that will do, or that is none.
    """
    parts = version.split(".")
    if len(parts) < 2 or not parts[0].isdigit() or not parts[1].isdigit():
        return ""
    if (int(parts[0]), int(parts[1])) >= _LEAST:
        return ""
    return "Kiln: found Bazel {}, wanted {}.{} or later".format(version, *_LEAST)

def check_bazel():
    """Fails if this Bazel is too old."""
    problem = bazel_problem(native.bazel_version)
    if problem:
        fail(problem)
