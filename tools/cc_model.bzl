# SPDX-License-Identifier: Apache-2.0
"""cc_model: a model file as a linkable C or C++ library.

    load("@kiln//tools:cc_model.bzl", "cc_model")

    cc_model(
        name = "my_mod",
        model = "my_mod.onnx",
        inputs = {"data": "1x3x224x224"},
    )

    cc_binary(name = "app", srcs = ["app.cc"], deps = [":my_mod"])

With runtime = "cpp" the library registers itself, so that `kiln::runtime::Module::SystemLib()` finds the model, and brings the C++ runtime with
it. With runtime = "crt" and interface = "c" it is plain C that needs no runtime. The header is included as "<module_name>.h".

Output groups: library (objects' sources or object), header, shared_object (runtime = "cpp"), metadata (JSON), c_srcs (the model as C),
llvm_text (where the compiler has LLVM).
"""

load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cc_toolchain")

CcModelInfo = provider(
    doc = "What cc_model knows of its model.",
    fields = {
        "header": "File: the generated C header",
        "metadata": "File: the metadata as JSON",
        "module_name": "string: the module's name",
        "shared_object": "File: for Module::LoadFromFile, or None with runtime = \"crt\"",
    },
)

def _common_flags(ctx, module_name):
    flags = [
        "--module-name=" + module_name,
        "--executor=" + ctx.attr.executor,
        "--runtime=" + ctx.attr.runtime,
        "--interface=" + ctx.attr.interface,
        "--target=" + ctx.attr.target,
        "--threads=%d" % ctx.attr.threads,
    ]
    if ctx.attr.calling_convention:
        flags.append("--calling-convention=" + ctx.attr.calling_convention)
    for name, pin in sorted(ctx.attr.inputs.items()):
        flags.append("--input=%s:%s" % (name, pin))
    if ctx.attr.passes:
        flags.append("--passes=" + ",".join(ctx.attr.passes))
    return flags

def _compile_model(ctx, folder, suffixes, flags):
    """Runs `kiln compile` into `folder`; returns its files by suffix."""
    module_name = _module_name(ctx)
    outputs = {
        suffix: ctx.actions.declare_file("%s/%s%s" % (folder, module_name, suffix))
        for suffix in suffixes
    }
    arguments = ctx.actions.args()
    arguments.add("compile")
    arguments.add(ctx.file.model)
    arguments.add("-o", outputs[suffixes[0]].dirname)
    arguments.add_all(flags)
    ctx.actions.run(
        executable = ctx.executable._kiln,
        arguments = [arguments],
        inputs = [ctx.file.model] + ctx.files.data,
        outputs = outputs.values(),
        mnemonic = "KilnCompile",
        progress_message = "Compiling model %s" % ctx.file.model.short_path,
        use_default_shell_env = True,
    )
    return outputs

def _module_name(ctx):
    return ctx.attr.module_name or ctx.label.name.replace("-", "_")

def _cc_model_impl(ctx):
    module_name = _module_name(ctx)
    flags = _common_flags(ctx, module_name)
    codegen = ctx.attr.codegen or "llvm"
    cpp = ctx.attr.runtime == "cpp"
    header_suffixes = [".h", ".metadata.json"] + ([".graph.json"] if ctx.attr.executor == "graph" else [])

    # What is linked: an object or C sources.
    linked_suffix = ".o" if codegen == "llvm" else ".c"
    suffixes = [linked_suffix] + header_suffixes + (["_system_lib.c"] if cpp else [])
    files = _compile_model(
        ctx,
        ctx.label.name,
        suffixes,
        flags + ["--codegen=" + codegen] + (["--system-lib"] if cpp else []),
    )

    # The same model for other uses; made when their output group is asked for.
    shared_object = None
    if cpp:
        shared_object = _compile_model(ctx, ctx.label.name + ".shared", [".so", ".h", ".metadata.json"] + ([".graph.json"] if ctx.attr.executor == "graph" else []), flags + ["--codegen=" + codegen])[".so"]
    c_source = files[".c"] if codegen == "c" else None

    cc_toolchain = find_cc_toolchain(ctx)
    feature_configuration = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = cc_toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features + ["layering_check"],
    )
    deps = [dep[CcInfo] for dep in (ctx.attr._cpp_deps if cpp else ctx.attr._abi)]
    sources = [files[suffix] for suffix in ["_system_lib.c", ".c"] if suffix in files]
    compilation_context, compilation_outputs = cc_common.compile(
        actions = ctx.actions,
        feature_configuration = feature_configuration,
        cc_toolchain = cc_toolchain,
        name = ctx.label.name,
        srcs = sources,
        public_hdrs = [files[".h"]],
        user_compile_flags = ["-std=c99", "-O3", "-ffp-contract=off", "-fno-math-errno"] if sources else [],
        includes = [files[".h"].dirname],
        compilation_contexts = [dep.compilation_context for dep in deps],
    )
    if codegen == "llvm":
        model_objects = depset([files[".o"]])
        compilation_outputs = cc_common.merge_compilation_outputs(compilation_outputs = [
            compilation_outputs,
            cc_common.create_compilation_outputs(objects = model_objects, pic_objects = model_objects),
        ])
    linking_context, _ = cc_common.create_linking_context_from_compilation_outputs(
        actions = ctx.actions,
        name = ctx.label.name,
        feature_configuration = feature_configuration,
        cc_toolchain = cc_toolchain,
        compilation_outputs = compilation_outputs,
        linking_contexts = [dep.linking_context for dep in deps],
        alwayslink = cpp,
    )
    linked = [files[linked_suffix]]
    groups = {
        "header": depset([files[".h"]]),
        "library": depset(linked),
        "metadata": depset([files[".metadata.json"]]),
    }
    if shared_object:
        groups["shared_object"] = depset([shared_object])
    if c_source:
        groups["c_srcs"] = depset([c_source])
    return [
        DefaultInfo(
            files = depset(linked + [files[".h"], files[".metadata.json"]] + ([shared_object] if shared_object else [])),
            runfiles = ctx.runfiles(files = [shared_object] if shared_object else []),
        ),
        CcInfo(compilation_context = compilation_context, linking_context = linking_context),
        CcModelInfo(
            header = files[".h"],
            metadata = files[".metadata.json"],
            module_name = module_name,
            shared_object = shared_object,
        ),
        OutputGroupInfo(**groups),
    ]

cc_model = rule(
    implementation = _cc_model_impl,
    doc = "Compiles a model into a library that cc_binary and cc_test depend on like on any cc_library.",
    attrs = {
        "calling_convention": attr.string(
            doc = "Of operator functions; default: what the runtime and interface take by themselves.",
            values = ["", "packed", "cpacked", "unpacked"],
        ),
        "codegen": attr.string(
            doc = "llvm or c; default llvm.",
            values = ["", "llvm", "c"],
        ),
        "data": attr.label_list(
            doc = "Files that the model refers to: external data of ONNX.",
            allow_files = True,
        ),
        "executor": attr.string(default = "aot", values = ["aot", "graph"]),
        "inputs": attr.string_dict(doc = "Shapes of inputs, and perhaps dtypes: {\"data\": \"1x3x224x224:float32\"}."),
        "interface": attr.string(default = "packed", values = ["packed", "c"]),
        "model": attr.label(
            doc = "Relay text or ONNX.",
            allow_single_file = True,
            mandatory = True,
        ),
        "module_name": attr.string(doc = "A C identifier; default: the rule's name."),
        "passes": attr.string_list(doc = "Passes to switch off: [\"-fuse\"]."),
        "runtime": attr.string(default = "cpp", values = ["cpp", "crt"]),
        "target": attr.string(
            default = "x86-64",
            doc = "What `kiln compile --target` takes. The default runs on every x86-64 machine; \"x86-64-v3\" is faster.",
        ),
        "threads": attr.int(doc = "Of a parallel loop; 0: as the runtime decides, 1: serial code."),
        "_abi": attr.label_list(default = ["//runtime_crt/include:abi"]),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
        "_cpp_deps": attr.label_list(default = ["//runtime_cpp", "//runtime_crt/include:abi"]),
        "_kiln": attr.label(default = "//tools:kiln", executable = True, cfg = "host"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
    incompatible_use_toolchain_transition = True,
)
