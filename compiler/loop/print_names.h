// SPDX-License-Identifier: Apache-2.0
// The names that variables, buffers and functions have in the text of programs; for the printers
// and the parser of this package.
#ifndef KILN_COMPILER_LOOP_PRINT_NAMES_H_
#define KILN_COMPILER_LOOP_PRINT_NAMES_H_

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "absl/strings/string_view.h"
#include "compiler/loop/expr.h"

namespace kiln::loop {

// Gives variables and buffers the names that they are printed under: their own, with _1, _2, …
// behind it where it is taken. What is no identifier becomes one.
class NameTable {
 public:
  NameTable() = default;
  // The names of `outer`, which outlives this table, and others.
  explicit NameTable(const NameTable* outer) : outer_(outer) {}
  const std::string& Of(const Buffer& buffer) { return Of(buffer.get(), buffer->name); }
  const std::string& Of(const Var& var) { return Of(var.get(), var.As<VarNode>()->name); }
  // The buffer is called `name`, which must not be taken.
  void Set(const Buffer& buffer, const std::string& name);
  // A name that nothing has yet.
  std::string Fresh(const std::string& wanted);

 private:
  const std::string& Of(const void* object, const std::string& wanted);
  bool Take(const std::string& name);

  const NameTable* outer_ = nullptr;
  std::unordered_map<const void*, std::string> names_;
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> next_suffix_;
};

// Whether the word has a meaning of its own where a variable or buffer may stand, so that none is
// called so: "for", "true", "inf_f32".
bool IsReservedWord(absl::string_view word);

// A linker symbol in the text: itself, or quoted where it is no identifier.
std::string SymbolToString(const std::string& symbol);
// The text in quotes, with the escapes of C.
std::string QuotedToString(absl::string_view text);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_PRINT_NAMES_H_
