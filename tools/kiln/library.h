// SPDX-License-Identifier: Apache-2.0
// A compiled library, as the subcommands use it.
#ifndef KILN_TOOLS_KILN_LIBRARY_H_
#define KILN_TOOLS_KILN_LIBRARY_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/base/tensor.h"
#include "runtime_cpp/executor.h"
#include "runtime_cpp/module.h"

namespace kiln::tools {

struct Library {
  std::string module_name;
  runtime::Module module;
  std::shared_ptr<runtime::Executor> executor;
};

// How many threads a library takes, as --threads says: 0 for one per CPU.
absl::Status SetThreads(int threads);

// What the command line says of a library.
struct LibraryFlags {
  std::string cpu_variant;  // the one to run; empty for the best that the CPU has
  bool skip_checksum = false;
};
inline constexpr char kSkipChecksum[] = "--skip-checksum";
inline constexpr char kSkipChecksumHelp[] =
    "Do not read the whole library to check that it is undamaged";

// Loads a shared object and makes an executor of the model in it.
absl::StatusOr<Library> LoadLibrary(const std::string& path, const LibraryFlags& flags = {});

// "x86-64-v3 (of x86-64-v2, x86-64-v3)": what runs of a library with CPU variants, or why none
// does. Empty for other libraries.
absl::StatusOr<std::string> RunningVariant(const runtime::Module& module);

// "name=FILE" by name, as options of the command line say it; InvalidArgument for other texts and
// for a name that is given twice.
absl::StatusOr<std::map<std::string, std::string>> Assignments(
    const char* option, const std::vector<std::string>& texts);

TensorType TypeOf(const runtime::TensorInfo& info);
// The bytes of an array as a tensor.
Tensor ToTensor(const runtime::NDArray& array, const TensorType& type);

// Sets every input from `values` ("name" to a file's path or "random"); inputs that are not named
// get random values if `fill` is set.
absl::Status SetInputs(runtime::Executor& executor,
                       const std::map<std::string, std::string>& values, bool fill);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_LIBRARY_H_
