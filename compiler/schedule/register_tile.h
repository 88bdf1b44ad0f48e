// SPDX-License-Identifier: Apache-2.0
// The register tile of a contraction: the packed column factor, and the code of one tile.
#ifndef KILN_COMPILER_SCHEDULE_REGISTER_TILE_H_
#define KILN_COMPILER_SCHEDULE_REGISTER_TILE_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/base/align.h"
#include "compiler/schedule/contraction_plan.h"
#include "compiler/schedule/families.h"
#include "compiler/schedule/tile_shape.h"
#include "compiler/target/instructions.h"

namespace kiln::schedule {

// A value that is computed from the finished sums, and where it is stored, in terms of the
// contraction's axes. `value` loads the sums from the contraction's own buffer.
struct Epilogue {
  Buffer buffer;
  std::vector<Expr> index;
  Expr value;
};

// Adds epilogues for the stages after stages[which], a contraction. Returns false if one of them
// cannot be an epilogue, so that the sums must be stored.
bool CollectEpilogues(const loop::Kernel& kernel, size_t which, std::vector<Epilogue>* epilogues);

// Position of a tile, and its size, which may be smaller than the tile's shape.
struct TilePlace {
  Expr outer_row = 0, row = 0;  // first indices on the two innermost row axes
  int64_t outer_rows = 1, rows = 1;
  Expr block = 0;         // index of the block of columns
  int64_t columns = 1;    // number of columns in the block
  Expr pass = 0;          // number among the tiles that share columns
  Expr part = 0;          // part of the reduction
  bool last_part = true;  // epilogues follow the last part

  Expr first_row = 0;  // first row of a block of several row tiles
  // Rows of the registers that hold matrices, if the tile is computed in such registers.
  int64_t matrix_rows() const { return AlignUp(outer_rows * rows, kMatrixSide); }
};

// Describes how a contraction is computed by dot products (dot_product.h). Without an instruction
// (`row` is null), the products of a group are plain multiplications.
struct DotPlan {
  const DotInstruction* row = nullptr;
  int64_t group = 1;         // elements of the reduction per step
  int64_t run = 1;           // contiguous elements of the reduction in a row
  int64_t steps = 0;         // number of steps of all runs
  int64_t shift = 0;         // c of dot_product.h
  int64_t row_offset = 0;    // d of dot_product.h
  bool panel = false;        // a tile's rows are copied; each is contiguous along the reduction
  DType row_dtype = {};      // dtype of x'
  DType column_dtype = {};   // dtype of y' in memory
  DType column_factor = {};  // dtype of y' as it is multiplied
  int64_t lanes = 1;         // columns in the widest vector of sums
  int64_t vector_rows = 1;   // rows in a vector of sums
  // Number of bfloat16 terms that represent one float32 operand (1: not split).
  int64_t factor_parts = 1;
  // Set if all rows are copied for matrix registers before any tile is computed. The rows of a
  // block stay in the L2 cache while they are multiplied by all columns. The reduction is divided
  // into `reduction_parts` parts.
  int64_t rows_per_block = 0, reduction_parts = 1;
  // Set if a tile's reduction is one loop in assembly. The tile has the shape of that loop.
  const DotLoop* loop = nullptr;

  // Returns the elements of `lines` rows, or columns, in one step.
  int64_t StepElements(int64_t lines) const { return lines * group * factor_parts; }
  int64_t run_steps() const { return DivideUp(run, group); }
  // True if all rows are copied before any tile is computed.
  bool stores_matrices() const { return rows_per_block > 0; }
  // True if a tile is computed in registers that hold matrices. Its sums are in memory before and
  // after that.
  bool of_matrices() const { return row != nullptr && row->geometry == DotGeometry::kMatrix; }
  // Number of rows whose groups are interleaved in a panel, and the contiguous elements of each
  // row.
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

// A contraction, its plan, and its factors as the tiles of this plan read them.
struct TiledContraction {
  Contraction c = {};
  Buffer sums = nullptr;  // the contraction's own buffer, as epilogues load it
  Expr init = {};
  std::vector<Epilogue> epilogues = {};
  bool stores_sums = false;  // for later stages that are not epilogues
  // Set if dot products are computed.
  std::optional<DotPlan> dot = {};
  // Index of the stage that pads the rows. Each tile computes it for its own rows, unless
  // `stored_rows` is set.
  std::optional<size_t> padding = {};
  std::optional<Stage> stored_rows = {};

  ContractionPlan plan = {};
  const Machine* machine = nullptr;  // numbers of the target

  // The column factor as a tile reads it. If it is packed, it is in terms of `block` and `column`
  // (within the block) instead of c.column.
  Expr y = {};
  Var block = {}, column = {};
  // The row factor of a step of dot products. If rows are copied, it is in terms of `tile_row`
  // (within the tile), and so is `init`.
  Expr x = {};
  Var tile_row = {};
  // Emits the code that prepares a tile's rows before the loop over blocks of columns.
  // `row_buffers` is its memory.
  std::function<Stmt(const TilePlace&)> before_rows = {};
  std::vector<Buffer> row_buffers = {};
  // Columns that several tiles read one after another.
  struct SharedColumns {
    int64_t elements;
    int64_t passes;  // number of tiles
    int64_t ahead;   // distance in elements to the columns that are read next
  };
  // Set if these tiles together prefetch the columns that are read next.
  std::optional<SharedColumns> shared_columns = {};
  // Sums of the earlier parts of the reduction: [block][row][column of the block], flat.
  Buffer partial_sums = nullptr;
  int64_t partial_rows = 0;  // rows of a block; 0: there is one block
  // Number of blocks of columns that a tile of rows is multiplied by, one after another. Together
  // these prefetch the next rows. 0: rows are not prefetched.
  int64_t blocks_per_row_tile = 0;
  CodeShape code = {};

  bool of_matrices() const { return dot.has_value() && dot->of_matrices(); }
  bool stores_matrices() const { return dot.has_value() && dot->stores_matrices(); }
  // Number of steps of the whole reduction.
  int64_t steps() const { return dot.has_value() ? dot->steps : TotalExtent(c.reduce); }
};

// Returns a contraction with its axes merged, and its epilogues. Returns nothing if merging removes
// the column axis.
class ContractionFacts;
std::optional<TiledContraction> MergeContraction(ContractionFacts& facts, const Context& context);

// Returns the inputs of the choice of a tile's shape.
TileProblem TileProblemOf(const TiledContraction& contraction, const Target& target);

// Returns the plan of a merged contraction. `choice` is a direct one that CheckChoice accepts.
// `cost` is the cost of the contraction's stage.
ContractionPlan PlanContraction(const TiledContraction& contraction,
                                const ContractionChoice& choice, int64_t cost,
                                const Context& context);
// Sets how the target runs the reduction of a contraction whose tile is planned: max_unrolled
// (small if code has to be small), columns_ahead (for columns that do not stay in the L1 cache),
// epilogue_ahead, and the order of the sums.
void PlanReduction(const TiledContraction& contraction, const Target& target,
                   ContractionPlan& plan);
// Returns InvalidArgument, with the field, the value found and the value wanted, if a plan does not
// fit a contraction.
absl::Status CheckPlan(const TiledContraction& contraction, const ContractionPlan& plan,
                       const Context& context);

// Loops of the kernel's stages. `merged` is MergeContraction of stages[which], and `plan` its plan;
// pointwise stages after it become its epilogue.
Stmt ContractionNest(const loop::Kernel& kernel, size_t which, TiledContraction merged,
                     const ContractionPlan& plan, Context& context);
// Loops of a kernel whose contraction stages[which] has no column axis after merging. The reduction
// family computes it.
Stmt ColumnlessNest(const loop::Kernel& kernel, size_t which, Context& context);

// Sets y, block and column as the plan says. A constant is packed now. Columns that the model
// copies are packed by the returned nest, which is empty in the other cases.
Stmt PackColumns(TiledContraction& contraction, Context& context);

// Returns sum + x · y, with one group of each factor, by the plan's instruction.
Expr AddDot(const DotPlan& dot, const Expr& sum, const Expr& x, const Expr& y);

// Returns the values of a contraction's row axes at a row of a tile. `row` is along the innermost
// axis and `outer` along the axis around it, both counted from the beginning of the tile.
loop::Substitution AtRow(const TiledContraction& contraction, const TilePlace& place,
                         const Expr& outer, const Expr& row);

// Emits one tile: initializes its sums, runs the reduction, and stores the values of the epilogues.
Stmt EmitTile(const TiledContraction& contraction, const TilePlace& place);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_REGISTER_TILE_H_
