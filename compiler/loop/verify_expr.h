// SPDX-License-Identifier: Apache-2.0
// The rules of types, for VerifyProgram.
#ifndef KILN_COMPILER_LOOP_VERIFY_EXPR_H_
#define KILN_COMPILER_LOOP_VERIFY_EXPR_H_

#include <string>

#include "compiler/loop/expr.h"

namespace kiln::loop {

// What is wrong with the types of a node and its direct operands; empty if nothing is.
std::string FindTypeError(const Expr& e);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_VERIFY_EXPR_H_
