// SPDX-License-Identifier: Apache-2.0
// The integers that a function takes in addition to pointers (Func::scalars).
#ifndef KILN_COMPILER_LOOP_SCALARS_H_
#define KILN_COMPILER_LOOP_SCALARS_H_

#include <cstddef>

#include "compiler/loop/loop.h"

namespace kiln::loop {

// Number of scalars that precede the pointers: a task's number and the number of tasks. All other
// scalars follow the pointers.
inline size_t NumLeadingScalars(const Func& func) { return func.kind == Func::Kind::kTask ? 2 : 0; }

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_SCALARS_H_
