# SPDX-License-Identifier: Apache-2.0
"""Tests the error of unique_module_names for two models with the same name."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("//tools:module_names.bzl", "ModuleNamesInfo", "check_module_names", "module_names")

def _checked_program_impl(ctx):
    check_module_names(ctx.label, ctx.attr.program[ModuleNamesInfo])
    return []

# Fails like the aspect, because a test cannot examine the failure of an aspect.
checked_program = rule(
    implementation = _checked_program_impl,
    attrs = {"program": attr.label(aspects = [module_names])},
)

def _refused_test_impl(ctx):
    env = analysistest.begin(ctx)
    asserts.expect_failure(env, "two models of one program have the module name 'First': //tests/rules:first and //tests/rules:other_first; " +
                                "give one of them another module_name")
    return analysistest.end(env)

module_names_refused_test = analysistest.make(_refused_test_impl, expect_failure = True)

def _accepted_test_impl(ctx):
    env = analysistest.begin(ctx)
    asserts.equals(env, "unique_names", analysistest.target_under_test(env).label.name)
    return analysistest.end(env)

module_names_accepted_test = analysistest.make(_accepted_test_impl)
