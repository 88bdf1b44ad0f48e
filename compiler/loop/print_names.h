// SPDX-License-Identifier: Apache-2.0
// Names of variables, buffers and functions in the text of programs, for the printers and the
// parser of this package.
#ifndef KILN_COMPILER_LOOP_PRINT_NAMES_H_
#define KILN_COMPILER_LOOP_PRINT_NAMES_H_

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "absl/strings/string_view.h"
#include "compiler/loop/expr.h"

namespace kiln::loop {

// Assigns the names under which variables and buffers are printed: their own, with the suffix _1,
// _2, … if it is taken. A name that is not an identifier is changed to one.
class NameTable {
 public:
  NameTable() = default;
  // The names of `outer`, which must outlive this table, stay in use and are not assigned again.
  explicit NameTable(const NameTable* outer) : outer_(outer) {}
  const std::string& Of(const Buffer& buffer) { return Of(buffer.get(), buffer->name); }
  const std::string& Of(const Var& var) { return Of(var.get(), var.As<VarNode>()->name); }
  // Assigns `name`, which must not be taken, to the buffer.
  void Set(const Buffer& buffer, const std::string& name);
  // Returns a name that is not taken: `wanted`, or `wanted` with a suffix.
  std::string Fresh(const std::string& wanted);

 private:
  const std::string& Of(const void* object, const std::string& wanted);
  bool Take(const std::string& name);

  const NameTable* outer_ = nullptr;
  std::unordered_map<const void*, std::string> names_;
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> next_suffix_;
};

// True if the word has a meaning of its own where a variable or buffer may occur, so that these
// cannot have this name: "for", "true", "inf_f32".
bool IsReservedWord(absl::string_view word);

// Returns a linker symbol as it is, or in quotes if it is not an identifier.
std::string SymbolToString(const std::string& symbol);
// Returns the text in quotes, with the escapes of C.
std::string QuotedToString(absl::string_view text);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_PRINT_NAMES_H_
