# SPDX-License-Identifier: Apache-2.0
"""Tests models that cc_model refuses on a platform without an operating system."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")

def _refused_test_impl(ctx):
    env = analysistest.begin(ctx)
    asserts.expect_failure(env, "runtime = \"cpp\" needs an operating system, and the platform has none; use runtime = \"crt\"")
    return analysistest.end(env)

# The target under test, a model for the C++ runtime, cannot be built for firmware.
cpp_refused_test = analysistest.make(
    _refused_test_impl,
    config_settings = {"//command_line_option:platforms": "//tools/bazel/platforms:cortex_m4f"},
    expect_failure = True,
)
