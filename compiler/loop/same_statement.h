// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_COMPILER_LOOP_SAME_STATEMENT_H_
#define KILN_COMPILER_LOOP_SAME_STATEMENT_H_

#include "compiler/loop/expr_pool.h"
#include "compiler/loop/loop.h"

namespace kiln::loop {

// True if two statements are the same, with the same buffers and variables. False for calls. `pool`
// keeps expressions, for statements that are compared several times.
bool IsSame(const Stmt& a, const Stmt& b, ExprPool& pool);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_SAME_STATEMENT_H_
