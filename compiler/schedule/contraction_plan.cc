// SPDX-License-Identifier: Apache-2.0
// Plans a contraction whose tile is chosen.
#include "compiler/schedule/contraction_plan.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/align.h"
#include "compiler/base/status.h"
#include "compiler/schedule/matrices.h"
#include "compiler/schedule/register_tile.h"
#include "compiler/schedule/tile_prefetch.h"
#include "compiler/target/float_units.h"

namespace kiln::schedule {
namespace {

// True if so few tiles read the columns that memory determines the speed.
bool ReadsColumnsFromMemory(const TiledContraction& t, const TileShape& tile,
                            const Target& target) {
  return TotalExtent(t.c.rows) <= target.machine->prefetch.max_tiles * tile.outer_rows * tile.rows;
}

// Bytes of an element of the columns as tiles read them.
int64_t ColumnElementBytes(const TiledContraction& t) {
  return (t.dot.has_value() ? t.dot->column_dtype : FactorLoad(t.c.y)->buffer->dtype).bytes();
}

int64_t BytesOfColumns(const TiledContraction& t) {
  return t.c.column.extent * t.steps() * ElementsOfStep(t) * ColumnElementBytes(t);
}

// Returns the number of parts that the reduction is divided into. The columns of a part, those of
// the next part, which are being prefetched, and the rows stay in the L2 cache together.
int64_t PartsOfReduction(const TiledContraction& t, const ContractionPlan& plan,
                         const Target& target) {
  const TileNumbers& numbers = target.machine->tiles;
  const bool may_be = plan.packs() && !t.dot.has_value() && target.has_caches &&
                      t.c.rows.size() == 1 && t.c.reduce.size() == 1 &&
                      plan.tile.rows < t.c.rows[0].extent && t.init.As<loop::FloatImm>() != nullptr;
  const int64_t bytes = plan.tile.columns() * t.init.type().dtype.bytes();
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
bool KeepsAllColumns(const TiledContraction& t, const ContractionPlan& plan, const Target& target) {
  return plan.packs() && !t.dot.has_value() && target.has_caches &&
         KeepsColumns(TotalExtent(t.c.batch) * ColumnBytes(t.c), target);
}

// True if rows follow each other in memory without overlap, and each is contiguous along the
// reduction.
bool HasContiguousRows(const TiledContraction& t) {
  if (t.dot.has_value() || t.c.rows.size() != 1 || t.c.reduce.size() != 1) return false;
  const auto form = FactorForm(t.c.x, {t.c.rows[0], t.c.reduce[0]});
  return form.has_value() && form->coefficients[1] == 1 &&
         form->coefficients[0] >= t.c.reduce[0].extent;
}

// Returns the number of contiguous columns in a packed constant: those of a tile or, if one tile
// has all rows and reads columns from memory, those of one vector. A tile then reads several places
// of memory at once (tile_prefetch.cc).
int64_t ColumnsTogether(const TiledContraction& t, const TileShape& tile, const Target& target) {
  const bool once = TotalExtent(t.c.rows) <= tile.outer_rows * tile.rows;
  const bool from_memory = target.has_caches && ColumnBytes(t.c) > target.l2_bytes;
  return once && from_memory ? tile.lanes : tile.columns();
}

using Columns = ContractionPlan::Columns;

// Returns the order of the sums, which no choice of a tile changes.
SumOrder OrderOfSums(const TiledContraction& t, const Target& target) {
  if (t.dot.has_value()) {
    return {.kind = SumOrder::Kind::kDots,
            .instruction = t.dot->row == nullptr ? "" : std::string(t.dot->row->name),
            .factor_parts = t.dot->factor_parts};
  }
  return {.fused = FusesMultiplyAdd(target, t.init.type().dtype)};
}

bool IsPackable(const TiledContraction& t, const loop::LinearForm& form, const Context& context) {
  int64_t base = 0;
  return FindConstant(context, FactorLoad(t.c.y)->buffer) != nullptr &&
         loop::AsInt(form.base, &base);
}

Columns SourceOfColumns(const TiledContraction& t, const Context& context) {
  if (t.dot.has_value()) return Columns::kPacked;
  const std::optional<loop::LinearForm> form = FactorForm(t.c.y, ColumnAxes(t.c));
  if (IsPackable(t, *form, context)) return Columns::kPacked;
  const bool constant = FindConstant(context, FactorLoad(t.c.y)->buffer) != nullptr;
  return !constant && form->coefficients.back() == 1 ? Columns::kInPlace : Columns::kCopied;
}

}  // namespace

void PlanReduction(const TiledContraction& t, const Target& target, ContractionPlan& plan) {
  const PrefetchNumbers& prefetch = target.machine->prefetch;
  plan.order = OrderOfSums(t, target);
  const bool scalar_dots = t.dot.has_value() && t.dot->row != nullptr && plan.tile.lanes == 1;
  plan.max_unrolled = !target.short_of_memory ? target.machine->tiles.max_unrolled
                      : scalar_dots           ? target.machine->tiles.scalar_dots_unrolled
                                              : 1;
  const bool ahead = plan.packs() && target.has_caches &&
                     plan.tile.outer_rows * plan.tile.rows >= prefetch.min_rows &&
                     ReadsColumnsFromMemory(t, plan.tile, target) &&
                     BytesOfColumns(t) > target.l1_bytes / 2;
  plan.columns_ahead = ahead ? prefetch.column_bytes / ColumnElementBytes(t) : 0;
  plan.epilogue_ahead = target.has_caches && t.steps() >= prefetch.min_steps;
}

ContractionPlan PlanContraction(const TiledContraction& t, const ContractionChoice& choice,
                                int64_t cost, const Context& context) {
  const Target& target = context.target;
  ContractionPlan plan{.tile = {.outer_rows = choice.outer_rows,
                                .rows = choice.rows,
                                .vectors = choice.vectors,
                                .lanes = TileLanes(TileProblemOf(t, target), target)},
                       .columns = SourceOfColumns(t, context),
                       .columns_outside = choice.columns_outside};
  const int64_t whole = context.Lanes(t.init.type().dtype);
  if (plan.tile.lanes < whole && plan.tile.columns() % whole == 0) plan.epilogue_lanes = whole;
  plan.columns_together = plan.columns == Columns::kPacked && !t.dot.has_value()
                              ? ColumnsTogether(t, plan.tile, target)
                              : plan.tile.columns();
  plan.batch_inside = !plan.columns_outside && KeepsAllColumns(t, plan, target);
  // Matrix products of split float32 factors take about as long as vector products.
  const bool is_fast = t.of_matrices() && t.dot->factor_parts == 1;
  const bool threads =
      WorthThreads(is_fast ? cost / target.machine->matrices.speedup : cost, target);
  const int64_t cores = std::max(target.cores, 1);
  const int64_t tasks_per_core = target.machine->threads.tasks_per_core;
  if (threads) plan.tasks = tasks_per_core * cores;
  // Threads share the blocks of columns. The reduction is divided only if there are enough blocks
  // for that.
  const int64_t blocks = DivideUp(t.c.column.extent, plan.tile.columns());
  if (t.stores_matrices()) {
    plan.parts = t.dot->reduction_parts;
  } else if (plan.columns_outside &&
             (!threads || TotalExtent(t.c.batch) * blocks >= tasks_per_core / 2 * cores)) {
    plan.parts = PartsOfReduction(t, plan, target);
  }
  PlanReduction(t, target, plan);
  plan.next_columns =
      plan.packs() && target.has_caches && (t.stores_matrices() || !t.dot.has_value());
  plan.next_rows = target.has_caches && !plan.columns_outside && HasContiguousRows(t) &&
                   plan.tile.rows < t.c.rows[0].extent;
  return plan;
}

absl::Status CheckPlan(const TiledContraction& t, const ContractionPlan& plan,
                       const Context& context) {
  const auto refuse = [](absl::string_view field, const auto& found, absl::string_view wanted) {
    return absl::InvalidArgumentError(absl::StrCat(field, ": found ", found, ", wanted ", wanted));
  };
  if (const SumOrder order = OrderOfSums(t, context.target); plan.order != order) {
    return refuse("order of sums", Text(plan.order), Text(order));
  }
  const TileProblem problem = TileProblemOf(t, context.target);
  const TileShape& tile = plan.tile;
  const int64_t sums = tile.outer_rows * tile.rows * tile.vectors;
  const int64_t most = MaxAccumulators(context.target) * problem.vector_rows;
  const bool is_the_only = problem.only.has_value() &&
                           tile.outer_rows == problem.only->outer_rows &&
                           tile.rows == problem.only->rows && tile.vectors == problem.only->vectors;
  const bool fits = tile.outer_rows >= 1 && tile.outer_rows <= problem.outer_rows &&
                    tile.rows >= 1 && tile.rows <= problem.rows && tile.vectors >= 1 &&
                    tile.lanes == TileLanes(problem, context.target) &&
                    (problem.only.has_value() ? is_the_only : sums <= most);
  if (!fits) {
    return refuse("tile", Text(tile), "one that fits the rows, columns and registers");
  }
  if (t.dot.has_value()) {
    const bool as_planned = plan.columns == Columns::kPacked && !plan.columns_outside &&
                            plan.parts == t.dot->reduction_parts;
    if (!as_planned) return refuse("plan", Text(plan), "packed columns and the parts of the rows");
    return absl::OkStatus();
  }
  const loop::LinearForm form = *FactorForm(t.c.y, ColumnAxes(t.c));
  if (plan.columns == Columns::kPacked && !IsPackable(t, form, context)) {
    return refuse("columns", "packed", "copied or in place: they are not constant");
  }
  if (plan.columns == Columns::kInPlace && form.coefficients.back() != 1) {
    return refuse("columns", "in place", "packed or copied: they are not contiguous");
  }
  if (plan.columns == Columns::kPacked && plan.columns_together != tile.lanes &&
      plan.columns_together != tile.columns()) {
    return refuse("columns together", plan.columns_together, "those of a vector or of a tile");
  }
  if (plan.parts != 1) {
    const bool divides = plan.columns_outside && !plan.batch_inside && t.c.rows.size() == 1 &&
                         t.c.reduce.size() == 1 && t.init.As<loop::FloatImm>() != nullptr &&
                         plan.parts > 0 && t.c.reduce[0].extent % plan.parts == 0;
    if (!divides) return refuse("parts", plan.parts, "1, or a divisor of a reduction by one axis");
  }
  if (!plan.packs() && (plan.columns_ahead > 0 || plan.next_columns)) {
    return refuse("columns", "prefetches in place", "prefetches of packed or copied columns");
  }
  if (plan.next_rows && !HasContiguousRows(t)) {
    return refuse("next rows", "prefetches", "none: rows are not contiguous");
  }
  return absl::OkStatus();
}

std::string Text(const ContractionPlan& plan) {
  constexpr absl::string_view kColumns[] = {"in place", "packed", "copied"};
  std::vector<std::string> parts = {
      absl::StrCat("tile ", Text(plan.tile)),
      absl::StrCat(plan.columns_outside ? "columns" : "rows", " outside"),
      absl::StrCat("columns ", kColumns[static_cast<size_t>(plan.columns)])};
  if (plan.columns == Columns::kPacked) {
    absl::StrAppend(&parts.back(), " ", plan.columns_together, " together");
  }
  if (plan.batch_inside) parts.emplace_back("batch inside");
  if (plan.epilogue_lanes > 0)
    parts.push_back(absl::StrCat("epilogue of ", plan.epilogue_lanes, " lanes"));
  parts.push_back(absl::StrCat("sums ", Text(plan.order)));
  if (plan.parts > 1) parts.push_back(absl::StrCat(plan.parts, " parts"));
  parts.push_back(plan.tasks == 0 ? "one thread" : absl::StrCat("up to ", plan.tasks, " tasks"));
  parts.push_back(absl::StrCat("unrolls ", plan.max_unrolled));
  std::vector<std::string> ahead;
  if (plan.columns_ahead > 0)
    ahead.push_back(absl::StrCat("columns ", plan.columns_ahead, " ahead"));
  if (plan.next_columns) ahead.emplace_back("next columns");
  if (plan.next_rows) ahead.emplace_back("next rows");
  if (plan.epilogue_ahead) ahead.emplace_back("epilogue");
  if (!ahead.empty()) parts.push_back(absl::StrCat("prefetches ", absl::StrJoin(ahead, " and ")));
  return absl::StrJoin(parts, ", ");
}

}  // namespace kiln::schedule
