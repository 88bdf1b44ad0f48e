# SPDX-License-Identifier: Apache-2.0
"""Projects of CMake in C and C++ that a release must link into.

A program has the shared runtime. A plugin contains the static runtime and therefore needs position-independent code.
Further programs have the static runtime, an Abseil of their own, and the runtime's sources.
"""

import collections

# `files` maps names to texts, in which {version} stands for the release's. `runs` has each program with its arguments, its
# exit status and its output; MODEL and PLUGIN stand for paths. `pkg_config` maps a program that pkg-config's flags build
# to its source. `packages` are the additional Debian packages that the project needs, besides compilers.
Project = collections.namedtuple("Project", ["files", "runs", "pkg_config", "packages"])

# The C ABI of the static runtime.
_ABI = """#include <stdio.h>
#include <tvm/runtime/c_runtime_api.h>

{signature} {{
  TVMModuleHandle module = NULL;
  if (TVMModLoadFromFile(path, "so", &module) != 0) return puts(TVMGetLastError()), 1;
  return TVMModFree(module);
}}
"""

ABI_PROGRAM = _ABI.format(signature="static int load(const char* path)") + "\nint main(int argc, char** argv) { return load(argv[argc - 1]); }\n"

SERVICE_OF_C = """#include <stdio.h>

#include "kiln/runtime.h"

int main(int argc, char** argv) {
  const DLDevice cpu = {kDLCPU, 0};
  KilnModel* model = NULL;
  if (KilnModelLoad(argv[argc - 1], cpu, NULL, &model) != KILN_OK) return puts(KilnLastError()), 1;
  KilnTensorInfo info = {.struct_size = sizeof(info)};
  if (KilnModelGetInput(model, 0, &info) != KILN_OK) return 1;
  printf("%s of %d dimensions\\n", info.name, (int)info.ndim);
  KilnModelFree(model);
  return 0;
}
"""

# A program that knows nothing of Kiln.
_HOST_OF_PLUGINS = """#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (plugin == NULL) return puts(dlerror()), 1;
  int (*load)(const char*) = (int (*)(const char*))dlsym(plugin, "load");
  if (load == NULL || load(argv[argc - 1]) != 0) return 1;
  return puts("loaded by a plugin") < 0;
}
"""

_CMAKE_OF_C = """cmake_minimum_required(VERSION 3.18)
project(service LANGUAGES C)
find_package(kiln {version} REQUIRED)
add_executable(shared service.c)
target_link_libraries(shared PRIVATE kiln::runtime_shared)
add_library(plugin MODULE plugin.c)
target_link_libraries(plugin PRIVATE kiln::runtime)
add_executable(host host.c)
target_link_libraries(host PRIVATE ${{CMAKE_DL_LIBS}})
add_executable(static abi.c)
target_link_libraries(static PRIVATE kiln::runtime)
add_executable(nothing_shared abi.c)
target_link_libraries(nothing_shared PRIVATE kiln::runtime -static)
"""

_CMAKE_WITH_ABSEIL = """cmake_minimum_required(VERSION 3.18)
project(service LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(absl REQUIRED)
find_package(kiln {version} REQUIRED)
add_executable(service service.cc)
target_link_libraries(service PRIVATE absl::strings absl::status absl::flat_hash_map kiln::runtime_shared)
target_compile_options(service PRIVATE -fno-exceptions -fno-rtti)
"""

_CMAKE_OF_SOURCES = """cmake_minimum_required(VERSION 3.18)
project(service LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 20)
add_compile_options(-fsanitize=address -O1)
add_link_options(-fsanitize=address)
find_path(sources runtime_cpp/CMakeLists.txt PATH_SUFFIXES ../share/kiln/src REQUIRED)
add_subdirectory("${{sources}}/runtime_cpp" kiln_runtime)
add_executable(service service.cc)
target_link_libraries(service PRIVATE kiln_runtime)
"""

_SERVICE_OF_SOURCES = """#include <cstdio>

#include "runtime_cpp/model.h"

int main(int argc, char** argv) {
  const absl::StatusOr<kiln::runtime::Model> model = kiln::runtime::Model::Load(argv[argc - 1]);
  std::printf("%s\\n", model.ok() ? "loaded" : model.status().ToString().c_str());
}
"""

_SERVICE_WITH_ABSEIL = """#include <cstdio>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/runtime.hpp"

int main(int argc, char** argv) {
  absl::flat_hash_map<std::string, kiln::Model> models;
  auto model = kiln::Model::Load(argv[argc - 1]);
  const absl::Status ours = absl::NotFoundError(absl::StrCat("no ", argv[argc - 1]));
  if (!model.ok()) return std::puts(ours.ToString().c_str()), 1;
  models.emplace("digits", *std::move(model));
  std::puts(absl::StrCat(models.at("digits").inputs().size(), " input").c_str());
}
"""

PROJECTS = {
    "C": Project(
        {"CMakeLists.txt": _CMAKE_OF_C, "service.c": SERVICE_OF_C, "plugin.c": _ABI.format(signature="int load(const char* path)"), "host.c": _HOST_OF_PLUGINS, "abi.c": ABI_PROGRAM},
        [
            ("build/shared MODEL", 0, "image of 4 dimensions"),
            ("build/host PLUGIN MODEL", 0, "loaded by a plugin"),
            ("build/static MODEL", 0, ""),
            ("./flags MODEL", 0, "image of 4 dimensions"),
        ],
        {"flags": "service.c"},
        [],
    ),
    "C++ with Debian's Abseil": Project(
        {"CMakeLists.txt": _CMAKE_WITH_ABSEIL, "service.cc": _SERVICE_WITH_ABSEIL},
        [("build/service MODEL", 0, "1 input"), ("build/service MODEL missing.so", 1, "NOT_FOUND: no missing.so")],
        {},
        ["libabsl-dev"],
    ),
}

# This project compiles the whole runtime, so only try_release.py builds it.
SLOW_PROJECTS = {
    "C++ with the sources": Project(
        {"CMakeLists.txt": _CMAKE_OF_SOURCES, "service.cc": _SERVICE_OF_SOURCES},
        [("build/service MODEL", 0, "loaded")],
        {},
        ["libabsl-dev", "libxxhash-dev", "nlohmann-json3-dev"],
    ),
}


def script(name, version, kiln, model, prefix):
    """Returns a bash program that builds the project `name` in the current folder with the compilers CC and CXX, and runs it.

    `kiln` is the compiler's command and `model` an ONNX file. `prefix` is the folder of an unpacked archive, or None if
    the Debian packages are installed.
    """
    files, runs, pkg_config, _ = {**PROJECTS, **SLOW_PROJECTS}[name]
    lines = ["set -euo pipefail"]
    for file, text in files.items():
        text = text.format(version=version) if file == "CMakeLists.txt" else text
        lines += ["cat >{} <<'END_OF_FILE'".format(file), text.rstrip("\n"), "END_OF_FILE"]
    lines.append("cmake -S . -B build {}>/dev/null")
    if prefix is None:
        lines[-1] = lines[-1].format("")
    else:
        lines[-1] = lines[-1].format("'-DCMAKE_PREFIX_PATH={}' ".format(prefix))
        lines.append("export PKG_CONFIG_PATH='{0}/lib/pkgconfig' LD_LIBRARY_PATH='{0}/lib'".format(prefix))
    lines.append("cmake --build build")
    for program, source in pkg_config.items():
        # xargs reads the backslash before a blank of a path.
        lines.append('pkg-config --cflags --libs kiln-shared | xargs "$CC" -Wall -Wextra -Werror -o {} {}'.format(program, source))
    lines.append("'{}' compile '{}' -o model --module-name digits >/dev/null".format(kiln, model))
    for command, status, output in runs:
        command = command.replace("MODEL", "model/digits.so").replace("PLUGIN", "build/libplugin.so")
        lines.append('status=0; output="$({})" || status=$?'.format(command))
        lines.append("[[ \"$status $output\" == '{} {}' ]] || {{ echo \"{}: $status $output\"; exit 1; }}".format(status, output, command))
    return "\n".join(lines) + "\n"
