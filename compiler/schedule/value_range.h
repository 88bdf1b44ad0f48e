// SPDX-License-Identifier: Apache-2.0
// The ranges of integers that a kernel's stages compute, from the ranges of dtypes and the values
// of constants.
#ifndef KILN_COMPILER_SCHEDULE_VALUE_RANGE_H_
#define KILN_COMPILER_SCHEDULE_VALUE_RANGE_H_

#include <unordered_map>
#include <vector>

#include "compiler/loop/range.h"
#include "compiler/schedule/families.h"

namespace kiln::schedule {

class ValueRanges {
 public:
  explicit ValueRanges(const Context& context) : context_(context) {}

  // A range that holds every value of an integer expression; of its type where nothing better is
  // known.
  loop::Range Of(const Expr& e);
  // Lets later expressions know the values of the stage's buffer. Stages come in the kernel's order.
  void Define(const Stage& stage);

 private:
  loop::Range Compute(const Expr& e);
  loop::Range OfBinary(const loop::Binary& e);
  loop::Range OfBuffer(const Buffer& buffer);

  const Context& context_;
  std::unordered_map<const loop::BufferNode*, loop::Range> buffers_;
  std::unordered_map<const loop::ExprNode*, loop::Range> known_;
  std::vector<Expr> kept_;  // the keys of `known_`
};

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_VALUE_RANGE_H_
