# SPDX-License-Identifier: Apache-2.0
"""Allowed dependencies between packages.

package_groups below turns the table into package groups, which targets name as their visibility.
//tools/bazel has these groups. The test //tests/layering compares the table with the dependencies
of the targets.
"""

_ABSL = "@com_google_absl"

# Maps a package, including the packages below it, to the packages and external repositories on
# which its libraries may depend in addition to itself. Tests in the package may depend on anything.
LAYERS = {
    "compiler/backend": [
        "compiler/base",
        "compiler/codegen/c",
        "compiler/codegen/llvm",
        "compiler/loop",
        "compiler/options",
        "compiler/target",
        _ABSL,
    ],
    "compiler/base": [
        "runtime_cpp/status",
        _ABSL,
        "@openssl",
    ],
    "compiler/call": [
        "compiler/graph",
        "compiler/loop",
    ],
    "compiler/codegen/c": [
        "compiler/base",
        "compiler/loop",
        "compiler/target",
        "metadata",  # names that C reserves
        _ABSL,
    ],
    "compiler/codegen/llvm": [
        "compiler/base",
        "compiler/loop",
        "compiler/target",
        "runtime_cpp/cpu",
        "runtime_crt",  # names of the notes in libraries
        _ABSL,
        "@lld",
        "@llvm",
    ],
    "compiler/evaluate": [
        "compiler/base",
        "compiler/executor",
        "compiler/graph",
        "compiler/loop",
        "compiler/lower",
        "compiler/passes",
        "compiler/plan",
        "compiler/target",
        _ABSL,
    ],
    "compiler/executor": [
        "compiler/base",
        "compiler/external",
        "compiler/graph",
        "compiler/loop",
        "compiler/plan",
        "metadata",
        _ABSL,
        "@nlohmann_json",
    ],
    "compiler/external": [
        "compiler/base",
        "compiler/graph",
        "compiler/ops",
        "runtime_cpp/dnnl/format",
        _ABSL,
        "@com_google_protobuf",
    ],
    "compiler/frontend/common": [
        "compiler/base",
        "compiler/graph",
        "compiler/ops",
        _ABSL,
    ],
    "compiler/frontend/onnx": [
        "compiler/base",
        "compiler/frontend/common",
        "compiler/graph",
        "compiler/ops",
        _ABSL,
        "@com_google_protobuf",
        "@onnx",
    ],
    "compiler/frontend/tflite": [
        "compiler/base",
        "compiler/frontend/common",
        "compiler/graph",
        "compiler/ops",
        _ABSL,
        "@com_github_google_flatbuffers",
    ],
    "compiler/graph": [
        "compiler/base",
        _ABSL,
        "@nlohmann_json",  # the metadata section of Relay text
    ],
    "compiler/import": [
        "compiler/base",
        "compiler/evaluate",
        "compiler/frontend/common",
        "compiler/frontend/onnx",
        "compiler/frontend/tflite",
        "compiler/graph",
        "compiler/ops",
        _ABSL,
        "@nlohmann_json",  # checks if texts are UTF-8
    ],
    "compiler/loop": [
        "compiler/base",
        _ABSL,
    ],
    "compiler/lower": [
        "compiler/base",
        "compiler/call",
        "compiler/graph",
        "compiler/loop",
        "compiler/ops",
        "compiler/schedule",
        "compiler/target",
        _ABSL,
    ],
    "compiler/ops": [
        "compiler/base",
        "compiler/graph",
        "compiler/loop",
        _ABSL,
    ],
    "compiler/options": [
        "compiler/base",
        "compiler/external",
        "compiler/graph",
        "compiler/passes",
        "compiler/plan",
        "compiler/schedule",
        "compiler/target",
        "metadata",
        "runtime_crt",  # limits of the ABI
        _ABSL,
    ],
    "compiler/passes": [
        "compiler/base",
        "compiler/graph",
        "compiler/ops",
        "compiler/target",
        _ABSL,
    ],
    "compiler/pipeline": [
        "compiler/backend",
        "compiler/base",
        "compiler/evaluate",
        "compiler/executor",
        "compiler/external",
        "compiler/graph",
        "compiler/loop",
        "compiler/lower",
        "compiler/options",
        "compiler/passes",
        "compiler/plan",
        "compiler/target",
        "compiler/variants",
        "metadata",
        _ABSL,
    ],
    "compiler/plan": [
        "compiler/base",
        "compiler/call",
        "compiler/graph",
        "compiler/loop",
        "compiler/target",
        _ABSL,
    ],
    "compiler/quantize": [
        "compiler/base",
        "compiler/frontend/onnx",
        "compiler/graph",
        _ABSL,
        "@onnx",
    ],
    "compiler/schedule": [
        "compiler/base",
        "compiler/loop",
        "compiler/target",
        _ABSL,
    ],
    "compiler/target": [
        "compiler/base",
        "runtime_cpp/cpu",
        _ABSL,
    ],
    "compiler/tuning": [
        "compiler/base",
        "compiler/schedule",
        "compiler/target",
        _ABSL,
        "@com_google_protobuf",
    ],
    "compiler/variants": [
        "compiler/base",
        "compiler/graph",
        "compiler/loop",
        "compiler/lower",
        "compiler/target",
        _ABSL,
    ],
    "metadata": [
        "runtime_crt",  # names of the notes in libraries
        _ABSL,
        "@com_google_protobuf",
        "@nlohmann_json",
    ],
    "mlf": [
        "compiler/base",
        "metadata",
        "runtime_cpp",  # formats of parameters and graphs
        _ABSL,
        "@libarchive",
        "@nlohmann_json",
    ],
    "runtime_cpp": [
        "metadata",
        "runtime_cpp/cpu",
        "runtime_cpp/status",
        "runtime_crt",
        _ABSL,
        "@nlohmann_json",
        "@xxhash",
    ],
    "runtime_cpp/cpu": [_ABSL],
    "runtime_cpp/dnnl": [
        "runtime_cpp",
        "runtime_cpp/dnnl/format",
        "runtime_cpp/status",
        "runtime_crt",
        _ABSL,
        "@com_google_protobuf",
        "@dnnl",
    ],
    "runtime_cpp/dnnl/format": ["@com_google_protobuf"],
    "runtime_cpp/shared": [
        "runtime_cpp",
        "runtime_cpp/status",
        "runtime_crt",
        _ABSL,
        "@absl_source",
    ],
    "runtime_cpp/signature": [
        "runtime_cpp",
        "runtime_cpp/status",
        _ABSL,
        "@openssl",
    ],
    "runtime_cpp/status": [_ABSL],
    "runtime_crt": [],
}

# These packages may depend on anything. No package of LAYERS depends on them.
TOP = [
    "docs",
    "models",
    "python",
    "release",
    "tests",
    "tools",
]

def package_groups():
    """Declares a package group for each package of LAYERS: the packages that may name its targets.

    The group of "compiler/graph" is //tools/bazel:users_of_compiler_graph.
    """
    for layer in LAYERS:
        users = [layer] + [user for user, uses in LAYERS.items() if layer in uses] + TOP
        native.package_group(
            name = "users_of_" + layer.replace("/", "_"),
            packages = ["//{}/...".format(user) for user in users],
        )
