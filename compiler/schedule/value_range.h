// SPDX-License-Identifier: Apache-2.0
// Ranges of the integers that a kernel's stages compute, derived from dtypes and the values of
// constants.
#ifndef KILN_COMPILER_SCHEDULE_VALUE_RANGE_H_
#define KILN_COMPILER_SCHEDULE_VALUE_RANGE_H_

#include <unordered_map>

#include "compiler/base/tensor.h"
#include "compiler/loop/range.h"
#include "compiler/schedule/families.h"

namespace kiln::schedule {

// Returns the range from the least to the greatest element of an integer tensor; [0, 0] if it is
// empty.
loop::Range RangeOfElements(const Tensor& tensor);

class ValueRanges {
 public:
  explicit ValueRanges(const Context& context) : context_(context) {}

  // Returns a range that contains every value of an integer expression.
  loop::Range Of(const Expr& e);
  // Records the range of the stage's buffer for later expressions. Stages have to be passed in the
  // kernel's order.
  void Define(const Stage& stage);

 private:
  loop::Range OfBuffer(const Buffer& buffer);

  const Context& context_;
  std::unordered_map<const loop::BufferNode*, loop::Range> buffers_;
};

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_VALUE_RANGE_H_
