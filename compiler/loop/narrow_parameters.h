// SPDX-License-Identifier: Apache-2.0
// A function that takes of each tensor only the part that it accesses. So functions are alike that
// do the same to different rows of tensors, wherever these rows lie.
#ifndef KILN_COMPILER_LOOP_NARROW_PARAMETERS_H_
#define KILN_COMPILER_LOOP_NARROW_PARAMETERS_H_

#include <cstdint>
#include <vector>

#include "compiler/loop/loop.h"

namespace kiln::loop {

struct NarrowedFunc {
  Func func;
  // Where each parameter begins in that of the original, in elements.
  std::vector<int64_t> first = {};
};

// Each parameter goes from the first element that is accessed to the last one. It stays as it is
// where an index is not linear in the variables of loops with constant bounds, and where it has an
// alignment of its own. All accesses must be flat.
NarrowedFunc NarrowParameters(const Func& func);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_NARROW_PARAMETERS_H_
