# SPDX-License-Identifier: Apache-2.0
"""The configuration of tools that actions run, by the name that this Bazel has for it.

    "_tool": attr.label(default = "//tools:tool", executable = True, cfg = TOOL_CONFIGURATION)

Bazel 4 builds a tool for "host", which --distinct_host_configuration=false makes the configuration of everything else; newer
ones have "exec" alone, and a function by which they are known.
"""

TOOL_CONFIGURATION = "exec" if hasattr(native, "module_name") else "host"
