# SPDX-License-Identifier: Apache-2.0
"""The configuration for tools that actions run. Its name depends on the version of Bazel.

    "_tool": attr.label(default = "//tools:tool", executable = True, cfg = TOOL_CONFIGURATION)

Bazel 4 builds a tool for "host". --distinct_host_configuration=false makes this the configuration
of all other targets. Newer versions have only "exec". They are recognized by the function
native.module_name.
"""

TOOL_CONFIGURATION = "exec" if hasattr(native, "module_name") else "host"
