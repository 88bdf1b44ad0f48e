# SPDX-License-Identifier: Apache-2.0
"""The Debian libraries of a release: static archives, shared objects of libraries without one,
licenses and versions.

A development build links shared objects, which is fast. //release links the same object files with
the flags of this repository instead; see release/static_program.bzl.
"""

load(":system_library.bzl", "require_files")

# Packages whose code is linked into the program or the runtimes, with their licenses.
_STATIC = {
    "libabsl-dev": "Apache-2.0",
    "libarchive-dev": "BSD-2-Clause",
    "libcli11-dev": "BSD-3-Clause",
    "libflatbuffers-dev": "Apache-2.0",
    "libgcc-12-dev": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "libjemalloc-dev": "BSD-2-Clause",
    "libjs-chart.js": "MIT",
    "liblld-19-dev": "Apache-2.0 WITH LLVM-exception",
    "libssl-dev": "Apache-2.0",
    "libstdc++-12-dev": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "libxxhash-dev": "BSD-2-Clause",
    "libzstd-dev": "BSD-3-Clause",
    "llvm-19-dev": "Apache-2.0 WITH LLVM-exception",
    "nlohmann-json3-dev": "MIT",
    "zlib1g-dev": "Zlib",
}

# Shared objects by Debian package. Debian has no static archive of libonnx, libonnx_proto and
# libdnnl, so they are bundled unchanged with their dependencies. libprotobuf is shared because
# libonnx and the compiler must use the same copy. libelf is shared because its license is the LGPL.
_SHARED = {
    "libOpenCL.so.1": "ocl-icd-libopencl1",
    "libdnnl.so.2": "libdnnl2",
    "libelf.so.1": "libelf1",
    "libgomp.so.1": "libgomp1",
    "libonnx.so.1": "libonnx1",
    "libonnx_proto.so.1": "libonnx1",
    "libprotobuf.so.32": "libprotobuf32",
    "libz.so.1": "zlib1g",
}

# The static archives of Abseil cannot be linked into a shared object, such as the Python module,
# because Debian compiles their thread-local variables for programs only.
_ABSL_PACKAGE = "libabsl20220623"
_ABSL_ROOTS = ["absl_status", "absl_statusor", "absl_str_format", "absl_strings"]

_SHARED_LICENSES = {
    "libabsl20220623": "Apache-2.0",
    "libdnnl2": "Apache-2.0",
    "libelf1": "LGPL-3.0-or-later OR GPL-2.0-or-later",
    "libgomp1": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "libonnx1": "Apache-2.0",
    "libprotobuf32": "BSD-3-Clause",
    "ocl-icd-libopencl1": "BSD-2-Clause",
    "zlib1g": "Zlib",
}

_LLVM_CONFIG = "/usr/bin/llvm-config-19"

# LLVM components to link. The other targets of Debian's LLVM are left out; they make up a third of
# it.
_LLVM_TARGETS = ["AArch64", "ARM", "RISCV", "X86"]
_LLVM_COMPONENTS = ["lto", "option", "orcjit", "passes"] + [target.lower() for target in _LLVM_TARGETS]
_LLVM_INITIALIZERS = ["AsmParser", "AsmPrinter", "Target", "TargetInfo", "TargetMC"]

# Polly is a plug-in for link-time optimization, which Kiln does not use.
_POLLY = ["-lPolly", "-lPollyISL"]
_ABSENT_PARTS = """
#include "llvm/Passes/PassPlugin.h"

llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "absent", LLVM_VERSION_STRING, [](llvm::PassBuilder&) {}};
}
"""

_BUILD_FILE = """
load("@rules_cc//cc:defs.bzl", "cc_library")

package(default_visibility = ["//visibility:public"])

# The compiler registers every target that LLVM's headers list, and LLD its plug-ins; those that are not linked register nothing.
cc_library(
    name = "absent_llvm_parts",
    srcs = ["absent_llvm_parts.cc"],
    deps = ["@llvm"],
)

filegroup(
    name = "shared",
    srcs = glob(["shared/*"]),
)

filegroup(
    name = "shared_absl",
    srcs = glob(["shared_absl/*"]),
)

filegroup(
    name = "absl_headers",
    srcs = glob(["absl/**/*.h", "absl/**/*.inc"]),
)

filegroup(
    name = "licenses",
    srcs = glob(["licenses/*"]),
)

# Of the runtime by itself.
filegroup(
    name = "runtime_licenses",
    srcs = ["licenses/" + package for package in ["libabsl-dev", "libstdc++-12-dev", "libxxhash-dev", "nlohmann-json3-dev"]],
)

exports_files(["packages.json"])
"""

_LINK_FILE = """
_SHARED = ["-ldnnl", "-lelf", "-lonnx", "-lonnx_proto", "-lprotobuf"]

# Flag of a link with shared objects to the flags of the release, which come after -Bstatic.
RELEASE_FLAGS = dict(
    [(flag, ["-Wl,-Bdynamic", flag, "-Wl,-Bstatic"]) for flag in _SHARED],
    **{{"-lLLVM-19": {llvm}}}
)
"""

def _run(repository_ctx, *command):
    result = repository_ctx.execute(list(command))
    if result.return_code != 0:
        fail("@{}: `{}` failed: {}".format(repository_ctx.name, " ".join(command), result.stderr))
    return result.stdout.strip()

def _files_of(repository_ctx, package):
    """Returns the paths of the files that a Debian package installs, by file name."""
    paths = _run(repository_ctx, "dpkg-query", "--listfiles", package).split("\n")
    return {path.rpartition("/")[2]: path for path in paths}

def _link_shared(repository_ctx):
    for soname, package in _SHARED.items():
        repository_ctx.symlink(_files_of(repository_ctx, package)[soname], "shared/" + soname)

def _link_absl(repository_ctx):
    flags = _run(repository_ctx, "pkg-config", "--libs-only-l", *_ABSL_ROOTS).split(" ")
    names = {flag[len("-l"):]: None for flag in flags if flag.startswith("-labsl_")}
    shared = _files_of(repository_ctx, _ABSL_PACKAGE)
    for name in names:
        soname = "lib{}.so.{}".format(name, _ABSL_PACKAGE[len("libabsl"):])
        if soname in shared:  # Some Abseil libraries consist of headers only.
            repository_ctx.symlink(shared[soname], "shared_absl/" + soname)
    repository_ctx.symlink("/usr/include/absl", "absl")

def _link_llvm(repository_ctx):
    require_files(repository_ctx, [_LLVM_CONFIG], "llvm-19-dev")
    libraries = _run(repository_ctx, _LLVM_CONFIG, "--link-static", "--libs", *_LLVM_COMPONENTS).split(" ")
    libraries = [library for library in libraries if library not in _POLLY]
    repository_ctx.file("link.bzl", _LINK_FILE.format(llvm = repr(libraries + ["-lz", "-lzstd"])))
    absent = [target for target in _run(repository_ctx, _LLVM_CONFIG, "--targets-built").split(" ") if target not in _LLVM_TARGETS]
    repository_ctx.file("absent_llvm_parts.cc", _ABSENT_PARTS + "".join([
        "extern \"C\" void LLVMInitialize{}{}() {{}}\n".format(target, what)
        for target in absent
        for what in _LLVM_INITIALIZERS
    ]))

def _describe_packages(repository_ctx):
    packages = []
    for linkage, licenses in [("static", _STATIC), ("shared", _SHARED_LICENSES)]:
        for package, license in licenses.items():
            copyright = "/usr/share/doc/{}/copyright".format(package)
            require_files(repository_ctx, [copyright], package)
            repository_ctx.symlink(copyright, "licenses/" + package)
            description = _run(
                repository_ctx,
                "dpkg-query",
                "--show",
                "--showformat=${Version}\n${source:Package}\n${source:Version}\n${Homepage}\n",
                package,
            ).split("\n")
            packages.append(struct(
                name = package,
                version = description[0],
                source = description[1],
                source_version = description[2],
                homepage = description[3] if len(description) > 3 else "",
                license = license,
                linkage = linkage,
            ))
    repository_ctx.file("packages.json", json.encode(struct(packages = packages)) + "\n")

def _release_libraries_impl(repository_ctx):
    _describe_packages(repository_ctx)
    _link_shared(repository_ctx)
    _link_absl(repository_ctx)
    _link_llvm(repository_ctx)
    repository_ctx.file("BUILD.bazel", _BUILD_FILE)

release_libraries_repository = repository_rule(
    implementation = _release_libraries_impl,
    local = True,
)
