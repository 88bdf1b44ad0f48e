// SPDX-License-Identifier: Apache-2.0
// The register tile of a contraction: the packed column factor, and the code of one tile.
#ifndef KILN_COMPILER_SCHEDULE_REGISTER_TILE_H_
#define KILN_COMPILER_SCHEDULE_REGISTER_TILE_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/base/align.h"
#include "compiler/schedule/families.h"
#include "compiler/schedule/tile_shape.h"
#include "compiler/target/instructions.h"

namespace kiln::schedule {

// What is computed of the finished sums, and where it is stored: in the contraction's axes. `value`
// loads the sums from the contraction's own buffer.
struct Epilogue {
  Buffer buffer;
  std::vector<Expr> index;
  Expr value;
};

// The stages behind the contraction as epilogues; false if one of them cannot be, so that the sums
// must be stored.
bool CollectEpilogues(const loop::Kernel& kernel, size_t which, std::vector<Epilogue>* epilogues);

// Where a tile begins, and how much of the tile's shape there is.
struct TilePlace {
  Expr outer_row = 0, row = 0;  // of the two innermost row axes
  int64_t outer_rows = 1, rows = 1;
  Expr block = 0;         // of columns
  int64_t columns = 1;    // of the block
  Expr pass = 0;          // which of those that share columns
  Expr part = 0;          // of the reduction …
  bool last_part = true;  // … which the epilogues are behind

  Expr first_row = 0;  // of a block of several row tiles
  // Rows of the registers that hold matrices, where the tile is computed in such.
  int64_t matrix_rows() const { return AlignUp(outer_rows * rows, kMatrixSide); }
};

// How a contraction is computed by dot products (dot_product.h). Without an
// instruction the products of a group are written out.
struct DotPlan {
  const DotInstruction* row = nullptr;
  int64_t group = 1;        // elements of the reduction that one step takes
  int64_t run = 1;          // elements of the reduction that lie one behind the other in a row
  int64_t steps = 0;        // of all runs
  int64_t shift = 0;        // c
  int64_t row_offset = 0;   // d
  bool panel = false;       // a tile's rows are copied, each of them contiguous along the reduction
  DType row_dtype = {};     // of x'
  DType column_dtype = {};  // of y' in memory …
  DType column_factor = {};  // … and as it is multiplied
  int64_t lanes = 1;         // columns of the widest vector of sums …
  int64_t vector_rows = 1;   // … and rows
  // Numbers that each x' and each y' is the sum of.
  int64_t factor_parts = 1;
  // Set where all rows are copied for registers that hold matrices before any tile is computed: how many
  // rows stay in the L2 cache while they are multiplied with all columns, in so many parts of the
  // reduction.
  int64_t rows_per_block = 0, reduction_parts = 1;
  // Set where a tile's reduction is one loop in assembly; the tile has its shape.
  const DotLoop* loop = nullptr;

  // Elements of so many rows, or columns, in a step.
  int64_t StepElements(int64_t lines) const { return lines * group * factor_parts; }
  int64_t run_steps() const { return DivideUp(run, group); }
  // Whether all rows are copied before any tile is computed.
  bool stores_matrices() const { return rows_per_block > 0; }
  // Whether a tile is computed in registers that hold matrices. Its sums are in memory before and
  // behind that.
  bool of_matrices() const { return row != nullptr && row->geometry == DotGeometry::kMatrix; }
  // Rows whose groups lie side by side in a panel, and how many elements of one of them.
  int64_t panel_rows() const { return loop == nullptr ? vector_rows : loop->rows; }
  int64_t panel_run() const { return loop == nullptr ? group : loop->run; }
  loop::DotKind kind() const {
    const int elements = static_cast<int>(group);
    if (row == nullptr) return {.group = elements};
    return {.instruction = std::string(row->name),
            .group = elements,
            .swaps = row->swaps,
            .column_run = row->column_run,
            .parts = static_cast<int>(factor_parts)};
  }
};

// A contraction ready to be made into tiles.
struct TiledContraction {
  Contraction c = {};
  Buffer sums = nullptr;  // the contraction's own buffer, as epilogues load it
  Expr init = {};
  std::vector<Epilogue> epilogues = {};
  bool stores_sums = false;  // for later stages that are no epilogues
  TileShape tile = {};
  int64_t epilogue_lanes = 0;  // of vectors that epilogues make of single sums; 0: the tile's
  bool fused_multiply_add = false;
  // The column factor, as it is read in a tile. If it is packed, in terms of `block` and `column`
  // (in the block) instead of c.column.
  Expr y = {};
  bool packed = false;
  Var block = {}, column = {};
  // Set where dot products are computed.
  std::optional<DotPlan> dot = {};
  // The stage that pads the rows: computed with those of a tile, or stored as the next says.
  std::optional<size_t> padding = {};
  std::optional<Stage> stored_rows = {};
  // The row factor of a step of dot products; in terms of `tile_row` (in the tile) where rows are
  // copied, and so is `init`.
  Expr x = {};
  Var tile_row = {};
  // What is done for a tile's rows before the loop over blocks of columns, and memory for it.
  std::function<Stmt(const TilePlace&)> before_rows = {};
  std::vector<Buffer> row_buffers = {};
  // Multiply-adds that the innermost loop may have, so that its own instructions weigh little.
  int64_t max_unrolled = 1;
  // How many elements ahead the columns are asked for; 0: not at all.
  int64_t prefetch_distance = 0;
  // The columns that several tiles read one after the other.
  struct SharedColumns {
    int64_t elements;
    int64_t passes;  // how many tiles
    int64_t ahead;   // elements from the first of them to the first that are read next
  };
  // These tiles together ask for as many columns as they read, of those that are read next.
  std::optional<SharedColumns> shared_columns = {};
  // How many parts of the reduction all tiles of a block of columns, or of a block of rows, compute one
  // after the other, so that what they read of a part stays in a cache.
  int64_t parts = 1;
  Buffer partial_sums = nullptr;  // [block][row][column of the block], flat: of the parts before
  int64_t partial_rows = 0;       // of a block; 0: there is one
  // Blocks of columns that one tile of rows is multiplied with, one after the other, and then
  // together have asked for the next rows; 0: they do not.
  int64_t blocks_per_row_tile = 0;
  CodeShape code = {};
  // What epilogues read besides the sums is asked for when a tile begins.
  bool prefetches_epilogues = false;
};

// stages[which] of a kernel with its axes merged, and its epilogues; nothing if merging takes the
// column away.
std::optional<TiledContraction> MergeContraction(const loop::Kernel& kernel, size_t which,
                                                 const Context& context);

// What the shape of its tile depends on.
TileProblem TileProblemOf(const TiledContraction& contraction, const Target& target);

// Sets y, packed, block and column: a packed constant; the buffer itself where its columns are
// contiguous; otherwise a packed copy that is made at run time by the nest that is returned (empty
// in the other cases).
Stmt PackColumns(TiledContraction& contraction, Context& context);

// Sets how the target runs the reduction of a contraction whose columns are packed:
// fused_multiply_add, max_unrolled (1 where code has to be small) and prefetch_distance (for
// columns that do not stay in the L1 cache).
void SetReduction(TiledContraction& contraction, const Target& target);

// sum + x · y of one group each, by the plan's instruction.
Expr AddDot(const DotPlan& dot, const Expr& sum, const Expr& x, const Expr& y);

// The row axes of a contraction at a row of a tile: `row` of the innermost axis, `outer` of the one
// around it, both counted from where the tile begins.
loop::Substitution AtRow(const TiledContraction& contraction, const TilePlace& place,
                         const Expr& outer, const Expr& row);

// One tile: clears its sums, runs the reduction, and stores what the epilogues make of the sums.
Stmt EmitTile(const TiledContraction& contraction, const TilePlace& place);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_REGISTER_TILE_H_
