# SPDX-License-Identifier: Apache-2.0
"""A stub of the repository that `bazel test` needs even if it measures no coverage."""

def _remote_coverage_tools_stub_impl(repository_ctx):
    repository_ctx.file("coverage_report_generator.sh", "#!/bin/sh\necho 'no coverage report' >&2\nexit 1\n")
    repository_ctx.file("BUILD.bazel", """
sh_binary(
    name = "coverage_report_generator",
    srcs = ["coverage_report_generator.sh"],
    visibility = ["//visibility:public"],
)
""")

remote_coverage_tools_stub = repository_rule(implementation = _remote_coverage_tools_stub_impl)
