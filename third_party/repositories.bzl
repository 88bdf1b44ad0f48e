# SPDX-License-Identifier: Apache-2.0
"""The external repositories of Kiln, made from Debian packages and named as upstream names them.

    load("@kiln//third_party:repositories.bzl", "kiln_dependencies")

    kiln_dependencies()

A repository that the workspace has declared before this call stays as it is, so a user with a network can put upstream's
in its place. Bazel makes a repository when a target of it is first needed: what is not built need not be installed.
"""

load(":absl.bzl", "absl_repository")
load(":coverage.bzl", "remote_coverage_tools_stub")
load(":release_libraries.bzl", "release_libraries_repository")
load(":rules_cc.bzl", "rules_cc_repository")
load(":system_library.bzl", "system_directory", "system_library")

_WELL_KNOWN_PROTOS = [
    "any",
    "descriptor",
    "duration",
    "empty",
    "struct",
    "timestamp",
    "wrappers",
]

def _maybe(rule, name, **kwargs):
    if not native.existing_rule(name):
        rule(name = name, **kwargs)

def _bazel_rules():
    _maybe(rules_cc_repository, name = "rules_cc")
    _maybe(
        system_directory,
        name = "rules_java",
        package = "bazel-rules-java",
        path = "/usr/share/bazel/rules/java",
    )
    _maybe(
        system_directory,
        name = "rules_proto",
        package = "bazel-rules-proto",
        path = "/usr/share/bazel/rules/proto",
    )
    _maybe(
        system_directory,
        name = "bazel_skylib",
        package = "bazel-skylib",
        path = "/usr/share/bazel/tools/skylib",
    )
    _maybe(
        system_directory,
        name = "platforms",
        build_file = "@kiln//third_party:platforms.BUILD",
        package = "bazel-platforms",
        path = "/usr/share/bazel/platforms",
    )
    _maybe(remote_coverage_tools_stub, name = "remote_coverage_tools")

def _base_libraries():
    _maybe(absl_repository, name = "com_google_absl")
    _maybe(
        system_library,
        name = "com_google_protobuf",
        build_file = "@kiln//third_party:protobuf.BUILD",
        links = dict([(
            "google/protobuf/{}.proto".format(name),
            "/usr/include/google/protobuf/{}.proto".format(name),
        ) for name in _WELL_KNOWN_PROTOS] + [("bin/protoc", "/usr/bin/protoc")]),
        package = "libprotobuf-dev protobuf-compiler",
    )
    _maybe(
        system_library,
        name = "nlohmann_json",
        build_file = "@kiln//third_party:nlohmann_json.BUILD",
        package = "nlohmann-json3-dev",
        requires = ["/usr/include/nlohmann/json.hpp"],
    )
    _maybe(
        system_library,
        name = "cli11",
        build_file = "@kiln//third_party:cli11.BUILD",
        package = "libcli11-dev",
        requires = ["/usr/include/CLI/CLI.hpp"],
    )
    _maybe(
        system_library,
        name = "chart_js",
        build_file = "@kiln//third_party:chart_js.BUILD",
        links = {"chart.min.js": "/usr/share/javascript/chart.js/chart.min.js"},
        package = "libjs-chart.js",
    )
    _maybe(
        system_library,
        name = "libarchive",
        build_file = "@kiln//third_party:libarchive.BUILD",
        package = "libarchive-dev",
        requires = ["/usr/include/archive.h"],
    )
    _maybe(
        system_library,
        name = "openssl",
        build_file = "@kiln//third_party:openssl.BUILD",
        package = "libssl-dev",
        requires = ["/usr/include/openssl/evp.h"],
    )
    _maybe(
        system_library,
        name = "xxhash",
        build_file = "@kiln//third_party:xxhash.BUILD",
        package = "libxxhash-dev",
        requires = ["/usr/include/xxhash.h"],
    )

def _python():
    _maybe(
        system_library,
        name = "cpython",
        build_file = "@kiln//third_party:cpython.BUILD",
        links = {"include": "/usr/include/python3.11"},
        package = "libpython3-dev",
        requires = ["/usr/include/python3.11/Python.h"],
    )

def _test_libraries():
    _maybe(
        system_library,
        name = "com_google_googletest",
        build_file = "@kiln//third_party:googletest.BUILD",
        package = "libgtest-dev libgmock-dev",
        requires = [
            "/usr/include/gmock/gmock.h",
            "/usr/include/gtest/gtest.h",
        ],
    )
    _maybe(
        system_library,
        name = "com_github_google_benchmark",
        build_file = "@kiln//third_party:benchmark.BUILD",
        package = "libbenchmark-dev",
        requires = ["/usr/include/benchmark/benchmark.h"],
    )

def _model_formats():
    _maybe(
        system_library,
        name = "com_github_google_flatbuffers",
        build_file = "@kiln//third_party:flatbuffers.BUILD",
        links = {"bin/flatc": "/usr/bin/flatc"},
        package = "libflatbuffers-dev flatbuffers-compiler",
        requires = ["/usr/include/flatbuffers/flatbuffers.h"],
    )
    _maybe(
        system_library,
        name = "onnx",
        build_file = "@kiln//third_party:onnx.BUILD",
        package = "libonnx-dev",
        requires = ["/usr/include/onnx/onnx_pb.h"],
    )

def _code_generators():
    _maybe(
        system_library,
        name = "dnnl",
        build_file = "@kiln//third_party:dnnl.BUILD",
        package = "libdnnl-dev",
        requires = ["/usr/include/oneapi/dnnl/dnnl.hpp"],
    )
    _maybe(
        system_library,
        name = "llvm",
        build_file = "@kiln//third_party:llvm.BUILD",
        package = "llvm-19-dev",
        requires = [
            "/usr/include/llvm-19/llvm/IR/Module.h",
            "/usr/lib/llvm-19/lib/libLLVM-19.so",
        ],
    )
    _maybe(
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

def kiln_dependencies():
    """Declares every external repository that Kiln's targets name."""
    _bazel_rules()
    _base_libraries()
    _python()
    _test_libraries()
    _model_formats()
    _code_generators()
    _maybe(release_libraries_repository, name = "release_libraries")
