// SPDX-License-Identifier: Apache-2.0
// Text of statements, for the printers of this package.
#ifndef KILN_COMPILER_LOOP_PRINT_STMT_H_
#define KILN_COMPILER_LOOP_PRINT_STMT_H_

#include <string>

#include "compiler/loop/loop.h"
#include "compiler/loop/print_names.h"

namespace kiln::loop {

// Returns the lines of `stmt`, indented by `indent` levels. Expressions that occur in several
// places of a statement are named t0, t1, ….
std::string PrintStmt(const Stmt& stmt, NameTable& names, int indent);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_PRINT_STMT_H_
