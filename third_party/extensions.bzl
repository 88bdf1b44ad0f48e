# SPDX-License-Identifier: Apache-2.0
"""The libraries and toolchains of repositories.bzl and firmware_toolchains.bzl, as a module
extension for MODULE.bazel.

    debian = use_extension("//third_party:extensions.bzl", "debian")
    use_repo(debian, "com_google_absl")

Kiln's own MODULE.bazel uses the extension. A module that depends on Kiln need not.
"""

load("//tools/bazel/toolchains:firmware_toolchains.bzl", "declare_cross_compilers")
load(":repositories.bzl", "declare_libraries")

def _declare(rule, name, **kwargs):
    rule(name = name, **kwargs)

def _debian_impl(_module_ctx):
    declare_libraries(_declare)
    declare_cross_compilers(_declare)

debian = module_extension(
    implementation = _debian_impl,
    doc = "Libraries and cross compilers of this machine's Debian packages, each a repository that is made when it is first needed.",
)
