# SPDX-License-Identifier: Apache-2.0
"""Abseil of Debian's libabsl-dev under upstream's labels, such as
@com_google_absl//absl/status:statusor."""

load(":system_library.bzl", "require_files")

# Targets by package. A target with the name of its package is upstream's default target.
_TARGETS = {
    "algorithm": ["algorithm", "container"],
    "base": ["base", "config", "core_headers", "dynamic_annotations", "endian", "log_severity", "prefetch"],
    "cleanup": ["cleanup"],
    "container": [
        "btree",
        "fixed_array",
        "flat_hash_map",
        "flat_hash_set",
        "hash_container_defaults",
        "inlined_vector",
        "node_hash_map",
        "node_hash_set",
    ],
    "debugging": ["failure_signal_handler", "leak_check", "stacktrace", "symbolize"],
    "flags": ["commandlineflag", "flag", "marshalling", "parse", "reflection", "usage"],
    "functional": ["any_invocable", "bind_front", "function_ref"],
    "hash": ["hash"],
    "memory": ["memory"],
    "meta": ["type_traits"],
    "numeric": ["bits", "int128"],
    "random": ["bit_gen_ref", "distributions", "random", "seed_sequences"],
    "status": ["status", "statusor"],
    "strings": ["cord", "str_format", "strings"],
    "synchronization": ["synchronization"],
    "time": ["time"],
    "types": ["any", "bad_optional_access", "compare", "optional", "span", "variant"],
    "utility": ["utility"],
}

# Libraries that no other library depends on. pkg-config adds their dependencies.
_PKG_CONFIG_MODULES = [
    "absl_failure_signal_handler",
    "absl_flags_parse",
    "absl_flat_hash_set",
    "absl_random_random",
    "absl_status",
    "absl_statusor",
    "absl_synchronization",
]

_LOAD = """load("@rules_cc//cc:defs.bzl", "cc_library")
"""

_ROOT_BUILD_FILE = _LOAD + """
cc_library(
    name = "system_absl",
    linkopts = ["-Wl,--push-state,--as-needed"] + {libraries} + ["-Wl,--pop-state"],
    visibility = ["//:__subpackages__"],
)
"""

_TARGET = """
cc_library(
    name = "{name}",
    visibility = ["//visibility:public"],
    deps = ["//:system_absl"],
)
"""

def _absl_repository_impl(repository_ctx):
    require_files(repository_ctx, ["/usr/include/absl/status/statusor.h"], "libabsl-dev")
    require_files(repository_ctx, ["/usr/bin/pkg-config"], "pkg-config")
    result = repository_ctx.execute(["/usr/bin/pkg-config", "--libs-only-l"] + _PKG_CONFIG_MODULES)
    if result.return_code != 0:
        fail("pkg-config does not know Abseil; is libabsl-dev whole? " + result.stderr)
    libraries = [word for word in result.stdout.strip().split(" ") if word.startswith("-l")]
    repository_ctx.file("BUILD.bazel", _ROOT_BUILD_FILE.format(libraries = repr(libraries)))
    for package, names in _TARGETS.items():
        targets = [_TARGET.format(name = name) for name in names]
        repository_ctx.file("absl/{}/BUILD.bazel".format(package), "".join([_LOAD] + targets))

absl_repository = repository_rule(
    implementation = _absl_repository_impl,
    doc = "Every target links the same set of shared libraries; the linker keeps those that are used.",
    local = True,
)
