# SPDX-License-Identifier: Apache-2.0
"""The external repositories of Kiln, made from Debian packages and named like upstream's.

    load("@kiln//third_party:repositories.bzl", "kiln_dependencies")

    kiln_dependencies()

A repository that the workspace has declared before this call stays as it is, so a user with a
network can substitute upstream's. Bazel creates a repository when a target of it is first needed,
so unused libraries need not be installed. A workspace with MODULE.bazel gets the libraries through
extensions.bzl.
"""

load("@bazel_tools//tools/build_defs/repo:utils.bzl", "maybe")
load(":absl.bzl", "absl_repository")
load(":bazel_version.bzl", "check_bazel")
load(":coverage.bzl", "no_coverage_report")
load(":debian_source.bzl", "debian_source")
load(":python_packages.bzl", "python_packages")
load(":release_libraries.bzl", "release_libraries_repository")
load(":rules_cc.bzl", "rules_cc_repository")
load(":system_library.bzl", "system_directory", "system_library")

def _bazel_rules():
    maybe(rules_cc_repository, name = "rules_cc")
    maybe(
        system_directory,
        name = "rules_java",
        package = "bazel-rules-java",
        path = "/usr/share/bazel/rules/java",
    )
    maybe(
        system_directory,
        name = "bazel_skylib",
        package = "bazel-skylib",
        path = "/usr/share/bazel/tools/skylib",
    )
    maybe(
        system_directory,
        name = "platforms",
        build_file = "@kiln//third_party:platforms.BUILD",
        package = "bazel-platforms",
        path = "/usr/share/bazel/platforms",
    )
    maybe(no_coverage_report, name = "remote_coverage_tools")

def _base_libraries(declare):
    declare(absl_repository, name = "com_google_absl")
    declare(
        system_library,
        name = "com_google_protobuf",
        build_file = "@kiln//third_party:protobuf.BUILD",
        links = {"bin/protoc": "/usr/bin/protoc"},
        package = "libprotobuf-dev protobuf-compiler",
    )
    declare(
        system_library,
        name = "nlohmann_json",
        build_file = "@kiln//third_party:nlohmann_json.BUILD",
        package = "nlohmann-json3-dev",
        requires = ["/usr/include/nlohmann/json.hpp"],
    )
    declare(
        system_library,
        name = "cli11",
        build_file = "@kiln//third_party:cli11.BUILD",
        package = "libcli11-dev",
        requires = ["/usr/include/CLI/CLI.hpp"],
    )
    declare(
        system_library,
        name = "chart_js",
        build_file = "@kiln//third_party:chart_js.BUILD",
        links = {"chart.min.js": "/usr/share/javascript/chart.js/chart.min.js"},
        package = "libjs-chart.js",
    )
    declare(
        system_library,
        name = "libarchive",
        build_file = "@kiln//third_party:libarchive.BUILD",
        package = "libarchive-dev",
        requires = ["/usr/include/archive.h"],
    )
    declare(
        system_library,
        name = "libelf",
        build_file = "@kiln//third_party:libelf.BUILD",
        package = "libelf-dev",
        requires = ["/usr/include/gelf.h"],
    )
    declare(
        system_library,
        name = "jemalloc",
        build_file = "@kiln//third_party:jemalloc.BUILD",
        package = "libjemalloc-dev",
        requires = ["/usr/include/jemalloc/jemalloc.h"],
    )
    declare(
        system_library,
        name = "openssl",
        build_file = "@kiln//third_party:openssl.BUILD",
        package = "libssl-dev",
        requires = ["/usr/include/openssl/evp.h"],
    )
    declare(
        system_library,
        name = "xxhash",
        build_file = "@kiln//third_party:xxhash.BUILD",
        package = "libxxhash-dev",
        requires = ["/usr/include/xxhash.h"],
    )

def _python(declare):
    declare(
        system_library,
        name = "cpython",
        build_file = "@kiln//third_party:cpython.BUILD",
        links = {"include": "/usr/include/python3.11"},
        package = "libpython3-dev",
        requires = ["/usr/include/python3.11/Python.h"],
    )

def _sources(declare):
    declare(
        debian_source,
        name = "absl_source",
        build_file = "@kiln//third_party:absl_source.BUILD",
        folder = "absl",
        package = "libabsl-dev",
    )

def _packages_of_python(declare):
    declare(
        python_packages,
        name = "docs_packages",
        requirements = "@kiln//third_party:docs_requirements.txt",
    )
    declare(
        python_packages,
        name = "lint_packages",
        requirements = "@kiln//third_party:lint_requirements.txt",
    )
    declare(
        python_packages,
        name = "notebook_packages",
        requirements = "@kiln//third_party:notebook_requirements.txt",
    )
    declare(
        python_packages,
        name = "onnx_packages",
        requirements = "@kiln//third_party:onnx_requirements.txt",
    )

def _test_libraries(declare):
    declare(
        system_library,
        name = "com_google_googletest",
        build_file = "@kiln//third_party:googletest.BUILD",
        package = "libgtest-dev libgmock-dev",
        requires = [
            "/usr/include/gmock/gmock.h",
            "/usr/include/gtest/gtest.h",
        ],
    )
    declare(
        system_library,
        name = "com_github_google_benchmark",
        build_file = "@kiln//third_party:benchmark.BUILD",
        package = "libbenchmark-dev",
        requires = ["/usr/include/benchmark/benchmark.h"],
    )

def _model_formats(declare):
    declare(
        system_library,
        name = "com_github_google_flatbuffers",
        build_file = "@kiln//third_party:flatbuffers.BUILD",
        links = {"bin/flatc": "/usr/bin/flatc"},
        package = "libflatbuffers-dev flatbuffers-compiler",
        requires = ["/usr/include/flatbuffers/flatbuffers.h"],
    )
    declare(
        system_library,
        name = "onnx",
        build_file = "@kiln//third_party:onnx.BUILD",
        package = "libonnx-dev",
        requires = ["/usr/include/onnx/onnx_pb.h"],
    )

def _code_generators(declare):
    declare(
        system_library,
        name = "dnnl",
        build_file = "@kiln//third_party:dnnl.BUILD",
        package = "libdnnl-dev",
        requires = ["/usr/include/oneapi/dnnl/dnnl.hpp"],
    )
    declare(
        system_library,
        name = "llvm",
        build_file = "@kiln//third_party:llvm.BUILD",
        package = "llvm-19-dev",
        requires = [
            "/usr/include/llvm-19/llvm/IR/Module.h",
            "/usr/lib/llvm-19/lib/libLLVM-19.so",
        ],
    )
    declare(
        system_library,
        name = "lld",
        build_file = "@kiln//third_party:lld.BUILD",
        links = {
            "include/lld": "/usr/lib/llvm-19/include/lld",
            "lib/liblldCommon.a": "/usr/lib/llvm-19/lib/liblldCommon.a",
            "lib/liblldELF.a": "/usr/lib/llvm-19/lib/liblldELF.a",
        },
        package = "liblld-19-dev",
    )

def declare_libraries(declare):
    """Declares the libraries that Kiln's targets name.

    Args:
      declare: called with a repository rule, and with its name and attributes as keywords.
    """
    _base_libraries(declare)
    _python(declare)
    _sources(declare)
    _packages_of_python(declare)
    _test_libraries(declare)
    _model_formats(declare)
    _code_generators(declare)
    declare(release_libraries_repository, name = "release_libraries")

def kiln_dependencies():
    """Declares every external repository that Kiln's targets name."""
    check_bazel()
    _bazel_rules()
    declare_libraries(maybe)
