# SPDX-License-Identifier: Apache-2.0
"""Rules for the files of a release: libraries, texts with the version, archive, Debian packages,
SBOM, and checksums."""

load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cc_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//tools/bazel:named_files.bzl", "named_files")
load("//tools/bazel:tool_configuration.bzl", "TOOL_CONFIGURATION")
load("//tools/bazel:version.bzl", "KILN_DATE", "KILN_VERSION")

def _static_libraries(deps):
    """Returns the static libraries of this workspace among the dependencies."""
    linking_context = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in deps]).linking_context
    return [
        library.pic_static_library or library.static_library
        for linker_input in linking_context.linker_inputs.to_list()
        if not linker_input.owner.workspace_name
        for library in linker_input.libraries
    ]

def _merged_archive_impl(ctx):
    cc_toolchain = find_cc_toolchain(ctx)
    archives = _static_libraries(ctx.attr.deps) + ctx.files.archives
    output = ctx.actions.declare_file("lib{}.a".format(ctx.label.name))
    script = ctx.actions.declare_file(ctx.label.name + ".mri")
    lines = ["create " + output.path] + ["addlib " + archive.path for archive in archives] + ["save", "end"]
    ctx.actions.write(script, "\n".join(lines) + "\n")
    ctx.actions.run_shell(
        command = "\"$1\" -M < \"$2\"",
        arguments = [cc_toolchain.ar_executable, script.path],
        inputs = depset(archives + [script], transitive = [cc_toolchain.all_files]),
        outputs = [output],
        mnemonic = "KilnMergeArchives",
    )
    return [DefaultInfo(files = depset([output]))]

merged_archive = rule(
    implementation = _merged_archive_impl,
    doc = "One static library of the objects of several.",
    attrs = {
        "archives": attr.label_list(allow_files = [".a"]),
        "deps": attr.label_list(providers = [CcInfo], doc = "Libraries of this workspace, with all those of it that they depend on."),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)

def _from_template_impl(ctx):
    ctx.actions.expand_template(
        template = ctx.file.template,
        output = ctx.outputs.out,
        substitutions = dict(ctx.attr.substitutions, **{"@version@": KILN_VERSION}),
    )

from_template = rule(
    implementation = _from_template_impl,
    attrs = {
        "out": attr.output(mandatory = True),
        "substitutions": attr.string_dict(),
        "template": attr.label(allow_single_file = True, mandatory = True),
    },
)

def _printed_by_kiln_impl(ctx):
    ctx.actions.run_shell(
        command = "\"$1\" \"${@:3}\" > \"$2\"",
        arguments = [ctx.executable._kiln.path, ctx.outputs.out.path] + ctx.attr.arguments,
        tools = [ctx.executable._kiln],
        outputs = [ctx.outputs.out],
        mnemonic = "KilnPrint",
    )

printed_by_kiln = rule(
    implementation = _printed_by_kiln_impl,
    doc = "What a command of kiln prints.",
    attrs = {
        "arguments": attr.string_list(mandatory = True),
        "out": attr.output(mandatory = True),
        "_kiln": attr.label(default = "//tools:kiln", executable = True, cfg = TOOL_CONFIGURATION),
    },
)

def _sbom_impl(ctx):
    output = ctx.actions.declare_file("kiln.spdx.json")
    arguments = ctx.actions.args()
    arguments.add("--packages", ctx.file.packages)
    arguments.add("--output", output)
    arguments.add("--version", KILN_VERSION)
    arguments.add("--date", KILN_DATE)
    ctx.actions.run(
        executable = ctx.executable._make_sbom,
        arguments = [arguments],
        inputs = [ctx.file.packages],
        outputs = [output],
        mnemonic = "KilnSbom",
    )
    return [DefaultInfo(files = depset([output]))]

sbom = rule(
    implementation = _sbom_impl,
    doc = "What a release consists of, as an SPDX 2.3 document.",
    attrs = {
        "packages": attr.label(allow_single_file = True, mandatory = True, doc = "Of @release_libraries."),
        "_make_sbom": attr.label(default = "//release:make_sbom", executable = True, cfg = TOOL_CONFIGURATION),
    },
)

def _archive(ctx, name, files):
    output = ctx.actions.declare_file("{}-{}-linux-{}.tar.gz".format(name, KILN_VERSION, ctx.attr.machine))
    arguments = ctx.actions.args()
    arguments.add("--output", output)
    arguments.add("--date", KILN_DATE)
    for name, target in ctx.attr.links.items():
        arguments.add("--link=%s=%s" % (name, target))
    for name, file in files.items():
        arguments.add(file, format = name + "=%s")
    ctx.actions.run(
        executable = ctx.executable._make_archive,
        arguments = [arguments],
        inputs = files.values(),
        outputs = [output],
        mnemonic = "KilnArchive",
    )
    return output

def _debian_packages(ctx, archive):
    outputs = [
        ctx.actions.declare_file("{}_{}_{}.deb".format(name, KILN_VERSION, ctx.attr.debian_architecture))
        for name in ["kiln", "libkiln-dev", "libkiln-runtime0"]
    ]
    arguments = ctx.actions.args()
    arguments.add("--archive", archive)
    arguments.add("--output", outputs[0].dirname)
    arguments.add("--version", KILN_VERSION)
    arguments.add("--architecture", ctx.attr.debian_architecture)
    arguments.add("--date", KILN_DATE)
    ctx.actions.run(
        executable = ctx.executable._make_deb,
        arguments = [arguments],
        inputs = [archive],
        outputs = outputs,
        mnemonic = "KilnDebianPackages",
        use_default_shell_env = True,  # finds dpkg-deb
    )
    return outputs

def _checksums(ctx, files, name = "SHA256SUMS"):
    output = ctx.actions.declare_file(name)
    ctx.actions.run_shell(
        command = "cd \"$1\" && shift && sums=$1 && shift && sha256sum \"$@\" > \"$sums\"",
        arguments = [output.dirname, name] + sorted([file.basename for file in files]),
        inputs = files,
        outputs = [output],
        mnemonic = "KilnChecksums",
    )
    return output

def _provenance(ctx, files):
    output = ctx.actions.declare_file("kiln.provenance.json")
    arguments = ctx.actions.args()
    arguments.add("--packages", ctx.file.packages)
    arguments.add("--output", output)
    arguments.add("--version", KILN_VERSION)
    arguments.add_all(files)
    ctx.actions.run(
        executable = ctx.executable._make_provenance,
        arguments = [arguments],
        inputs = files + [ctx.file.packages],
        outputs = [output],
        mnemonic = "KilnProvenance",
    )
    return output

def _release_impl(ctx):
    wheel = ctx.actions.declare_file(ctx.file.wheel.basename)
    ctx.actions.symlink(output = wheel, target_file = ctx.file.wheel)
    sbom = ctx.file.sbom
    archive = _archive(ctx, "kiln", named_files(ctx.attr.files))
    files = [archive] + _debian_packages(ctx, archive) + [wheel, sbom]
    files.append(_provenance(ctx, files))
    files.append(_checksums(ctx, files))
    return [DefaultInfo(files = depset(files), runfiles = ctx.runfiles(files))]

release = rule(
    implementation = _release_impl,
    doc = "All that is published of one version. Equal input gives equal bytes.",
    attrs = {
        "debian_architecture": attr.string(mandatory = True),
        "files": attr.label_keyed_string_dict(allow_files = True, doc = "Of the archive: see named_files."),
        "links": attr.string_dict(doc = "Symbolic links of the archive, and their targets."),
        "machine": attr.string(mandatory = True),
        "packages": attr.label(allow_single_file = True, mandatory = True, doc = "Of @release_libraries."),
        "sbom": attr.label(allow_single_file = True, mandatory = True),
        "wheel": attr.label(allow_single_file = True, mandatory = True),
        "_make_archive": attr.label(default = "//release:make_archive", executable = True, cfg = TOOL_CONFIGURATION),
        "_make_deb": attr.label(default = "//release:make_deb", executable = True, cfg = TOOL_CONFIGURATION),
        "_make_provenance": attr.label(default = "//release:make_provenance", executable = True, cfg = TOOL_CONFIGURATION),
    },
)

def _platform_transition_impl(_settings, attr):
    return {"//command_line_option:platforms": str(attr.platform)}

_platform_transition = transition(
    implementation = _platform_transition_impl,
    inputs = [],
    outputs = ["//command_line_option:platforms"],
)

def _runtime_archive_impl(ctx):
    archive = _archive(ctx, "kiln-runtime", named_files(ctx.attr.files))
    files = [archive, _checksums(ctx, [archive], "SHA256SUMS." + ctx.attr.machine)]
    return [DefaultInfo(files = depset(files), runfiles = ctx.runfiles(files))]

runtime_archive = rule(
    implementation = _runtime_archive_impl,
    doc = "The runtime for a machine of another kind.",
    attrs = {
        "files": attr.label_keyed_string_dict(allow_files = True, cfg = _platform_transition, doc = "See named_files."),
        "links": attr.string_dict(doc = "Symbolic links of the archive, and their targets."),
        "machine": attr.string(mandatory = True),
        "platform": attr.label(mandatory = True),
        "_allowlist_function_transition": attr.label(default = "@bazel_tools//tools/allowlists/function_transition_allowlist"),
        "_make_archive": attr.label(default = "//release:make_archive", executable = True, cfg = TOOL_CONFIGURATION),
    },
)
