# SPDX-License-Identifier: Apache-2.0
"""Properties of the platform for rules that compile models.

    attrs = {"_platform": attr.label(default = "//tools/bazel/platforms:model_platform")}

    target = ctx.attr._platform[ModelPlatformInfo].target
"""

ModelPlatformInfo = provider(
    doc = "A platform as cc_model sees it.",
    fields = {
        "firmware": "bool: whether the machine has no operating system",
        "target": "string: what `kiln compile --target` calls the machine",
    },
)

def _model_platform_impl(ctx):
    return [ModelPlatformInfo(firmware = ctx.attr.firmware, target = ctx.attr.target)]

model_platform = rule(
    implementation = _model_platform_impl,
    doc = "Holds what selects over platforms have chosen.",
    attrs = {
        "firmware": attr.bool(mandatory = True),
        "target": attr.string(mandatory = True),
    },
)
