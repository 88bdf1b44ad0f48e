// SPDX-License-Identifier: Apache-2.0
// Narrowing of parameters: a function that takes only the part of each tensor that it accesses.
// Functions that do the same to different rows of tensors become alike, wherever the rows lie.
#ifndef KILN_COMPILER_LOOP_NARROW_PARAMETERS_H_
#define KILN_COMPILER_LOOP_NARROW_PARAMETERS_H_

#include <cstdint>
#include <vector>

#include "compiler/loop/loop.h"

namespace kiln::loop {

struct NarrowedFunc {
  Func func;
  // Offset of each parameter in the original parameter, in elements.
  std::vector<int64_t> first = {};
};

// Narrows each parameter to the range from the first to the last accessed element. A parameter
// remains unchanged if it has an alignment of its own, or if an index is not linear in the
// variables of loops with constant bounds. All accesses must be flat.
NarrowedFunc NarrowParameters(const Func& func);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_NARROW_PARAMETERS_H_
