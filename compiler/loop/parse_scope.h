// SPDX-License-Identifier: Apache-2.0
// Scope: the meanings of names in the text of a loop program, for the parser (parse.h).
//
// A name has one meaning in a function, as the printer guarantees. Loops whose variables have the
// same name share the variable, and allocations with the same name share the buffer.
#ifndef KILN_COMPILER_LOOP_PARSE_SCOPE_H_
#define KILN_COMPILER_LOOP_PARSE_SCOPE_H_

#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/loop/expr.h"

namespace kiln::loop {

// A variable, an expression named by `let`, or a buffer.
using Meaning = std::variant<Expr, Buffer>;

class Scope {
 public:
  // The scope also contains the names of `outer`, which must outlive it.
  explicit Scope(const Scope* outer = nullptr) : outer_(outer) {}

  // Returns null if the name has no meaning.
  const Meaning* Find(absl::string_view name) const;
  // Returns false if the name has a meaning already, or is reserved.
  bool Declare(const std::string& name, Meaning meaning);

  // Declares a name for the next statement.
  bool Let(const std::string& name, Expr value);
  // Removes the names of Let, once their statement has been read.
  void ForgetLets();

 private:
  const Scope* outer_;
  std::unordered_map<std::string, Meaning> meanings_;
  std::vector<std::string> lets_;
};

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_PARSE_SCOPE_H_
