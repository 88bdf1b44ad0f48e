// SPDX-License-Identifier: Apache-2.0
// For tests: compiles generated C with a C compiler of this machine and loads it into this process.
//
//   auto library = LoadedC::Compile(source, {"gcc", "-O2"});
//   auto* f = library->Function<int32_t(void*, void*)>("tvmgen_default_f");
#ifndef KILN_COMPILER_CODEGEN_C_C_COMPILER_H_
#define KILN_COMPILER_CODEGEN_C_C_COMPILER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kiln::codegen {

// Flags that make the warnings errors which generated C has to be free of.
extern const std::vector<std::string> kStrictFlags;

// True if the program `compiler` is on the PATH.
bool HasCompiler(absl::string_view compiler);
// Runs `command` with kStrictFlags on a file with `source`. NotFound if there is no such compiler;
// Internal, with its messages, if it fails.
absl::Status CheckC(const std::string& source, const std::vector<std::string>& command);

// Returns the output of `command` with -S for `source`. Same errors as CheckC.
absl::StatusOr<std::string> AssemblyOfC(const std::string& source,
                                        const std::vector<std::string>& command);

class LoadedC {
 public:
  // `command` is the compiler with its options; kStrictFlags are added.
  static absl::StatusOr<std::unique_ptr<LoadedC>> Compile(const std::string& source,
                                                          const std::vector<std::string>& command);
  ~LoadedC();

  // The address of the symbol, or null.
  void* Symbol(const std::string& name) const;
  template <typename F>
  F* Function(const std::string& name) const {
    return reinterpret_cast<F*>(Symbol(name));
  }

 private:
  explicit LoadedC(void* handle) : handle_(handle) {}
  void* const handle_;
};

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_C_C_COMPILER_H_
