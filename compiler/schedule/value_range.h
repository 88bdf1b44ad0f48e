// SPDX-License-Identifier: Apache-2.0
// The ranges of integers that a kernel's stages compute, from the ranges of dtypes and the values
// of constants.
#ifndef KILN_COMPILER_SCHEDULE_VALUE_RANGE_H_
#define KILN_COMPILER_SCHEDULE_VALUE_RANGE_H_

#include <unordered_map>

#include "compiler/base/tensor.h"
#include "compiler/loop/range.h"
#include "compiler/schedule/families.h"

namespace kiln::schedule {

// From the least to the greatest element of integers; 0 where there is none.
loop::Range RangeOfElements(const Tensor& tensor);

class ValueRanges {
 public:
  explicit ValueRanges(const Context& context) : context_(context) {}

  // A range that holds every value of an integer expression.
  loop::Range Of(const Expr& e);
  // Lets later expressions know the values of the stage's buffer. Stages come in the kernel's order.
  void Define(const Stage& stage);

 private:
  loop::Range OfBuffer(const Buffer& buffer);

  const Context& context_;
  std::unordered_map<const loop::BufferNode*, loop::Range> buffers_;
};

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_VALUE_RANGE_H_
