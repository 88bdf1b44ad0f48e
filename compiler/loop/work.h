// SPDX-License-Identifier: Apache-2.0
// Counts of a statement's expressions: as code, and as they are evaluated.
#ifndef KILN_COMPILER_LOOP_WORK_H_
#define KILN_COMPILER_LOOP_WORK_H_

#include <cstdint>

#include "compiler/loop/loop.h"

namespace kiln::loop {

// Distinct expression nodes, those in unrolled loops counted once for each copy.
int64_t CodeSize(const Stmt& s);

// Expressions that one execution evaluates, a dot for each of its products. Guards are comparisons of
// indices, and their minima and maxima; one that is the same for all iterations of an unrolled or
// vectorized loop is evaluated once for all of them.
struct Work {
  double all = 0, guards = 0;
};
Work WorkOf(const Stmt& s);

// Of a loop; 1 where their number is not known.
double Iterations(const For& loop);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_WORK_H_
