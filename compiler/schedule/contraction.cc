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

// Merges the axes of a stage, considering the accesses of its factors and of the epilogues.
void MergeContractionAxes(Stage& stage, std::vector<Epilogue>& epilogues) {
  LoopBody body{.axes = stage.axes, .reduce = stage.reduce, .values = {stage.value}, .stores = {}};
  for (const Epilogue& epilogue : epilogues) {
    body.values.push_back(epilogue.value);
    body.stores.push_back({epilogue.buffer, epilogue.index});
  }
  MergeAxes(body);
  stage.axes = body.axes;
  stage.reduce = body.reduce;
  stage.value = body.values[0];
  for (size_t i = 0; i < epilogues.size(); ++i) {
    epilogues[i].value = body.values[i + 1];
    epilogues[i].index = body.stores[i].index;
  }
}

// Replaces axes of extent 1 by the constant 0. Other axes stay as they are, and indices are not
// flattened.
void DropUnitAxes(Stage& stage, std::vector<Epilogue>& epilogues) {
  loop::Substitution zero;
  const auto drop = [&](std::vector<Axis>& axes) {
    for (const Axis& axis : axes) {
      if (axis.extent == 1) zero[axis.var.get()] = Expr(0);
    }
    std::erase_if(axes, [](const Axis& axis) { return axis.extent == 1; });
  };
  drop(stage.axes);
  drop(stage.reduce);
  stage.value = loop::Substitute(stage.value, zero);
  for (Epilogue& epilogue : epilogues) {
    epilogue.value = loop::Substitute(epilogue.value, zero);
    for (Expr& index : epilogue.index) index = loop::Substitute(index, zero);
  }
}

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

// Returns the number of parts that the reduction is divided into. The columns of a part, those of
// the next part, which are being prefetched, and the rows stay in the L2 cache together.
int64_t PartsOfReduction(const TiledContraction& t, const Target& target) {
  const TileNumbers& numbers = target.machine->tiles;
  const bool may_be = t.packed && !t.dot.has_value() && target.has_caches && t.c.rows.size() == 1 &&
                      t.c.reduce.size() == 1 && t.tile.rows < t.c.rows[0].extent &&
                      t.init.As<loop::FloatImm>() != nullptr;
  const int64_t bytes = t.tile.columns() * t.init.type().dtype.bytes();
  if (!may_be || t.c.rows[0].extent * bytes > numbers.max_partial_bytes) return 1;
  const int64_t extent = t.c.reduce[0].extent;
  for (int64_t parts = 1; extent / parts >= numbers.min_steps_of_part; ++parts) {
    const int64_t steps = extent / parts;
    if (extent % parts == 0 && steps * bytes <= target.l2_bytes / numbers.part_of_l2) return parts;
  }
  return 1;
}

// True if the columns of the whole batch (the groups of a convolution) stay in the L2 cache. The
// loops over rows can then be outside of the batch: threads divide the rows, as they do in other
// operators, and read rows that they have written themselves.
bool KeepsAllColumns(const TiledContraction& t, const Target& target) {
  return t.packed && !t.dot.has_value() && target.has_caches &&
         KeepsColumns(TotalExtent(t.c.batch) * ColumnBytes(t.c), target);
}

// True if there are several row tiles, and their rows follow each other in memory without overlap.
// Each row is contiguous along the reduction.
bool HasNextRows(const TiledContraction& t) {
  if (t.dot.has_value() || t.c.rows.size() != 1 || t.c.reduce.size() != 1) return false;
  const auto form = FactorForm(t.c.x, {t.c.rows[0], t.c.reduce[0]});
  return form.has_value() && form->coefficients[1] == 1 &&
         form->coefficients[0] >= t.c.reduce[0].extent && t.tile.rows < t.c.rows[0].extent;
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

// The levels of a contraction whose rows are copied for registers that hold matrices before any
// tile is computed. Threads share the levels from `first_shared` on.
std::vector<Level> LevelsOfStoredMatrices(TiledContraction& t, const Level& blocks,
                                          Context& context, size_t* first_shared) {
  const int64_t rows = RowExtent(t.c, 0), of_block = std::min(rows, t.dot->rows_per_block);
  std::vector<Level> levels = {
      TileLevel(Level::Kind::kRowBlocks, "row_block", rows, t.dot->rows_per_block)};
  t.parts = t.dot->reduction_parts;
  if (t.parts > 1) {
    t.partial_rows = AlignUp(of_block, t.tile.rows);
    t.partial_sums = loop::MakeBuffer("partial", t.init.type().dtype,
                                      {blocks.count * t.partial_rows * t.tile.columns()},
                                      loop::BufferScope::kWorkspace, kMatrixRowBytes);
    context.workspace.push_back(t.partial_sums);
    levels.push_back(PartsLevel(t.parts));
    *first_shared = levels.size();  // the blocks of a part
  }
  levels.push_back(blocks);
  levels.push_back(TileLevel(Level::Kind::kRowTiles, "row_tile", of_block, t.tile.rows));
  return levels;
}

Stmt TileLoops(TiledContraction& t, bool columns_outside, int64_t cost, Context& context) {
  const Level row_tiles =
      TileLevel(Level::Kind::kRowTiles, "row_tile", RowExtent(t.c, 0), t.tile.rows);
  const Level blocks =
      TileLevel(Level::Kind::kColumnBlocks, "block", t.c.column.extent, t.tile.columns());
  std::vector<Level> levels, batch;
  for (const Axis& axis : t.c.batch) batch.push_back(AxisLevel(axis));
  const bool rows_first = !columns_outside && KeepsAllColumns(t, context.target);
  if (!rows_first) levels = batch;
  if (columns_outside) levels.push_back(blocks);
  const bool of_matrices = t.dot.has_value() && t.dot->of_matrices();
  // Matrix products of split float32 factors take about as long as vector products.
  const bool is_fast = of_matrices && t.dot->factor_parts == 1;
  const bool threads = WorthThreads(
      is_fast ? cost / context.target.machine->matrices.speedup : cost, context.target);
  const int64_t cores = std::max(context.target.cores, 1);
  const int64_t tasks_per_core = context.target.machine->threads.tasks_per_core;
  // Threads share the blocks of columns. The reduction is divided only if there are enough blocks
  // for that.
  if (columns_outside &&
      (!threads || TotalExtent(t.c.batch) * blocks.count >= tasks_per_core / 2 * cores)) {
    t.parts = PartsOfReduction(t, context.target);
  }
  if (t.parts > 1) {
    t.partial_sums =
        loop::MakeBuffer("partial", t.init.type().dtype, {t.c.rows[0].extent * t.tile.columns()},
                         loop::BufferScope::kLocal);
    levels.push_back(PartsLevel(t.parts));
  }
  for (size_t i = 0; i + 1 < t.c.rows.size(); ++i) {
    const bool tiled = t.tile.outer_rows > 1 && i + 2 == t.c.rows.size();
    levels.push_back(tiled ? TileLevel(Level::Kind::kOuterRowTiles, "outer_tile",
                                       t.c.rows[i].extent, t.tile.outer_rows)
                           : AxisLevel(t.c.rows[i]));
  }
  levels.push_back(row_tiles);
  if (rows_first) levels.insert(levels.end(), batch.begin(), batch.end());
  if (!columns_outside) levels.push_back(blocks);
  const bool stores_matrices = of_matrices && t.dot->stores_matrices();
  size_t first_shared = 0;  // of the levels that threads share
  if (stores_matrices) levels = LevelsOfStoredMatrices(t, blocks, context, &first_shared);
  const int64_t passes = PassesOverBlock(levels);
  const bool asks = stores_matrices || (!t.dot.has_value() && passes > 1);
  if (t.packed && asks && context.target.has_caches) {
    const int64_t of_block = t.tile.columns() * TotalExtent(t.c.reduce) * ElementsOfStep(t),
                  of_part = of_block / t.parts;
    t.shared_columns = {of_part, passes, stores_matrices ? of_block : of_part};
  }
  if (!columns_outside && HasNextRows(t) && context.target.has_caches) {
    t.blocks_per_row_tile = blocks.count;
  }
  size_t end = first_shared;
  if (threads) {
    int64_t tasks = 1;
    const int64_t wanted = tasks_per_core * cores;
    const auto may_be_fused = [&](const Level& level) {
      return level.kind != Level::Kind::kParts &&
             !(stores_matrices && level.kind == Level::Kind::kRowTiles);
    };
    while (end < levels.size() && may_be_fused(levels[end]) && tasks < wanted) {
      tasks *= levels[end++].count;
    }
  }
  context.description =
      absl::StrCat("contraction ", Text(t.tile),
                   columns_outside || stores_matrices ? " columns outside" : " rows outside",
                   t.packed ? " packed" : "",
                   t.parts > 1 ? absl::StrCat(" in ", t.parts, " parts") : "", DotText(t));
  return LevelNest(t, std::move(levels)).Emit(first_shared, end);
}

// True if the padded data have the same innermost axis as the original data.
bool KeepsOrder(const Stage& padding) {
  loop::Bounds bounds;
  AddBounds(padding.axes, bounds);
  const auto* load = padding.value.As<loop::Select>()->if_true.As<loop::Load>();
  return loop::Simplify(load->index.back(), bounds).get() == padding.axes.back().var.get();
}

// Returns the padding of stages[which] that each tile computes for its own rows. Returns nothing if
// the padding also permutes axes, runs are short, and memory is not short. All data are then padded
// first, which makes runs longer. The same is true of matrices: their rows are copied in many
// pieces, which would each need a test for padding.
std::optional<size_t> PaddingOfTiles(const loop::Kernel& kernel, size_t which, const DotPlan& dot,
                                     const Target& target) {
  const std::optional<size_t> padding = FindRowPadding(kernel, which);
  if (!padding.has_value() || dot.of_matrices()) return std::nullopt;
  const bool in_runs = target.short_of_memory || KeepsOrder(kernel.stages[*padding]) ||
                       kernel.stages[which].reduce.back().extent >= target.machine->dots.min_run;
  return in_runs ? padding : std::nullopt;
}

// Returns the contraction with its epilogues. Its axes are merged or, if tiles pad their rows, only
// axes of extent 1 are dropped. Returns nothing if no column axis is left.
std::optional<TiledContraction> WithMergedAxes(const loop::Kernel& kernel, size_t which,
                                               bool tiles_pad, const Context& context) {
  Stage stage = kernel.stages[which];
  TiledContraction t{.sums = stage.buffer, .init = stage.init};
  t.stores_sums = !CollectEpilogues(kernel, which, &t.epilogues);
  if (t.stores_sums) {
    t.epilogues = {{stage.buffer, stage.index, loop::MakeLoad(stage.buffer, stage.index)}};
  }
  if (tiles_pad) {
    DropUnitAxes(stage, t.epilogues);
  } else {
    MergeContractionAxes(stage, t.epilogues);
  }
  loop::Bounds bounds;
  AddBounds(stage.axes, bounds);
  const Epilogue& first = t.epilogues.front();
  std::optional<Contraction> c =
      AsContraction(stage, FlatIndex(first.buffer, first.index, bounds), context.target);
  if (!c.has_value()) return std::nullopt;
  t.c = *std::move(c);
  return t;
}

// Returns the contraction by dot products whose padded rows are stored as the instruction reads
// them. Returns nothing if there is no padding, the stored rows would still have to be copied, they
// do not fit on the stack, or memory is short.
std::optional<TiledContraction> OfStoredRows(const loop::Kernel& kernel, size_t which,
                                             const Context& context) {
  const std::optional<size_t> padding = FindRowPadding(kernel, which);
  const bool may_be = padding.has_value() && !context.target.short_of_memory &&
                      PlanDotProduct(kernel, which, RowSource::kStored, context).has_value();
  if (!may_be) return std::nullopt;
  std::optional<TiledContraction> t = WithMergedAxes(kernel, which, false, context);
  if (!t.has_value()) return t;
  t->dot = PlanDotProduct(t->c, RowSource::kStored, context);
  if (!t->dot.has_value() || t->dot->panel) return std::nullopt;
  t->padding = padding;
  return StoreRows(*t, kernel.stages[*padding], context.target) ? t : std::nullopt;
}

}  // namespace

std::optional<TiledContraction> MergeContraction(const loop::Kernel& kernel, size_t which,
                                                 const Context& context) {
  if (std::optional<TiledContraction> t = OfStoredRows(kernel, which, context)) return t;
  const bool padded = FindRowPadding(kernel, which).has_value();
  const auto source = padded ? RowSource::kPaddedByTile : RowSource::kData;
  const std::optional<DotPlan> dot = PlanDotProduct(kernel, which, source, context);
  const auto padding =
      dot.has_value() ? PaddingOfTiles(kernel, which, *dot, context.target) : std::nullopt;
  std::optional<TiledContraction> t = WithMergedAxes(kernel, which, padding.has_value(), context);
  if (!t.has_value() || !dot.has_value()) return t;
  t->padding = padding;
  t->dot = PlanDotProduct(t->c, padding.has_value() ? RowSource::kPaddedByTile : RowSource::kData,
                          context);
  return t;
}

Stmt ContractionNest(const loop::Kernel& kernel, size_t which,
                     std::optional<TiledContraction> merged, const ContractionChoice& choice,
                     Context& context) {
  std::vector<Stmt> stmts;
  const Stage& stage = kernel.stages[which];
  for (size_t i = 0; i < which; ++i) {
    if (!merged.has_value() || merged->padding != i) {
      stmts.push_back(StageNest(kernel, kernel.stages[i], context));
    } else if (merged->stored_rows.has_value()) {
      stmts.push_back(PointwiseNest(*merged->stored_rows, context));
    }
  }
  if (!merged.has_value()) {
    // Merging leaves only an axis that both factors use. The reduction family computes the stage.
    loop::Kernel rest = kernel;
    rest.stages.erase(rest.stages.begin(),
                      rest.stages.begin() + static_cast<std::ptrdiff_t>(which));
    stmts.push_back(ReductionNest(rest, context));
    return loop::MakeBlock(std::move(stmts));
  }
  TiledContraction& t = *merged;
  t.code = context.code;
  if (t.stores_sums && !IsOutput(kernel, stage.buffer)) context.workspace.push_back(stage.buffer);
  t.tile = {.outer_rows = choice.outer_rows,
            .rows = choice.rows,
            .vectors = choice.vectors,
            .lanes = TileLanes(TileProblemOf(t, context.target), context.target)};
  const int64_t whole = context.Lanes(t.init.type().dtype);
  if (t.tile.lanes < whole && t.tile.columns() % whole == 0) t.epilogue_lanes = whole;
  if (t.dot.has_value()) {
    const bool tiles_pad = t.padding.has_value() && !t.stored_rows.has_value();
    stmts.push_back(UseDotProduct(t, tiles_pad ? &kernel.stages[*t.padding] : nullptr, context));
  } else {
    stmts.push_back(PackColumns(t, context));
  }
  SetReduction(t, context.target);
  stmts.push_back(TileLoops(t, choice.columns_outside, Cost(stage, context.target), context));
  for (size_t i = which + 1; t.stores_sums && i < kernel.stages.size(); ++i) {
    stmts.push_back(StageNest(kernel, kernel.stages[i], context));
  }
  Stmt nest = loop::MakeBlock(std::move(stmts));
  return t.stored_rows.has_value() ? loop::MakeAllocate(t.stored_rows->buffer, nest) : nest;
}

}  // namespace kiln::schedule
