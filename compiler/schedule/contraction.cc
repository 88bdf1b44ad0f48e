// SPDX-License-Identifier: Apache-2.0
// Schedules contractions. The accumulators of a tile (rows × vectors of columns) stay in registers
// during the whole reduction. The column factor is loaded as vectors from a copy packed as [column
// block][reduce…][column]. The row factor is loaded as one broadcast element per row. Pointwise
// stages after the contraction are computed on the accumulators before these are stored.
//
// The loops are: batch, then column blocks around rows or rows around column blocks
// (contraction_choice.h). All extents are constants, so the smaller last tile of rows or of columns
// has its own code.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/schedule/dot_product.h"
#include "compiler/schedule/level_nest.h"
#include "compiler/schedule/matrices.h"
#include "compiler/schedule/register_tile.h"
#include "compiler/schedule/schedule.h"
#include "compiler/schedule/tile_prefetch.h"

namespace kiln::schedule {
namespace {

Level AxisLevel(const Axis& axis) {
  return {.kind = Level::Kind::kAxis, .var = axis.var, .count = axis.extent};
}

// Returns a level over the parts of the reduction. The last part has separate code, which includes
// the epilogues.
Level PartsLevel(int64_t parts) {
  return {.kind = Level::Kind::kParts, .var = loop::MakeVar("part"), .count = parts, .rest = 1};
}

// Returns the number of tiles that read one block of columns before the next block is read.
int64_t PassesOverBlock(const std::vector<Level>& levels) {
  int64_t passes = 1;
  for (auto l = levels.rbegin(); !l->changes_columns(); ++l) passes *= l->count;
  return passes;
}

std::string DotText(const TiledContraction& t) {
  if (!t.dot.has_value()) return "";
  return absl::StrCat(t.dot->row == nullptr ? "" : " ",
                      t.dot->row == nullptr ? "" : t.dot->row->name,
                      t.dot->factor_parts > 1 ? kOfFloat32 : "",
                      t.stored_rows.has_value() || t.dot->stores_matrices() ? " stored rows"
                      : t.dot->panel                                        ? " copied rows"
                                                                            : "");
}

// Loops around the tiles, from the outermost one inward.
struct Levels {
  std::vector<Level> all = {};
  size_t first_shared = 0;  // first level that threads share
};

// Makes the memory for the sums of the parts before the last one.
Level PartsWithSums(TiledContraction& t, int64_t rows, loop::BufferScope scope, int alignment) {
  t.partial_sums = loop::MakeBuffer("partial", t.init.type().dtype, {rows * t.plan.tile.columns()},
                                    scope, alignment);
  return PartsLevel(t.plan.parts);
}

// The levels of a contraction whose rows are copied for registers that hold matrices before any
// tile is computed.
Levels LevelsOfStoredMatrices(TiledContraction& t, const Level& blocks, Context& context) {
  const int64_t rows = RowExtent(t.c, 0), of_block = std::min(rows, t.dot->rows_per_block);
  Levels levels{
      .all = {TileLevel(Level::Kind::kRowBlocks, "row_block", rows, t.dot->rows_per_block)}};
  if (t.plan.parts > 1) {
    t.partial_rows = AlignUp(of_block, t.plan.tile.rows);
    levels.all.push_back(PartsWithSums(t, blocks.count * t.partial_rows,
                                       loop::BufferScope::kWorkspace, kMatrixRowBytes));
    context.workspace.push_back(t.partial_sums);
    levels.first_shared = levels.all.size();  // the blocks of a part
  }
  levels.all.push_back(blocks);
  levels.all.push_back(TileLevel(Level::Kind::kRowTiles, "row_tile", of_block, t.plan.tile.rows));
  return levels;
}

Levels LevelsOf(TiledContraction& t, Context& context) {
  const ContractionPlan& plan = t.plan;
  const Level blocks =
      TileLevel(Level::Kind::kColumnBlocks, "block", t.c.column.extent, plan.tile.columns());
  if (t.stores_matrices()) {
    return LevelsOfStoredMatrices(t, blocks, context);
  }
  std::vector<Level> levels, batch;
  for (const Axis& axis : t.c.batch) batch.push_back(AxisLevel(axis));
  if (!plan.batch_inside) levels = batch;
  if (plan.columns_outside) levels.push_back(blocks);
  if (plan.parts > 1) {
    levels.push_back(PartsWithSums(t, t.c.rows[0].extent, loop::BufferScope::kLocal, 0));
  }
  for (size_t i = 0; i + 1 < t.c.rows.size(); ++i) {
    const bool tiled = plan.tile.outer_rows > 1 && i + 2 == t.c.rows.size();
    levels.push_back(tiled ? TileLevel(Level::Kind::kOuterRowTiles, "outer_tile",
                                       t.c.rows[i].extent, plan.tile.outer_rows)
                           : AxisLevel(t.c.rows[i]));
  }
  levels.push_back(
      TileLevel(Level::Kind::kRowTiles, "row_tile", RowExtent(t.c, 0), plan.tile.rows));
  if (plan.batch_inside) levels.insert(levels.end(), batch.begin(), batch.end());
  if (!plan.columns_outside) levels.push_back(blocks);
  return {.all = std::move(levels)};
}

// Returns the end of the levels that become one parallel loop: as many as make the planned number
// of tasks.
size_t EndOfParallel(const TiledContraction& t, const Levels& levels) {
  size_t end = levels.first_shared;
  const auto may_be_fused = [&](const Level& level) {
    return level.kind != Level::Kind::kParts &&
           !(t.stores_matrices() && level.kind == Level::Kind::kRowTiles);
  };
  int64_t tasks = 1;
  while (end < levels.all.size() && may_be_fused(levels.all[end]) && tasks < t.plan.tasks) {
    tasks *= levels.all[end++].count;
  }
  return end;
}

// Lets the tiles prefetch what the plan says.
void SharePrefetches(TiledContraction& t, const Levels& levels) {
  const int64_t passes = PassesOverBlock(levels.all);
  if (t.plan.next_columns && (t.stores_matrices() || passes > 1)) {
    const int64_t of_block = t.plan.tile.columns() * TotalExtent(t.c.reduce) * ElementsOfStep(t);
    const int64_t of_part = of_block / t.plan.parts;
    t.shared_columns = {of_part, passes, t.stores_matrices() ? of_block : of_part};
  }
  if (t.plan.next_rows) {
    t.blocks_per_row_tile = DivideUp(t.c.column.extent, t.plan.tile.columns());
  }
}

Stmt TileLoops(TiledContraction& t, Context& context) {
  Levels levels = LevelsOf(t, context);
  SharePrefetches(t, levels);
  const bool columns_first = t.plan.columns_outside || t.stores_matrices();
  context.description = absl::StrCat(
      "contraction ", Text(t.plan.tile), columns_first ? " columns outside" : " rows outside",
      t.plan.packs() ? " packed" : "",
      t.plan.parts > 1 ? absl::StrCat(" in ", t.plan.parts, " parts") : "", DotText(t));
  const size_t end = EndOfParallel(t, levels);
  return LevelNest(t, std::move(levels.all)).Emit(levels.first_shared, end);
}

}  // namespace

Stmt ColumnlessNest(const loop::Kernel& kernel, size_t which, Context& context) {
  std::vector<Stmt> stmts;
  for (size_t i = 0; i < which; ++i) {
    stmts.push_back(StageNest(kernel, kernel.stages[i], context));
  }
  loop::Kernel rest = kernel;
  rest.stages.erase(rest.stages.begin(), rest.stages.begin() + static_cast<std::ptrdiff_t>(which));
  stmts.push_back(ReductionNest(rest, context));
  return loop::MakeBlock(std::move(stmts));
}

Stmt ContractionNest(const loop::Kernel& kernel, size_t which, TiledContraction merged,
                     const ContractionPlan& plan, Context& context) {
  TiledContraction& t = merged;
  t.plan = plan;
  t.code = context.code;
  t.machine = context.target.machine;
  std::vector<Stmt> stmts;
  for (size_t i = 0; i < which; ++i) {
    if (t.padding != i) {
      stmts.push_back(StageNest(kernel, kernel.stages[i], context));
    } else if (t.stored_rows.has_value()) {
      stmts.push_back(PointwiseNest(*t.stored_rows, context));
    }
  }
  const Buffer& sums = kernel.stages[which].buffer;
  if (t.stores_sums && !IsOutput(kernel, sums)) context.workspace.push_back(sums);
  if (t.dot.has_value()) {
    const bool tiles_pad = t.padding.has_value() && !t.stored_rows.has_value();
    stmts.push_back(UseDotProduct(t, tiles_pad ? &kernel.stages[*t.padding] : nullptr, context));
  } else {
    stmts.push_back(PackColumns(t, context));
  }
  stmts.push_back(TileLoops(t, context));
  for (size_t i = which + 1; t.stores_sums && i < kernel.stages.size(); ++i) {
    stmts.push_back(StageNest(kernel, kernel.stages[i], context));
  }
  Stmt nest = loop::MakeBlock(std::move(stmts));
  return t.stored_rows.has_value() ? loop::MakeAllocate(t.stored_rows->buffer, nest) : nest;
}

}  // namespace kiln::schedule
