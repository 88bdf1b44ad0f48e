# SPDX-License-Identifier: Apache-2.0
"""model_test: tests one set of inputs and expected outputs on every way to run a model.

    load("@kiln//tools:model_test.bzl", "model_test")

    model_test(
        name = "my_mod_test",
        model = "my_mod.relay",
        inputs = {"a": "a.npy", "b": "b.npy"},
        expected = {"output": "sum.npy"},
    )

declares a test for each runtime, executor, interface and code generator, and a test suite
my_mod_test:

    my_mod_test_cpp_aot_llvm    my_mod_test_crt_packed_aot_llvm
    my_mod_test_cpp_aot_c       my_mod_test_crt_packed_aot_c
    my_mod_test_cpp_graph_llvm  my_mod_test_crt_packed_graph_llvm
    my_mod_test_cpp_graph_c     my_mod_test_crt_packed_graph_c
                                my_mod_test_crt_c_llvm
                                my_mod_test_crt_c_c

With boards = ["cortex_m4f", …], a test per board runs the six images of the C runtime in QEMU, one
after the other:

    my_mod_test_cortex_m4f
"""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_test")
load("//tools/bazel/platforms:cores.bzl", "CORES")
load("//tools/bazel:tool_configuration.bzl", "TOOL_CONFIGURATION")
load(":cc_model.bzl", "CcModelInfo", "cc_model", "module_name_of")
load(":firmware.bzl", "firmware_image", "firmware_test")

_WITH_LLVM = str(Label("//tools/bazel:with_llvm"))

# Maps the suffix of a test's name to attributes of cc_model and, for the C runtime, to the library
# that runs the case.
_WAYS = {
    "cpp_aot": (dict(executor = "aot", runtime = "cpp"), None),
    "cpp_graph": (dict(executor = "graph", runtime = "cpp"), None),
    "crt_c": (dict(interface = "c", runtime = "crt"), Label("//tools/model_test:run_c")),
    "crt_packed_aot": (dict(executor = "aot", runtime = "crt"), Label("//tools/model_test:run_aot")),
    "crt_packed_graph": (dict(executor = "graph", runtime = "crt"), Label("//tools/model_test:run_graph")),
}

# One small, fast pool and one that is as large as needed.
_POOLS = ["fast:1K::4", "large:any"]

# Tested in addition with every_way: the other calling convention of operator functions, and
# workspaces that the application provides.
_FURTHER_WAYS = {
    "crt_c_pools": (dict(interface = "c", runtime = "crt", workspace_pools = _POOLS), Label("//tools/model_test:run_c")),
    "crt_c_workspace_io": (dict(interface = "c", runtime = "crt", workspace_io = True), Label("//tools/model_test:run_c")),
    "crt_c_workspace_io_pools": (
        dict(interface = "c", runtime = "crt", workspace_io = True, workspace_pools = _POOLS),
        Label("//tools/model_test:run_c"),
    ),
    "crt_packed_aot_pools": (
        dict(executor = "aot", runtime = "crt", workspace_pools = _POOLS),
        Label("//tools/model_test:run_aot"),
    ),
    "crt_packed_aot_unpacked": (
        dict(calling_convention = "unpacked", executor = "aot", runtime = "crt"),
        Label("//tools/model_test:run_aot"),
    ),
    "crt_packed_aot_unpacked_pools": (
        dict(calling_convention = "unpacked", executor = "aot", runtime = "crt", workspace_pools = _POOLS),
        Label("//tools/model_test:run_aot"),
    ),
}

# Runs `kiln run` on the shared object of the C++ runtime.
def _run_library_test_impl(ctx):
    executable = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(output = executable, target_file = ctx.executable._kiln, is_executable = True)
    runfiles = ctx.runfiles(files = ctx.files.data + [executable])
    return [DefaultInfo(
        executable = executable,
        runfiles = runfiles.merge(ctx.attr._kiln[DefaultInfo].default_runfiles),
    )]

_run_library_test = rule(
    implementation = _run_library_test_impl,
    attrs = {
        "data": attr.label_list(allow_files = True),
        # The same tool that compiles the model. In a workspace that distinguishes host and target,
        # another configuration would build it again.
        "_kiln": attr.label(default = "//tools:compiler", allow_files = True, executable = True, cfg = TOOL_CONFIGURATION),
    },
    test = True,
)

def _tensor_arguments(arguments, option, tensors):
    for target, names in tensors.items():
        path = target[DefaultInfo].files.to_list()[0].path
        for name in json.decode(names):
            arguments.add("--%s=%s=%s" % (option, name, path))

def _model_case_impl(ctx):
    model = ctx.attr.model[CcModelInfo]
    source = ctx.actions.declare_file(ctx.label.name + ".c")
    arguments = ctx.actions.args()
    arguments.add("--metadata", model.metadata)
    _tensor_arguments(arguments, "input", ctx.attr.inputs)
    _tensor_arguments(arguments, "expected", ctx.attr.expected)
    arguments.add("--rtol", ctx.attr.rtol)
    arguments.add("--atol", ctx.attr.atol)
    reference = []
    if ctx.attr.reference:
        reference = [ctx.actions.declare_file(ctx.label.name + ".reference")]
        ctx.actions.run(
            executable = ctx.executable.reference,
            arguments = [reference[0].path],
            outputs = reference,
            mnemonic = "KilnReference",
        )
        arguments.add("--reference", reference[0])
    arguments.add("-o", source)
    ctx.actions.run(
        executable = ctx.executable._write_case,
        arguments = [arguments],
        inputs = [model.metadata] + ctx.files.inputs + ctx.files.expected + reference,
        outputs = [source],
        mnemonic = "KilnModelCase",
    )
    return [DefaultInfo(files = depset([source]))]

_TENSORS = attr.label_keyed_string_dict(
    doc = "A file -> the names of the tensors whose values it holds, as JSON.",
    allow_files = [".npy"],
)

_model_case = rule(
    implementation = _model_case_impl,
    doc = "Inputs and expected outputs of a model of the C runtime, as C source.",
    attrs = {
        "atol": attr.string(),
        "expected": _TENSORS,
        "inputs": _TENSORS,
        "model": attr.label(mandatory = True, providers = [CcModelInfo]),
        "reference": attr.label(
            cfg = TOOL_CONFIGURATION,
            doc = "A program that writes the bytes of all outputs, which are expected instead.",
            executable = True,
        ),
        "rtol": attr.string(),
        "_write_case": attr.label(default = "//tools/model_test:write_case", executable = True, cfg = TOOL_CONFIGURATION),
    },
)

def _names_by_file(tensors):
    names = {}
    for name, path in sorted(tensors.items()):
        names.setdefault(path, []).append(name)
    return {path: json.encode(names[path]) for path in names}

# Quotes text for the shell-like rules by which Bazel splits `args`, and escapes Bazel's own
# variables.
def _quoted(text):
    return "'" + text.replace("'", "'\\''").replace("$", "$$") + "'"

def _cpp_test(name, model, inputs, expected, rtol, atol, **kwargs):
    native.filegroup(
        name = name + "_library",
        testonly = True,
        srcs = [model],
        output_group = "shared_object",
        tags = ["manual"],
    )
    args = ["run", "$(rootpath :%s_library)" % name, "--rtol=%s" % rtol, "--atol=%s" % atol]
    for option, tensors in [("input", inputs), ("check", expected)]:
        for tensor, path in sorted(tensors.items()):
            args.append(_quoted("--%s=%s=" % (option, tensor)) + "$(rootpath %s)" % path)
    _run_library_test(
        name = name,
        args = args,
        data = [":%s_library" % name] + depset(inputs.values() + expected.values()).to_list(),
        **kwargs
    )

# The case as C source, for a test on this machine and for images of boards.
def _case(name, model, inputs, expected, rtol, atol, reference = None):
    _model_case(
        name = name + "_case",
        testonly = True,
        atol = str(atol),
        expected = _names_by_file(expected),
        inputs = _names_by_file(inputs),
        model = model,
        reference = reference,
        rtol = str(rtol),
        tags = ["manual"],
    )

def _crt_test(name, model, runner, inputs, expected, rtol, atol, **kwargs):
    _case(name, model, inputs, expected, rtol, atol)
    cc_test(
        name = name,
        srcs = [":%s_case" % name],
        copts = ["-std=c99"],
        deps = [model, runner],
        **kwargs
    )

def _model(name, attributes):
    cc_model(
        name = name,
        testonly = True,
        tags = ["manual"],
        **attributes
    )

def _host_test(name, runner, codegen, model_attributes, case):
    _model(name + "_model", model_attributes)
    case = dict(
        case,
        name = name,
        model = ":%s_model" % name,
        # If the compiler has no LLVM, the tests of LLVM's code are skipped.
        target_compatible_with = [] if codegen == "c" else select({
            _WITH_LLVM: [],
            "//conditions:default": ["@platforms//:incompatible"],
        }),
    )
    if runner:
        _crt_test(runner = runner, **case)
    else:
        _cpp_test(**case)

# The code for a board, run on this machine: a test of its results, and a program that writes the
# bits of its outputs, which the board must reproduce.
def _reference(name, board, model_attributes, case):
    _, runner = _WAYS["crt_c"]
    _host_test(name, runner, "c", dict(model_attributes, target = CORES[board].target), case)
    cc_binary(
        name = name + "_outputs",
        testonly = True,
        srcs = [":%s_case" % name],
        copts = ["-std=c99"],
        tags = ["manual"],
        deps = [
            ":%s_model" % name,
            Label("//tools/model_test:write_outputs"),
        ],
    )

def _image(name, runner, model_attributes, case, references, flash_bytes, ram_bytes, stack_bytes):
    _model(name + "_model", model_attributes)
    _case(
        name = name,
        model = ":%s_model" % name,
        reference = select(dict(
            [(str(Label("//tools/bazel/platforms:on_" + board)), reference) for board, reference in references.items()],
            **{"//conditions:default": None}
        )),
        **case
    )
    firmware_image(
        name = name,
        testonly = True,
        srcs = [":%s_case" % name],
        copts = ["-std=c99"],
        flash_bytes = flash_bytes,
        ram_bytes = ram_bytes,
        stack_bytes = stack_bytes,
        tags = ["manual"],
        deps = [":%s_model" % name, runner],
    )

def model_test(
        name,
        model,
        inputs,
        expected,
        rtol = 0,
        atol = 0,
        input_shapes = {},
        data = [],
        external = [],
        target = "",
        every_way = False,
        boards = [],
        flash_bytes = 256 * 1024,
        ram_bytes = 64 * 1024,
        stack_bytes = 4096,
        size = "small",
        tags = []):
    """Runs `model` on every runtime, executor, interface and code generator.

    Args:
      name: name of the test suite.
      model: cc_model's `model`.
      inputs: names of inputs to .npy files with their values.
      expected: names of outputs to .npy files with the expected values.
      rtol: relative tolerance; 0 with atol = 0: equal bits.
      atol: absolute tolerance.
      input_shapes: cc_model's `inputs`.
      data: cc_model's `data`.
      external: cc_model's `external`; generators that every runtime supports.
      target: cc_model's `target`; this machine must be able to run it. Boards have their own
          targets.
      every_way: True: also tests operator functions that are plain C, and workspaces that the
        application provides.
      boards: boards of tools/firmware/boards.bzl on which the case runs in QEMU.
      flash_bytes: firmware_image's, for each image for a board.
      ram_bytes: firmware_image's.
      stack_bytes: firmware_image's.
      size: of each test.
      tags: of each test.
    """
    case = dict(
        atol = atol,
        expected = expected,
        inputs = inputs,
        rtol = rtol,
    )
    host_case = dict(case, size = size, tags = tags)
    attributes_of_all = dict(
        data = data,
        external = external,
        inputs = input_shapes,
        model = model,
    )
    tests = []
    references = {}
    for board in boards:
        reference = "%s_%s_reference" % (name, board)
        way, _ = _WAYS["crt_c"]
        _reference(
            reference,
            board,
            dict(attributes_of_all, codegen = "c", module_name = module_name_of(reference), **way),
            host_case,
        )
        references[board] = ":%s_outputs" % reference
        tests.append(reference)
    images = {"c": [], "llvm": []}
    for way, (attributes, runner) in _WAYS.items() + (_FURTHER_WAYS.items() if every_way else []):
        for codegen in ["llvm", "c"]:
            test = "%s_%s_%s" % (name, way, codegen)
            model_attributes = dict(
                attributes_of_all,
                codegen = codegen,
                module_name = module_name_of(test),
                **attributes
            )
            _host_test(test, runner, codegen, dict(model_attributes, target = target), host_case)
            tests.append(test)
            if boards and runner:
                _image(test + "_image", runner, model_attributes, case, references, flash_bytes, ram_bytes, stack_bytes)
                images[codegen].append(":%s_image" % test)
    for board in boards:
        firmware_test(
            name = "%s_%s" % (name, board),
            testonly = True,
            board = board,
            images = images["c"] + select({
                _WITH_LLVM: images["llvm"],
                "//conditions:default": [],
            }),
            size = size,
            tags = tags,
        )
        tests.append("%s_%s" % (name, board))
    native.test_suite(
        name = name,
        tags = tags,
        tests = tests,
    )
