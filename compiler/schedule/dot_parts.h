// SPDX-License-Identifier: Apache-2.0
// The two sides of a contraction that is computed by dot products; for dot_product.cc.
#ifndef KILN_COMPILER_SCHEDULE_DOT_PARTS_H_
#define KILN_COMPILER_SCHEDULE_DOT_PARTS_H_

#include <algorithm>
#include <functional>

#include "compiler/schedule/register_tile.h"

namespace kiln::schedule {

// Calls f(index) for every index of axes with these extents, in order.
template <typename F>
void ForEachIndex(const std::vector<Axis>& axes, const F& f) {
  std::vector<int64_t> index(axes.size(), 0);
  for (int64_t n = TotalExtent(axes); n > 0; --n) {
    f(index);
    for (size_t d = axes.size(); d-- > 0 && ++index[d] == axes[d].extent;) index[d] = 0;
  }
}

// Σ index · coefficients: where an element lies.
inline int64_t Dot(const std::vector<int64_t>& index, const int64_t* coefficients) {
  int64_t sum = 0;
  for (size_t i = 0; i < index.size(); ++i) sum += index[i] * coefficients[i];
  return sum;
}

// A constant of int8 or int16, or of bfloat16 by its bits.
Tensor SmallNumbers(const Shape& shape, DType dtype, const std::vector<int16_t>& values);

// A constant with elements of another type, which holds all of them.
Buffer WithElementsOf(DType dtype, const Buffer& buffer, const std::string& name, Context& context);

// The alignment in bytes of memory that holds groups, so that all of them are aligned, as far as
// stacks of small machines are; 0 where several groups are read as one vector.
inline int GroupAlignment(const DotPlan& dot, DType dtype) {
  constexpr int kStackAlignment = 8;
  if (dot.of_matrices()) return kMatrixRowBytes;
  if (dot.row == nullptr || dot.lanes > 1) return 0;
  return std::min(static_cast<int>(dot.group) * dtype.bytes(), kStackAlignment);
}

// Takes constants of the column that all epilogues add to the sums (bias, corrections of zero
// points) out of the epilogues: what each sum begins with instead, [batch…][column]; empty if there
// is none.
std::vector<int32_t> TakeColumnConstants(TiledContraction& contraction, const Context& context);

// The column factor as the instruction reads it, [batch…][block][step][column][group], and what
// every sum begins with, [batch…][block][column]; no offsets where all are 0.
struct PackedDotColumns {
  Buffer columns;
  std::vector<int32_t> offsets;
};
// `begin` is that of TakeColumnConstants.
PackedDotColumns PackDotColumns(const TiledContraction& contraction,
                                const std::vector<int32_t>& begin, Context& context);

// Makes a constant of what sums begin with, [batch…][block][column], and lets them begin so. Where a
// tile is one loop, what its epilogues read for every column (the multipliers of a requantisation)
// lies beside it, [block][which][column]: one address serves all of them.
void UseColumnConstants(TiledContraction& contraction, const std::vector<int32_t>& offsets,
                        const std::string& name, Context& context);

// x' of x, an element or a group of them.
Expr InstructionRow(const DotPlan& dot, const Expr& x);

// Where element `k` of a row of the tile lies in the panel: in its own row, or where the instruction
// takes the groups of several rows, in one dimension with these side by side.
std::vector<Expr> PanelIndex(const DotPlan& dot, const Expr& tile_row, const Expr& k);

// Copies the rows of a tile, each element of the reduction behind the other: x' of `value`, and
// zeros behind the last.
Stmt FillPanel(const TiledContraction& contraction, const Expr& value, const Buffer& panel,
               const TilePlace& place, const Target& target);

// What a run of rows is multiplied with for its sum: 1, and 0 where its last group reads on. Null
// where all is 1.
Buffer OnesOfRun(const DotPlan& dot, const std::string& name, Context& context);
// Stores `factor` times the sum of all elements of `acc`, whose number is a power of two, in `sums`.
Stmt StoreSumOfLanes(const Buffer& acc, int64_t factor, const Buffer& sums, const Expr& at);
// The group of x' that step `step` of a run reads of a row of the tile.
using GroupAt = std::function<Expr(const Expr& row, const Expr& step)>;
// Stores c times the sum of x' of every row of a tile in `sums`. `ones` is that of OnesOfRun.
Stmt SumRows(const TiledContraction& contraction, const Buffer& sums, const Buffer& ones,
             const GroupAt& group_at, const TilePlace& place);

// An expression of a contraction's row axes at a row of a tile, counted over all of the tile.
Expr AtTileRow(const TiledContraction& contraction, const Expr& e, const TilePlace& place,
               const Expr& row);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_DOT_PARTS_H_
