# SPDX-License-Identifier: Apache-2.0
"""Tests which versions of Bazel are refused."""

load("@bazel_skylib//lib:unittest.bzl", "asserts", "unittest")
load("//third_party:bazel_version.bzl", "bazel_problem")

def _versions_test_impl(ctx):
    env = unittest.begin(ctx)
    for version in ["4.2.3- (@non-git)", "4.2.3", "5.0.0", "10.1.0", "", "no_version"]:
        asserts.equals(env, "", bazel_problem(version))
    asserts.equals(env, "Kiln: found Bazel 4.1.0, wanted 4.2 or later", bazel_problem("4.1.0"))
    asserts.equals(env, "Kiln: found Bazel 0.29.1, wanted 4.2 or later", bazel_problem("0.29.1"))
    return unittest.end(env)

bazel_version_test = unittest.make(_versions_test_impl)
