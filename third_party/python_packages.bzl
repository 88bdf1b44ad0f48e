# SPDX-License-Identifier: Apache-2.0
"""A repository rule that installs PyPI packages for programs of this tree."""

_BUILD = """
py_library(
    name = "packages",
    data = [
        "requirements.txt",
        "site-packages",
    ],
    imports = ["site-packages"],
    visibility = ["//visibility:public"],
)
"""

# Build file if pip finds no network. Targets that need the packages are skipped; everything else is
# built.
_BUILD_WITHOUT = """
py_library(
    name = "packages",
    target_compatible_with = ["@platforms//:incompatible"],
    visibility = ["//visibility:public"],
)
"""

def _run(repository_ctx, command, advice):
    result = repository_ctx.execute(command, timeout = 600)
    if result.return_code != 0:
        # buildifier: disable=print
        print("@{}: {}\n{}".format(repository_ctx.name, advice, result.stderr + result.stdout))
    return result.return_code == 0

def _python_packages_impl(repository_ctx):
    requirements = repository_ctx.attr.requirements
    python = "/usr/bin/python3"  # the Python of Bazel's actions
    repository_ctx.symlink(requirements, "requirements.txt")
    installed = _run(
        repository_ctx,
        [
            python,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "--only-binary=:all:",
            "--requirement",
            "requirements.txt",
            "--target",
            "site-packages",
        ],
        "what needs the packages of {} is skipped: pip cannot install them. It takes the network, and Debian's python3-pip (tools/install_packages.sh test)".format(requirements),
    )
    repository_ctx.file("BUILD.bazel", _BUILD if installed else _BUILD_WITHOUT)

python_packages = repository_rule(
    implementation = _python_packages_impl,
    doc = "Packages of PyPI, at the versions of a requirements file, as the py_library `packages`. Installed once, when a target first needs them.",
    attrs = {"requirements": attr.label(
        mandatory = True,
        allow_single_file = True,
        doc = "Every package with its version; pip resolves nothing.",
    )},
)
