# SPDX-License-Identifier: Apache-2.0
"""cc_model: a model file as a linkable C or C++ library.

    load("@kiln//tools:cc_model.bzl", "cc_model")

    cc_model(
        name = "my_mod",
        model = "my_mod.onnx",
        inputs = {"data": "1x3x224x224"},
    )

    cc_binary(name = "app", srcs = ["app.cc"], deps = [":my_mod"])

The header is included as "<module_name>.h". Runtimes:

- runtime = "cpp": the library registers the model, so that
  `kiln::runtime::Module::SystemLib("my_mod")` finds it. It depends on the C++ runtime.
- runtime = "crt": the library depends on the parts of the C runtime that it needs. The C interface
  gives plain C that needs no runtime.

docs/bazel.md has the attributes and output groups.
"""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cc_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load(":cc_model_attributes.bzl", "CC_MODEL_ATTRIBUTES")
load(":model_copts.bzl", "model_copts")
load(":model_object.bzl", "compile_object", "module_name_context")
load("//tools/bazel/platforms:model_platform.bzl", "ModelPlatformInfo")

CcModelInfo = provider(
    doc = "What cc_model knows of its model.",
    fields = {
        "header": "File: the generated C header",
        "metadata": "File: the metadata as JSON",
        "module_name": "string: the module's name",
        "shared_object": "File: for Module::LoadFromFile, or None with runtime = \"crt\"",
    },
)

def module_name_of(name):
    """Returns the C identifier for a target of this name.

    Args:
      name: name of the target.
    """
    identifier = "".join([c if c.isalnum() or c == "_" else "_" for c in name.elems()])
    return "m_" + identifier if identifier[0].isdigit() else identifier

def _module_name(ctx):
    return ctx.attr.module_name or module_name_of(ctx.label.name)

def _target_flag(ctx):
    if ctx.attr.cpu_variants:
        if ctx.attr.target:
            fail(("{}: cpu_variants and target do not go together: the variants are the targets; leave one of the " +
                  "two out").format(ctx.label))
        return "--cpu-variants=" + ",".join(ctx.attr.cpu_variants)
    return "--target=" + (ctx.attr.target or ctx.attr._platform[ModelPlatformInfo].target)

def _check_platform(ctx):
    if ctx.attr.runtime == "cpp" and ctx.attr._platform[ModelPlatformInfo].firmware:
        fail(("{}: runtime = \"cpp\" needs an operating system, and the platform has none; use runtime = \"crt\", " +
              "and interface = \"c\" for plain C functions").format(ctx.label))
    if ctx.attr.cpu_variants and ctx.attr._platform[ModelPlatformInfo].firmware:
        fail(("{}: cpu_variants are CPUs of machines with an operating system, and the platform has none; leave " +
              "cpu_variants out").format(ctx.label))

def _codegen(ctx):
    return ctx.attr.codegen or ("llvm" if ctx.attr._llvm[BuildSettingInfo].value else "c")

# Suffixes of files that are generated with every kind of code.
def _description_suffixes(ctx):
    return [".h", ".metadata.json"] + ([".graph.json"] if ctx.attr.executor == "graph" else [])

# Further generated C: entry points of the model, and the sources of external code generators.
def _more_sources(ctx):
    entries = ["_system_lib.c"] if ctx.attr.runtime == "cpp" else ["_model.c"] if ctx.attr.interface == "c" else []
    return entries + _external_sources(ctx)

def _external_sources(ctx):
    hooks = ["_devices.c"] if [choice for choice in ctx.attr.external if ":device=" in choice] else []
    return ["_%s.c" % choice.split(":")[0] for choice in ctx.attr.external] + hooks

def _run_kiln(ctx, outputs, output_flag, flags, option = "-o", **kwargs):
    """Runs `kiln compile`, which writes the files `outputs` to the path given with `option`."""
    arguments = ctx.actions.args()
    arguments.add("compile")
    arguments.add(ctx.file.model)
    arguments.add(option, output_flag)
    arguments.add("--module-name=" + _module_name(ctx))
    arguments.add(_target_flag(ctx))
    for name in ["executor", "runtime", "interface"]:
        arguments.add("--%s=%s" % (name, getattr(ctx.attr, name)))
    arguments.add("--no-headers")  # the runtime targets have the headers
    arguments.add("--threads=%d" % ctx.attr.threads)
    if ctx.attr.calling_convention:
        arguments.add("--calling-convention=" + ctx.attr.calling_convention)
    arguments.add_all(ctx.attr.workspace_pools, format_each = "--pool=%s")
    arguments.add_all(ctx.attr.constant_pools, format_each = "--constant-pool=%s")
    if ctx.attr.workspace_io:
        arguments.add("--workspace-io")
    for name, pin in sorted(ctx.attr.inputs.items()):
        arguments.add("--input=%s:%s" % (name, pin))
    for name, size in sorted(ctx.attr.dims.items()):
        arguments.add("--dim=%s=%s" % (name, size))
    arguments.add_all(ctx.attr.outputs, format_each = "--outputs=%s")
    for name, value in sorted(ctx.attr.constants.items()):
        arguments.add("--constant=%s=%s" % (name, value))
    for input, output in sorted(ctx.attr.state.items()):
        arguments.add("--state=%s=%s" % (input, output))
    if ctx.attr.external:
        arguments.add("--external=" + ",".join(ctx.attr.external))
    if ctx.attr.passes:
        arguments.add("--passes=" + ",".join(ctx.attr.passes))
    if ctx.attr.check_indices:
        arguments.add("--check-indices")
    if ctx.attr.fail_on_slow:
        arguments.add("--fail-on-slow")
    arguments.add("--optimize=" + ctx.attr.optimize)
    if not ctx.attr.overlap:
        arguments.add("--no-overlap")
    if not ctx.attr.winograd:
        arguments.add("--no-winograd")
    if ctx.attr.allow:
        arguments.add("--allow=" + ",".join(ctx.attr.allow))
    if ctx.file.tuning:
        arguments.add("--tuning", ctx.file.tuning)
    arguments.add_all(flags)
    ctx.actions.run(
        executable = ctx.executable._kiln,
        arguments = [arguments],
        inputs = [ctx.file.model] + ctx.files.data + ctx.files.tuning,
        outputs = outputs,
        mnemonic = "KilnCompile",
        progress_message = "Compiling model %s" % ctx.file.model.short_path,
        **kwargs
    )

def _compile_model(ctx, folder, suffixes, flags, **kwargs):
    """Runs `kiln compile` and returns the files in `folder`, keyed by suffix."""
    outputs = {
        suffix: ctx.actions.declare_file("%s/%s%s" % (folder, _module_name(ctx), suffix))
        for suffix in suffixes
    }
    _run_kiln(ctx, outputs.values(), outputs[suffixes[0]].dirname, flags, **kwargs)
    return outputs

def _shared_object(ctx):
    # For C, the tool calls the system's C compiler, which it finds on the PATH.
    return _compile_model(
        ctx,
        ctx.label.name + ".shared",
        [".so"] + _description_suffixes(ctx),
        ["--codegen=" + _codegen(ctx)],
        use_default_shell_env = _codegen(ctx) == "c" or bool(ctx.attr.external),
    )[".so"]

def _llvm_text(ctx, link_flags):
    text = ctx.actions.declare_file("%s.llvm/%s.ll" % (ctx.label.name, _module_name(ctx)))
    _run_kiln(ctx, [text], text, ["--codegen=llvm", "--emit=llvm"] + link_flags)
    return text

def _mlf(ctx):
    archive = ctx.actions.declare_file("%s.mlf/%s.tar" % (ctx.label.name, _module_name(ctx)))
    _run_kiln(ctx, [archive], archive, ["--codegen=" + _codegen(ctx), "--mlf-runtime"], option = "--mlf")
    return archive

def _runtime_deps(ctx):
    if ctx.attr.runtime == "cpp":
        return ctx.attr._cpp_deps + ctx.attr._external_deps
    if ctx.attr.interface == "c":
        return ctx.attr._c_deps
    return ctx.attr._crt_deps + (ctx.attr._crt_aot_deps if ctx.attr.executor == "aot" else ctx.attr._crt_graph_deps)

# Returns the limits of the model, keyed by kind. Empty if there is no budget.
def _budget(ctx):
    return {
        kind: getattr(ctx.attr, "max_%s_bytes" % kind)
        for kind in ["flash", "ram", "stack", "workspace"]
        if getattr(ctx.attr, "max_%s_bytes" % kind) > 0
    }

def _within_budget(ctx, header, metadata, object, source):
    """Returns the header. Bazel can build it only if the model stays within its budget."""
    inputs = [header, metadata]
    arguments = ctx.actions.args()
    arguments.add("budget")
    if not object:
        runtime = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in _runtime_deps(ctx)])
        context = runtime.compilation_context
        copts = model_copts(ctx.attr._platform[ModelPlatformInfo], ctx.attr.optimize, ctx.attr.target)
        object, stack_usage = compile_object(ctx, "%s.budget/%s" % (ctx.label.name, _module_name(ctx)), source, context, copts)
        arguments.add("--stack-usage", stack_usage)
        inputs.append(stack_usage)
    arguments.add(object)
    arguments.add("--metadata", metadata)
    for kind, limit in _budget(ctx).items():
        arguments.add("--max-%s-bytes=%d" % (kind, limit))
    checked = ctx.actions.declare_file("%s.checked/%s" % (ctx.label.name, header.basename))
    arguments.add("--copy", header)
    arguments.add("-o", checked)
    ctx.actions.run(
        executable = ctx.executable._kiln,
        arguments = [arguments],
        inputs = inputs + [object],
        outputs = [checked],
        mnemonic = "KilnBudget",
    )
    return checked

def _link(ctx, header, sources, objects):
    """Returns the CcInfo of the model, and its archive."""
    cc_toolchain = find_cc_toolchain(ctx)
    feature_configuration = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = cc_toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features + ["layering_check"],
    )
    deps = [dep[CcInfo] for dep in _runtime_deps(ctx)]
    compilation_context, compiled = cc_common.compile(
        actions = ctx.actions,
        feature_configuration = feature_configuration,
        cc_toolchain = cc_toolchain,
        name = ctx.label.name,
        srcs = sources,
        public_hdrs = [header],
        user_compile_flags = model_copts(ctx.attr._platform[ModelPlatformInfo], ctx.attr.optimize, ctx.attr.target) if sources else [],
        includes = [header.dirname],
        compilation_contexts = [dep.compilation_context for dep in deps],
    )
    if objects:
        made = cc_common.create_compilation_outputs(objects = depset(objects), pic_objects = depset(objects))
        compiled = cc_common.merge_compilation_outputs(compilation_outputs = [compiled, made])
    linking_context, outputs = cc_common.create_linking_context_from_compilation_outputs(
        actions = ctx.actions,
        name = ctx.label.name,
        feature_configuration = feature_configuration,
        cc_toolchain = cc_toolchain,
        compilation_outputs = compiled,
        linking_contexts = [dep.linking_context for dep in deps],
        # A program finds the model by name, so no symbol refers to it.
        alwayslink = ctx.attr.interface == "packed",
        disallow_dynamic_library = True,
    )
    library = outputs.library_to_link

    # The object with the module's name comes first, so that the linker's first error is about a
    # duplicate name.
    name = CcInfo(linking_context = module_name_context(ctx, _module_name(ctx)))
    model = CcInfo(compilation_context = compilation_context, linking_context = linking_context)
    return (
        cc_common.merge_cc_infos(direct_cc_infos = [name, model]),
        library.pic_static_library or library.static_library,
    )

def _cc_model_impl(ctx):
    _check_platform(ctx)
    codegen = _codegen(ctx)
    cpp = ctx.attr.runtime == "cpp"
    link_flags = ["--system-lib"] if cpp else []
    more_sources = _more_sources(ctx)
    code = ".o" if codegen == "llvm" else ".c"
    files = _compile_model(
        ctx,
        ctx.label.name,
        [code] + more_sources + _description_suffixes(ctx),
        ["--codegen=" + codegen] + link_flags,
    )
    objects = [files[".o"]] if codegen == "llvm" else []
    sources = [files[suffix] for suffix in [".c"] + more_sources if suffix in files]
    header = files[".h"]
    if _budget(ctx):
        header = _within_budget(ctx, header, files[".metadata.json"], files.get(".o"), files.get(".c"))
    cc_info, library = _link(ctx, header, sources, objects)

    # Other forms of the same model. Each is made only if its output group is requested.
    c_srcs = files if codegen == "c" else _compile_model(
        ctx,
        ctx.label.name + ".c_srcs",
        [".c"] + more_sources + _description_suffixes(ctx),
        ["--codegen=c"] + link_flags,
    )
    shared_object = _shared_object(ctx) if cpp else None
    groups = {
        "c_srcs": [c_srcs[suffix] for suffix in [".c"] + more_sources],
        "header": [header],
        "library": [library],
        "llvm_text": [_llvm_text(ctx, link_flags)],
        "metadata": [files[".metadata.json"]],
        "mlf": [] if cpp else [_mlf(ctx)],
        "object": objects,
        "shared_object": [shared_object] if cpp else [],
    }
    return [
        DefaultInfo(files = depset([library, header, files[".metadata.json"]])),
        cc_info,
        CcModelInfo(
            header = header,
            metadata = files[".metadata.json"],
            module_name = _module_name(ctx),
            shared_object = shared_object,
        ),
        OutputGroupInfo(**{name: depset(group) for name, group in groups.items()}),
    ]

cc_model = rule(
    implementation = _cc_model_impl,
    doc = "Compiles a model into a library that cc_binary and cc_test depend on like on any cc_library.",
    attrs = CC_MODEL_ATTRIBUTES,
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
    incompatible_use_toolchain_transition = True,
)
