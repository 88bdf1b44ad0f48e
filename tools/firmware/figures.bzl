# SPDX-License-Identifier: Apache-2.0
"""model_figures: sizes and instruction counts of models on a board, measured for measure.py.

    model_figures(
        name = "cortex_m4f_figures",
        board = "cortex_m4f",
        ways = ["//models/digits:digits_test_crt_c_llvm"],
    )

A way is a test of model_test with boards. Its image is run, and the sizes are those of its model's
object.
"""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//tools:cc_model.bzl", "CcModelInfo")
load("//tools:firmware.bzl", "board_transition")
load("//tools:model_copts.bzl", "model_copts")
load("//tools:model_object.bzl", "compile_object")
load("//tools/bazel/platforms:model_platform.bzl", "ModelPlatformInfo")
load("//tools/bazel:tool_configuration.bzl", "TOOL_CONFIGURATION")
load("//tools/firmware:boards.bzl", "BOARDS")

_ObjectInfo = provider(
    doc = "A model as one object.",
    fields = {
        "metadata": "File: the metadata as JSON",
        "object": "File: the object",
        "stack_usage": "File: what gcc says of its functions' stack, or None where the object says it",
    },
)

def _model_object_impl(ctx):
    groups = ctx.attr.model[OutputGroupInfo]
    objects = groups.object.to_list()
    object, stack_usage = (objects[0], None) if objects else compile_object(
        ctx,
        ctx.label.name,
        groups.c_srcs.to_list()[0],
        ctx.attr.model[CcInfo].compilation_context,
        model_copts(ctx.attr._platform[ModelPlatformInfo]),
    )
    return [_ObjectInfo(metadata = ctx.attr.model[CcModelInfo].metadata, object = object, stack_usage = stack_usage)]

_model_object = rule(
    implementation = _model_object_impl,
    attrs = {
        "model": attr.label(mandatory = True, providers = [CcModelInfo]),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
        "_platform": attr.label(default = "//tools/bazel/platforms:model_platform"),
    },
    fragments = ["cpp"],
    incompatible_use_toolchain_transition = True,
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)

# The files have the same name for all boards, so each target links them under its own folder.
def _renamed(ctx, file, name):
    link = ctx.actions.declare_file("%s/%s" % (ctx.label.name, name))
    ctx.actions.symlink(output = link, target_file = file)
    return link

def _model_figures_impl(ctx):
    files = [ctx.executable._kiln]
    entries = []
    for name, image, model in zip(ctx.attr.names, ctx.files.images, ctx.attr.models):
        info = model[_ObjectInfo]
        entry = {
            "image": _renamed(ctx, image, name + ".elf"),
            "metadata": _renamed(ctx, info.metadata, name + ".json"),
            "object": _renamed(ctx, info.object, name + ".o"),
            "stack_usage": _renamed(ctx, info.stack_usage, name + ".su") if info.stack_usage else None,
        }
        files += [file for file in entry.values() if file]
        entries.append(dict(
            [(key, file.short_path if file else "") for key, file in entry.items()],
            name = name,
        ))
    configuration = ctx.actions.declare_file(ctx.label.name + ".json")
    ctx.actions.write(configuration, json.encode({
        "board": ctx.attr.board,
        "entries": entries,
        "kiln": ctx.executable._kiln.short_path,
        "timeout_seconds": 60,
    }))
    return [DefaultInfo(files = depset([configuration]), runfiles = ctx.runfiles(files = files + [configuration]))]

_model_figures = rule(
    implementation = _model_figures_impl,
    attrs = {
        "board": attr.string(mandatory = True, values = BOARDS.keys()),
        "images": attr.label_list(cfg = board_transition),
        "models": attr.label_list(cfg = board_transition, providers = [_ObjectInfo]),
        "names": attr.string_list(),
        "_allowlist_function_transition": attr.label(default = "@bazel_tools//tools/allowlists/function_transition_allowlist"),
        "_kiln": attr.label(default = "//tools:compiler", allow_files = True, executable = True, cfg = TOOL_CONFIGURATION),
    },
)

def model_objects(ways):
    """Declares the object of each way, for model_figures in the same package.

    Args:
      ways: labels of tests, without the board.
    """
    for way in ways:
        _model_object(
            name = _object_name(way),
            testonly = True,
            model = way + "_image_model",
            tags = ["manual"],
        )

def _object_name(way):
    return Label(way).name + "_object"

def model_figures(name, board, ways):
    """Writes <name>.json for measure.py. The files that it names are runfiles.

    Args:
      name: name of the target.
      board: a board of boards.bzl.
      ways: the same list as for model_objects.
    """
    _model_figures(
        name = name,
        testonly = True,
        board = board,
        images = [way + "_image" for way in ways],
        models = [":" + _object_name(way) for way in ways],
        names = [Label(way).name for way in ways],
        tags = ["manual"],
    )
