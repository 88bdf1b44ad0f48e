# SPDX-License-Identifier: Apache-2.0
"""unique_module_names: an aspect that fails if two cc_models of one program have the same module
name.

    # .bazelrc
    build --aspects=@kiln//tools:module_names.bzl%unique_module_names

Without the aspect, the linker refuses such a program and names the module and the two libraries.
With it, Bazel refuses the program during analysis and names the two targets. Bazel 7 may link a
program during its analysis, which --nobuild prevents.
"""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load(":cc_model.bzl", "CcModelInfo")

ModuleNamesInfo = provider(
    doc = "The models that are linked into a target.",
    fields = {"models": "depset of structs: module_name, and the cc_model as text"},
)

# Attributes with targets that are linked.
_LINKED = ["deps", "implementation_deps", "srcs"]

def _linked(rule):
    targets = []
    for name in _LINKED:
        values = getattr(rule.attr, name, [])
        targets += values if type(values) == "list" else []
    return targets

def check_module_names(label, info):
    """Fails if two of the models have the same name.

    Args:
      label: label of the program.
      info: the ModuleNamesInfo of the targets that it links.
    """
    targets = {}
    for model in info.models.to_list():
        other = targets.setdefault(model.module_name, model.target)
        if other != model.target:
            fail(("{}: two models of one program have the module name '{}': {} and {}; give one of them another " +
                  "module_name").format(label, model.module_name, other, model.target))

def _module_names_impl(target, ctx):
    own = []
    if CcModelInfo in target:
        # Bazel 7 writes //:model of the main repository as @@//:model.
        label = str(target.label).replace("@@//", "//")
        own = [struct(module_name = target[CcModelInfo].module_name, target = label)]
    linked = [dep[ModuleNamesInfo].models for dep in _linked(ctx.rule) if ModuleNamesInfo in dep]
    return [ModuleNamesInfo(models = depset(own, transitive = linked))]

module_names = aspect(
    implementation = _module_names_impl,
    attr_aspects = _LINKED,
    doc = "Gives every target the ModuleNamesInfo of what it links.",
)

def _unique_module_names_impl(target, ctx):
    infos = _module_names_impl(target, ctx)
    if CcInfo in target or ctx.rule.kind.startswith("cc_"):
        check_module_names(target.label, infos[0])
    return infos

unique_module_names = aspect(
    implementation = _unique_module_names_impl,
    attr_aspects = _LINKED,
    doc = "The same, and fails for a target that links two cc_models of one module name.",
)
