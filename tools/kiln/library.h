// SPDX-License-Identifier: Apache-2.0
// A compiled library for the subcommands.
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

// Sets the number of threads of a library to the value of --threads; 0 is one per CPU.
absl::Status SetThreads(int threads);

// Command line options for a library.
struct LibraryFlags {
  std::string cpu_variant;  // the variant to run; empty for the best one that the CPU supports
  bool skip_checksum = false;
};
inline constexpr char kSkipChecksum[] = "--skip-checksum";
inline constexpr char kSkipChecksumHelp[] =
    "Do not read the whole library to check that it is undamaged";

// Loads a shared object and creates an executor of its model.
absl::StatusOr<Library> LoadLibrary(const std::string& path, const LibraryFlags& flags = {});

// Returns "x86-64-v3 (of x86-64-v2, x86-64-v3)": the running variant of a library with CPU
// variants, or the reason why none runs. Empty for other libraries.
absl::StatusOr<std::string> RunningVariant(const runtime::Module& module);

// Parses options of the form "name=FILE" and returns the files, keyed by name. InvalidArgument for
// other texts and for a name that is given twice.
absl::StatusOr<std::map<std::string, std::string>> Assignments(
    const char* option, const std::vector<std::string>& texts);

TensorType TypeOf(const runtime::TensorInfo& info);

// Sets an input to the random values of its index. SetRandomInputs does so for each input that is
// no parameter.
absl::Status SetRandomInput(runtime::Executor& executor, int index);
absl::Status SetRandomInputs(runtime::Executor& executor);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_LIBRARY_H_
