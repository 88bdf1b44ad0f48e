# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy as an aspect with one action per C or C++ source, which Bazel caches like a
compilation.

    bazel build --aspects=//tools/lint:clang_tidy.bzl%clang_tidy --output_groups=tidy //compiler/...

One parse reports three kinds of findings: the checks of .clang-tidy, clang's warnings, and includes
of headers whose owner is missing from deps. For the last kind, each target has a module map
(https://clang.llvm.org/docs/Modules.html, -fmodules-decluse).
"""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//tools/bazel:tool_configuration.bzl", "TOOL_CONFIGURATION")
load("//tools/bazel/unity:unity.bzl", "UnitInfo")

# Rules whose srcs are sources of this repository.
_KINDS = ["cc_binary", "cc_library"]

_HEADER_EXTENSIONS = ["h", "inc"]

def _flags(context, copts):
    """Returns the compiler flags that decide the meaning of a source and the warnings for it."""
    flags = [opt for opt in copts if "$(" not in opt]

    # std::stable_sort of GCC 12's library uses functions that the library itself marks as
    # deprecated.
    flags.append("-Wno-deprecated-declarations")

    # copts name warnings that only gcc has.
    flags.append("-Wno-unknown-warning-option")
    flags += ["-D" + define for define in context.defines.to_list() + context.local_defines.to_list()]
    flags += ["-I" + path for path in context.includes.to_list()]
    flags += ["-iquote" + path for path in context.quote_includes.to_list()]
    flags += ["-isystem" + path for path in context.system_includes.to_list()]
    return flags

def _module(name, headers, uses = []):
    """Returns the text of one module of a module map.

    Paths are relative to the compiler's working directory.
    """
    lines = ['  textual header "%s"' % header.path for header in headers]
    lines += ['  use "%s"' % use for use in uses]
    return "\n".join(['module "%s" {' % name] + lines + ["}"])

def _module_map(ctx, target):
    """Writes the module map of `target` and returns it with the flags that make clang check
    includes against it.

    The map has three modules: the target with its own headers, the headers of its direct deps, and
    all other headers that a compilation may read. The target uses only the second module, so clang
    refuses a direct include of a header in the third.
    """
    context = target[CcInfo].compilation_context
    own = [
        file
        for attribute in ["srcs", "hdrs", "textual_hdrs"]
        for file in getattr(ctx.rule.files, attribute, [])
        if file.extension in _HEADER_EXTENSIONS
    ]
    of_deps = depset(transitive = [
        depset(headers)
        for dep in getattr(ctx.rule.attr, "deps", []) + getattr(ctx.rule.attr, "implementation_deps", [])
        if CcInfo in dep
        for headers in [
            dep[CcInfo].compilation_context.direct_public_headers,
            dep[CcInfo].compilation_context.direct_textual_headers,
        ]
    ]).to_list()
    known = {file.path: None for file in own + of_deps}
    others = [file for file in context.headers.to_list() if file.path not in known]
    known_to_target = {file.path: None for file in own}
    name = str(target.label)
    output = ctx.actions.declare_file(target.label.name + ".tidy.cppmap")
    ctx.actions.write(output, "\n".join([
        _module(name, own, uses = ["deps"]),
        _module("deps", [file for file in of_deps if file.path not in known_to_target]),
        _module("headers of other targets", others),
        "",
    ]))
    return output, [
        "-fmodule-name=" + name,
        "-fmodule-map-file=" + output.path,
        "-fmodules-decluse",
        "-Xclang",
        "-fmodule-map-file-home-is-cwd",
    ]

def _sources(target, ctx):
    """Returns the C and C++ sources of this repository that `target` compiles.

    Sources that //tools/bazel/unity joins are analysed together.
    """
    if ctx.rule.kind not in _KINDS or target.label.workspace_name or ctx.rule.attr.testonly or CcInfo not in target:
        return []
    return [
        file
        for source in ctx.rule.attr.srcs
        for file in source.files.to_list()
        if file.extension in ["c", "cc"] and (file.is_source or UnitInfo in source)
    ]

def _clang_tidy_impl(target, ctx):
    sources = _sources(target, ctx)
    if not sources:
        return [OutputGroupInfo(tidy = depset())]
    context = target[CcInfo].compilation_context
    module_map, module_flags = _module_map(ctx, target)
    reports = []
    for source in sources:
        report = ctx.actions.declare_file("{}.tidy/{}".format(target.label.name, source.short_path))
        ctx.actions.run(
            executable = ctx.executable._clang_tidy,
            arguments = [report.path, ctx.file._config.path, source.path] +
                        _flags(context, ctx.rule.attr.copts) + module_flags,
            inputs = depset([source, ctx.file._config, module_map], transitive = [context.headers]),
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
