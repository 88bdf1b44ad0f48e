# SPDX-License-Identifier: Apache-2.0
"""The versions of Bazel that Kiln supports."""

_LEAST = (4, 2)

def bazel_problem(version):
    """Returns the error message for a version of Bazel that is too old.

    Args:
      version: the value of native.bazel_version, such as "4.2.3- (@non-git)".

    Returns:
      The message, or "" if the version is supported or not a number.
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
