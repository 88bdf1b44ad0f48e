// SPDX-License-Identifier: Apache-2.0
// The plan of a contraction: everything that is decided about its loops, as a value that prints.
// The loops follow from the contraction and its plan. All legal plans with the same order of sums
// give the same bits (plans_test.cc).
#ifndef KILN_COMPILER_SCHEDULE_CONTRACTION_PLAN_H_
#define KILN_COMPILER_SCHEDULE_CONTRACTION_PLAN_H_

#include <cstdint>
#include <string>

#include "compiler/schedule/sum_order.h"
#include "compiler/schedule/tile_shape.h"

namespace kiln::schedule {

struct ContractionPlan {
  // Source of the columns that a tile reads.
  enum class Columns {
    kInPlace,  // the buffer itself: the columns of a step are contiguous
    kPacked,   // a constant that the compiler packs
    kCopied,   // a copy that the model packs at run time
  };

  SumOrder order = {};
  TileShape tile = {};
  int64_t epilogue_lanes = 0;  // lanes of an epilogue's vectors; 0: those of the tile
  Columns columns = Columns::kInPlace;
  // Number of contiguous columns in a packed constant: those of a tile, or of one vector.
  int64_t columns_together = 0;
  bool columns_outside = false;  // loops over blocks of columns are outside of those over rows
  bool batch_inside = false;     // loops over the batch are inside of those over rows
  // Number of parts of the reduction. All tiles of a block of columns, or of a block of rows,
  // compute one part before the next, so that the data of a part stay in a cache.
  int64_t parts = 1;
  // Minimum number of iterations of the parallel loop, if there are as many; 0: loops are serial.
  int64_t tasks = 0;
  // Maximum number of multiply-adds in the innermost loop, which is unrolled to reduce its
  // overhead.
  int64_t max_unrolled = 1;
  int64_t columns_ahead = 0;    // distance of column prefetches in elements; 0: none
  bool next_columns = false;    // tiles that share columns prefetch the next ones
  bool next_rows = false;       // the blocks of columns together prefetch the next rows
  bool epilogue_ahead = false;  // a tile prefetches the data that its epilogues read

  bool packs() const { return columns != Columns::kInPlace; }
  friend bool operator==(const ContractionPlan&, const ContractionPlan&) = default;
};

// Returns the plan on one line, such as
//   tile 14x2x16, rows outside, columns packed 32 together, sums in order, fused,
//   up to 64 tasks, unrolls 112, prefetches next columns and epilogue
std::string Text(const ContractionPlan& plan);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_CONTRACTION_PLAN_H_
