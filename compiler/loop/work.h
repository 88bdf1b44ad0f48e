// SPDX-License-Identifier: Apache-2.0
// Counts of a statement's expressions: as code, and as evaluations.
#ifndef KILN_COMPILER_LOOP_WORK_H_
#define KILN_COMPILER_LOOP_WORK_H_

#include <cstdint>

#include "compiler/loop/loop.h"

namespace kiln::loop {

// Number of distinct expression nodes. Nodes in unrolled loops count once for each copy.
int64_t CodeSize(const Stmt& s);

// Numbers of expressions that one execution evaluates. A dot counts once for each of its products.
// Guards are comparisons, minima and maxima of indices. A guard that is the same for all iterations
// of an unrolled or vectorized loop is evaluated once for all of them.
struct Work {
  double all = 0, guards = 0;
};
Work WorkOf(const Stmt& s);

// Number of iterations of a loop; 1 if it is not known.
double Iterations(const For& loop);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_WORK_H_
