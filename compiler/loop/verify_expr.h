// SPDX-License-Identifier: Apache-2.0
// The type rules of expressions, for VerifyProgram.
#ifndef KILN_COMPILER_LOOP_VERIFY_EXPR_H_
#define KILN_COMPILER_LOOP_VERIFY_EXPR_H_

#include <string>

#include "compiler/loop/expr.h"

namespace kiln::loop {

// Describes the error in the types of a node and its direct operands. Returns "" if there is none.
std::string FindTypeError(const Expr& e);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_VERIFY_EXPR_H_
