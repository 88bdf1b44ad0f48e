# SPDX-License-Identifier: Apache-2.0
"""clang-tidy as an aspect: one action per C++ source, which Bazel caches like a compilation.

    bazel build --aspects=//tools/lint:clang_tidy.bzl%clang_tidy --output_groups=tidy //compiler/...
"""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//tools/bazel:tool_configuration.bzl", "TOOL_CONFIGURATION")

# Rules whose srcs are sources of this repository.
_KINDS = ["cc_binary", "cc_library"]

def _flags(context, copts):
    """The part of the compiler's command line that decides what a source means."""
    flags = [opt for opt in copts if not opt.startswith("-W") and "$(" not in opt]
    flags += ["-D" + define for define in context.defines.to_list() + context.local_defines.to_list()]
    flags += ["-I" + path for path in context.includes.to_list()]
    flags += ["-iquote" + path for path in context.quote_includes.to_list()]
    flags += ["-isystem" + path for path in context.system_includes.to_list()]
    return flags

def _clang_tidy_impl(target, ctx):
    reports = []
    if ctx.rule.kind in _KINDS and not target.label.workspace_name and not ctx.rule.attr.testonly:
        context = target[CcInfo].compilation_context if CcInfo in target else None
        for source in ctx.rule.files.srcs if context else []:
            if source.extension != "cc" or not source.is_source:
                continue
            report = ctx.actions.declare_file("{}.{}.tidy".format(target.label.name, source.basename))
            ctx.actions.run(
                executable = ctx.executable._clang_tidy,
                arguments = [report.path, ctx.file._config.path, source.path] + _flags(context, ctx.rule.attr.copts),
                inputs = depset([source, ctx.file._config], transitive = [context.headers]),
                outputs = [report],
                mnemonic = "ClangTidy",
                progress_message = "Running clang-tidy on {}".format(source.short_path),
            )
            reports.append(report)
    return [OutputGroupInfo(tidy = depset(reports))]

clang_tidy = aspect(
    implementation = _clang_tidy_impl,
    attrs = {
        "_clang_tidy": attr.label(
            default = "//tools/lint:run_clang_tidy",
            executable = True,
            cfg = TOOL_CONFIGURATION,
        ),
        "_config": attr.label(
            default = "//:.clang-tidy",
            allow_single_file = True,
        ),
    },
)
