// SPDX-License-Identifier: Apache-2.0
// The two factors of a contraction that is computed by dot products; for dot_product.cc.
#ifndef KILN_COMPILER_SCHEDULE_DOT_PARTS_H_
#define KILN_COMPILER_SCHEDULE_DOT_PARTS_H_

#include <algorithm>
#include <functional>

#include "compiler/schedule/register_tile.h"

namespace kiln::schedule {

// The offset between a byte as int8 and the same byte as uint8.
inline constexpr int64_t kSignBit = 128;

// Calls f(index) for every index of axes with these extents, in order.
template <typename F>
void ForEachIndex(const std::vector<Axis>& axes, const F& f) {
  std::vector<int64_t> index(axes.size(), 0);
  for (int64_t n = TotalExtent(axes); n > 0; --n) {
    f(index);
    for (size_t d = axes.size(); d-- > 0 && ++index[d] == axes[d].extent;) index[d] = 0;
  }
}

// Returns Σ index · coefficients, the offset of an element.
inline int64_t Dot(const std::vector<int64_t>& index, const int64_t* coefficients) {
  int64_t sum = 0;
  for (size_t i = 0; i < index.size(); ++i) sum += index[i] * coefficients[i];
  return sum;
}

// Returns a constant of int8 or int16, or of bfloat16 given as bits.
Tensor SmallNumbers(const Shape& shape, DType dtype, const std::vector<int16_t>& values);

// Adds a constant with the elements of `buffer` as another type, which can represent all of them.
Buffer WithElementsOf(DType dtype, const Buffer& buffer, const std::string& name, Context& context);

// Returns the alignment in bytes of memory that holds groups. It aligns all groups, up to the stack
// alignment of small machines. It is 0 if several groups are read as one vector.
inline int GroupAlignment(const DotPlan& dot, DType dtype) {
  constexpr int kStackAlignment = 8;
  if (dot.of_matrices()) return kMatrixRowBytes;
  if (dot.row == nullptr || dot.lanes > 1) return 0;
  return std::min(static_cast<int>(dot.group) * dtype.bytes(), kStackAlignment);
}

// Removes the constants of the column that all epilogues add to the sums (bias, corrections of zero
// points) from the epilogues. Returns their total, which each sum begins with instead:
// [batch…][column]. The result is empty if there are no such constants.
std::vector<int32_t> TakeColumnConstants(TiledContraction& contraction, const Context& context);

// The column factor as the instruction reads it, [batch…][block][step][column][group], and the
// initial values of the sums, [batch…][block][column]. `offsets` is empty if all values are 0.
struct PackedDotColumns {
  Buffer columns;
  std::vector<int32_t> offsets;
};
// `begin` is the result of TakeColumnConstants.
PackedDotColumns PackDotColumns(const TiledContraction& contraction,
                                const std::vector<int32_t>& begin, Context& context);

// Adds a constant with the initial values of the sums, [batch…][block][column], and lets the sums
// begin with it. If a tile is one loop, the constants that its epilogues load for every column (the
// multipliers of a requantization) are stored beside them, [block][which][column]. One address then
// serves all of them.
void UseColumnConstants(TiledContraction& contraction, const std::vector<int32_t>& offsets,
                        const std::string& name, Context& context);

// Returns x' of x, which is an element or a group of elements.
Expr InstructionRow(const DotPlan& dot, const Expr& x);

// Returns the index in the panel of element `k` of a row of the tile. It is {row, k} or, if the
// instruction reads groups of several rows together, a single index with these groups interleaved.
std::vector<Expr> PanelIndex(const DotPlan& dot, const Expr& tile_row, const Expr& k);

// Copies the rows of a tile: x' of `value` for each element of the reduction, one after another,
// and zeros after the last element.
Stmt FillPanel(const TiledContraction& contraction, const Expr& value, const Buffer& panel,
               const TilePlace& place, const Target& target);

// Returns a constant that a run of a row is multiplied by to get its sum: 1, and 0 for the elements
// after the run that its last group includes. Returns null if all elements are 1.
Buffer OnesOfRun(const DotPlan& dot, const std::string& name, Context& context);
// Stores `factor` times the sum of all elements of `acc`, whose number is a power of two, in `sums`
// at index `at`.
Stmt StoreSumOfLanes(const Buffer& acc, int64_t factor, const Buffer& sums, const Expr& at);
// Returns the group of x' that a row of the tile has at step `step` of a run.
using GroupAt = std::function<Expr(const Expr& row, const Expr& step)>;
// Stores c times the sum of x' of every row of a tile in `sums`. `ones` is the result of OnesOfRun.
Stmt SumRows(const TiledContraction& contraction, const Buffer& sums, const Buffer& ones,
             const GroupAt& group_at, const TilePlace& place);

// Returns an expression of a contraction's row axes at a row of a tile. `row` counts all rows of
// the tile.
Expr AtTileRow(const TiledContraction& contraction, const Expr& e, const TilePlace& place,
               const Expr& row);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_DOT_PARTS_H_
