// SPDX-License-Identifier: Apache-2.0
// LaneOf: extracts one lane of a vector.
#ifndef KILN_COMPILER_LOOP_LANE_OF_H_
#define KILN_COMPILER_LOOP_LANE_OF_H_

#include "compiler/loop/expr.h"

namespace kiln::loop {

// Returns the scalar that is lane `lane`, an index, of a vector. Returns a scalar as it is. Sharing
// is kept. Returns an empty expression if `e` contains a dot, or an interleave while `lane` is not
// constant.
Expr LaneOf(const Expr& e, const Expr& lane);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_LANE_OF_H_
