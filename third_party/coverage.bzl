# SPDX-License-Identifier: Apache-2.0
"""The repository that `bazel test` needs even without coverage. Its tool makes no report."""

def _no_coverage_report_impl(repository_ctx):
    repository_ctx.file("coverage_report_generator.sh", "#!/bin/sh\necho 'no coverage report' >&2\nexit 1\n")
    repository_ctx.file("BUILD.bazel", """
sh_binary(
    name = "coverage_report_generator",
    srcs = ["coverage_report_generator.sh"],
    visibility = ["//visibility:public"],
)
""")

no_coverage_report = repository_rule(implementation = _no_coverage_report_impl)
