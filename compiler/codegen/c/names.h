// SPDX-License-Identifier: Apache-2.0
// Identifiers of generated C: valid, not reserved, and never shadowing each other (-Wshadow).
//
//   Names names;
//   std::string w = names.AddGlobal("conv1/weight");  // "conv1_weight"
//   Names::Scope scope(names);
//   std::string i = names.AddLocal("i");              // "i"; "i_1" if an enclosing scope has one
#ifndef KILN_COMPILER_CODEGEN_C_NAMES_H_
#define KILN_COMPILER_CODEGEN_C_NAMES_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"

namespace kiln::codegen {

// True if `name` is valid in C and C++: an identifier and not a keyword.
bool IsCIdentifier(absl::string_view name);
// Replaces every character but letters, digits and '_' by '_'. A leading digit gets a '_'; ""
// becomes "_".
std::string SanitizeIdentifier(absl::string_view name);

class Names {
 public:
  Names() : scopes_(1) {}

  // Returns a new file-scope name like `wanted`. All of them must be added before the first local
  // one.
  std::string AddGlobal(absl::string_view wanted);
  // Adds exactly this name. Returns false if it is taken or not an identifier.
  bool AddExactGlobal(absl::string_view name);
  // Returns a new name in the innermost scope.
  std::string AddLocal(absl::string_view wanted);

  // Local names live until the end of their scope.
  class Scope {
   public:
    explicit Scope(Names& names) : names_(names) { names_.scopes_.emplace_back(); }
    ~Scope() { names_.scopes_.pop_back(); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Names& names_;
  };

 private:
  bool IsTaken(const std::string& name) const;
  std::string Add(absl::string_view wanted, int* next_suffix);

  std::vector<absl::flat_hash_set<std::string>> scopes_;
  absl::flat_hash_map<std::string, int> next_global_;  // next suffix to try
};

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_C_NAMES_H_
