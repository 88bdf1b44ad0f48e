// SPDX-License-Identifier: Apache-2.0
// For tests: generated C through a C compiler of this machine into this process.
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

// The warnings that generated C is free of, as errors.
extern const std::vector<std::string> kStrictFlags;

// Whether the program `compiler` is on the PATH.
bool HasCompiler(absl::string_view compiler);
// Runs `command` with kStrictFlags on a file with `source`; NotFound if there is no such compiler,
// Internal with its messages if it fails.
absl::Status CheckC(const std::string& source, const std::vector<std::string>& command);

// What `command` makes of `source` with -S. Errors as CheckC's.
absl::StatusOr<std::string> AssemblyOfC(const std::string& source,
                                        const std::vector<std::string>& command);

class LoadedC {
 public:
  // `command` is the compiler and its options, to which kStrictFlags are added.
  static absl::StatusOr<std::unique_ptr<LoadedC>> Compile(const std::string& source,
                                                          const std::vector<std::string>& command);
  ~LoadedC();

  // Null if there is no such symbol.
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
