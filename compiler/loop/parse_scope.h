// SPDX-License-Identifier: Apache-2.0
// What names mean in the text of a loop program; for the parser (parse.h).
//
// A name means one thing in a function, as the printer gives it: loops whose variables are called
// alike have the variable in common, and so have allocations the buffer.
#ifndef KILN_COMPILER_LOOP_PARSE_SCOPE_H_
#define KILN_COMPILER_LOOP_PARSE_SCOPE_H_

#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/loop/expr.h"

namespace kiln::loop {

// A variable or an expression that `let` names; or a buffer.
using Meaning = std::variant<Expr, Buffer>;

class Scope {
 public:
  // The names of `outer`, which outlives this scope, and others.
  explicit Scope(const Scope* outer = nullptr) : outer_(outer) {}

  // Null if the name means nothing.
  const Meaning* Find(absl::string_view name) const;
  // False if it means something already.
  bool Declare(const std::string& name, Meaning meaning);

  // A name for the statement that follows.
  bool Let(const std::string& name, Expr value);
  // The statement has been read.
  void ForgetLets();

 private:
  const Scope* outer_;
  std::unordered_map<std::string, Meaning> meanings_;
  std::vector<std::string> lets_;
};

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_PARSE_SCOPE_H_
