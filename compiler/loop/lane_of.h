// SPDX-License-Identifier: Apache-2.0
// One lane of a vector.
#ifndef KILN_COMPILER_LOOP_LANE_OF_H_
#define KILN_COMPILER_LOOP_LANE_OF_H_

#include "compiler/loop/expr.h"

namespace kiln::loop {

// The scalar that is lane `lane`, an index, of a vector; a scalar as it is. Sharing is kept. Empty if
// there is a dot in it, or an interleave whose lane is no constant.
Expr LaneOf(const Expr& e, const Expr& lane);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_LANE_OF_H_
