// SPDX-License-Identifier: Apache-2.0
// The order in which a schedule adds the terms of a sum of floats. The bits of the sum depend on
// this order, and on nothing else that a schedule decides: not on packing, threads or prefetches.
// The order of a contraction does not depend on its tile. The reduction family divides the columns
// into tiles of a fixed size, and a smaller last tile may have another order. A maximum or minimum
// has an order too, since its zero may have either sign. Sums of integers have the same bits in
// every order.
#ifndef KILN_COMPILER_SCHEDULE_SUM_ORDER_H_
#define KILN_COMPILER_SCHEDULE_SUM_ORDER_H_

#include <cstdint>
#include <string>

#include "compiler/loop/stage.h"
#include "compiler/target/target.h"

namespace kiln::schedule {

struct SumOrder {
  enum class Kind {
    kInOrder,   // one term after the other, the innermost axis of the reduction fastest
    kChains,    // `ways` sums per element: term i is added to sum i % ways
    kLanes,     // `ways` sums along the innermost axis: element i is added to sum i % ways
    kDots,      // groups of terms by `instruction`
    kWinograd,  // F(outputs × outputs, 3 × 3)
  };

  Kind kind = Kind::kInOrder;
  // kChains: the last sum is added to the one before it, and so on. kLanes: the upper half of the
  // sums is added to the lower half, until one sum is left.
  int64_t ways = 1;
  std::string instruction = {};  // kDots
  int64_t factor_parts = 1;      // kDots: bfloat16 terms that represent one float32 factor
  int64_t outputs = 0;           // kWinograd
  bool fused = false;            // a product and its addition are rounded once

  friend bool operator==(const SumOrder&, const SumOrder&) = default;
};

// Returns the order in which the reduction family computes a stage that reduces, inside of the
// loops that the stage shares with others. kLanes: vectors are along the innermost axis of the
// reduction. Otherwise they are along the innermost axis of the space, and the order is that of the
// largest tile.
SumOrder OrderOfSums(const loop::Stage& stage, const Target& target);
// Returns the order of a smaller tile of `columns` elements, if `order` is that of the largest one.
SumOrder OrderOfTile(const SumOrder& order, const loop::Stage& stage, int64_t columns,
                     const Target& target);
// Returns the number of elements of the innermost space axis, which has `extent`, in the largest
// tile of the reduction family: as many vectors as hide the latency of an addition.
int64_t ReductionTile(int64_t extent, DType dtype, const Target& target);

// Returns "in order", "in 4 chains", "in 16 lanes", "by vdpbf16ps" or "by Winograd F(4x4, 3x3)",
// followed by ", fused" if products are fused.
std::string Text(const SumOrder& order);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_SUM_ORDER_H_
