// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/dot_product.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/align.h"
#include "compiler/loop/expr_node.h"
#include "compiler/schedule/dot_parts.h"
#include "compiler/schedule/matrices.h"
#include "compiler/schedule/value_range.h"

namespace kiln::schedule {
namespace {

using loop::Range;

// Range of the elements of a constant factor. Floats have none, because they are rounded to the
// type that the instruction reads.
using Values = std::optional<Range>;

bool IsInteger(DType dtype, int bits) {
  return dtype.is_integral() && !dtype.is_bool() && dtype.bits == bits;
}

// Returns c, so that all elements of a constant minus c fit a dtype. Returns nothing if their range
// is too wide.
std::optional<int64_t> ColumnShift(const Values& of, DType dtype) {
  if (!of.has_value()) return 0;
  const Range& values = *of;
  if (values.within(Range::OfType(dtype))) return 0;
  if (values.hi - values.lo > dtype.MaxInt() - dtype.MinInt()) return std::nullopt;
  return values.lo - dtype.MinInt();
}

const loop::Constant* ConstantFactor(const Expr& factor, const Context& context) {
  const loop::Load* load = FactorLoad(factor);
  return load == nullptr ? nullptr : FindConstant(context, load->buffer);
}

Expr LoadOf(const loop::Load& load) { return loop::MakeLoad(load.buffer, load.index); }

// True if `row` multiplies elements of dtype `x` by a constant of these values.
bool Multiplies(const DotInstruction& row, DType x, const Values& y) {
  const bool takes_x = !y.has_value() || IsInteger(x, 8) || x == row.a;
  return takes_x && ColumnShift(y, row.b).has_value();
}

// True if products of floats pay: an issue slot computes more of them than multiply-adds, or a
// single row reads the constants once, which take half of the bytes.
bool PaysForFloats(const DotInstruction& row, const Contraction& c, const Target& target) {
  return row.ProductsPerSlot(target) > target.Lanes(kF32) || TotalExtent(c.rows) == 1;
}

// Returns the plan without steps and panel. `row` is an instruction that multiplies the factors. If
// it is null, products are plain multiplications: four at a time, or single ones in vectors of
// int32.
DotPlan PlanOf(const DotInstruction* row, DType x, const Values& y, const Target& target) {
  if (row == nullptr) {
    const int64_t group = target.Lanes(kI32) > 1 ? 1 : 4;
    return {.group = group,
            .shift = *ColumnShift(y, kI8),
            .row_dtype = x,
            .column_dtype = kI8,
            .column_factor = kI8,
            .lanes = target.Lanes(kI32)};
  }
  DotPlan plan{.row = row,
               .group = row->group,
               .shift = *ColumnShift(y, row->b),
               .row_dtype = row->a,
               .column_dtype = row->b,
               .column_factor = row->b,
               .lanes = row->vector_columns(*row->FormOf(target)),
               .vector_rows = row->vector_rows()};
  if (row->widens_in_steps && y->within(Range::OfType(kI8))) plan.column_dtype = kI8;
  const bool other_sign = x.bits == row->a.bits && x != row->a;
  if (other_sign) plan.row_offset = x.is_int() ? kSignBit : -kSignBit;
  return plan;
}

int64_t RowBytes(const Contraction& c, const DotPlan& plan) {
  return DivideUp(TotalExtent(c.reduce), plan.group) * plan.StepElements(1) *
         plan.row_dtype.bytes();
}

// True if a single copied row of `bytes` is small compared with the model's tensors. Two rows at
// once save more instructions, and are copied anyway.
bool IsSmallPart(const Contraction& c, int64_t bytes, const Context& context) {
  return TotalExtent(c.rows) > 1 || !context.memory.has_value() ||
         bytes <= context.memory->least_bytes / context.target.machine->dots.max_part_of_tensors;
}

// True if `bytes` of copied rows do not raise the memory plan of the model. This is known only for
// a single row: every output reads its data, so that its tensors do not overlap, and their memory
// is known exactly.
bool FitsBesideTensors(const Contraction& c, int64_t bytes, const Context& context) {
  return context.target.short_of_memory && context.memory.has_value() && TotalExtent(c.rows) == 1 &&
         bytes <= context.memory->spare_bytes;
}

// True if there is memory for the copied rows of a tile. If memory is short, one of three
// conditions must hold. Tiles pad their own rows, which saves the memory of padded data. The rows
// fit on the stack or take a small part of the data, and take a small part of the model's tensors.
// The rows fit into idle workspace. If memory is not short, the rows of the largest tile must fit
// on the stack.
bool HoldsRows(const Contraction& c, const DotPlan& plan, bool padded, const Context& context) {
  const Target& target = context.target;
  if (!target.short_of_memory) {
    const int64_t rows = std::min(TotalExtent(c.rows), MaxAccumulators(target));
    return RowBytes(c, plan) <= target.stack_bytes / rows;
  }
  const int64_t bytes =
      std::min<int64_t>(TotalExtent(c.rows), target.machine->tiles.scalar_rows) * RowBytes(c, plan);
  const int64_t data_bytes = FactorLoad(c.x)->buffer->num_bytes();
  const bool is_small =
      bytes <= target.stack_bytes || bytes <= data_bytes / target.machine->dots.max_part_of_data;
  return padded || (is_small && IsSmallPart(c, bytes, context)) ||
         FitsBesideTensors(c, bytes, context);
}

// True if rows of the other sign are copied although they could be read in place. C cannot change a
// sign between memory and instruction. A broadcast group would change its sign once for every tile
// of columns, and the broadcast could not read memory. Copied rows take 0.6 to 0.8 of the time
// (Sapphire Rapids).
bool CopiesForSigns(const Contraction& c, const DotPlan& plan, const Context& context) {
  const bool broadcasts_groups = plan.lanes > 1 && !context.target.broadcasts_lanes();
  return context.target.by_c_compiler ||
         (broadcasts_groups && HoldsRows(c, plan, /*padded=*/false, context));
}

// True if rows lie in memory as the instruction reads them: in whole groups of contiguous elements
// of its type. A row is one run or, unless memory is short, several. In stored rows the last group
// of a run may include elements after the run, because its columns are zeros there.
bool LieRight(const Contraction& c, const DotPlan& plan, RowSource source, const Context& context) {
  const Target& target = context.target;
  const bool as_read = source == RowSource::kStored || plan.row_offset == 0;
  const bool one_run = c.reduce.size() == 1;
  if (!as_read && (!one_run || CopiesForSigns(c, plan, context))) return false;
  if (!one_run && target.short_of_memory) return false;
  if (FactorLoad(c.x)->buffer->dtype.bits != plan.row_dtype.bits && source != RowSource::kStored) {
    return false;
  }
  const int64_t run = c.reduce.back().extent, read = DivideUp(run, plan.group) * plan.group;
  const bool whole_groups = read == run;
  const bool may_read_on =
      source == RowSource::kStored && read - run <= run / target.machine->dots.max_part_read_on;
  if (!whole_groups && !may_read_on) return false;
  const auto form = FactorForm(c.x, c.reduce);
  return form.has_value() && form->coefficients.back() == 1;
}

// True if an instruction of several rows pays. Its rows are copied, each in one run of whole
// groups. It needs enough columns, and enough steps between the beginning and the end of a tile.
bool PaysRowsTogether(const DotInstruction& row, const Contraction& c, RowSource source,
                      const DotNumbers& numbers) {
  return source == RowSource::kData && c.reduce.size() == 1 &&
         c.reduce[0].extent % row.group == 0 &&
         c.reduce[0].extent >= numbers.min_steps_together * row.group &&
         c.column.extent >= numbers.min_columns_together && RowExtent(c, 0) > 1;
}

// Returns the loop in assembly that reads rows and columns as they are stored: a panel, or rows of
// one run. Returns null if there is none.
const DotLoop* FindLoop(const Contraction& c, const DotPlan& plan, const Target& target) {
  if (plan.row == nullptr || plan.steps == 1) return nullptr;
  const bool as_read = plan.panel || (c.reduce.size() == 1 && plan.row_offset == 0);
  for (const DotLoop& loop : plan.row->loops) {
    // Sums of rows, which a shift needs, read whole groups.
    const bool rows_alternate = RowExtent(c, 0) > 1 && c.reduce.back().extent % loop.run == 0 &&
                                TotalExtent(c.reduce) % plan.group == 0 &&
                                (plan.shift == 0 || loop.run == plan.group);
    const bool fits = (loop.rows == 1 || rows_alternate) && loop.columns <= c.column.extent &&
                      loop.rows * plan.steps * plan.group <= target.machine->dots.max_loop_elements;
    if (fits && as_read && (plan.panel || !loop.copied_rows)) return &loop;
  }
  return nullptr;
}

// Memory for a tile's rows: on the stack. It is in the workspace if the stack is too small, or,
// with `may_be_idle`, if it would be a large part of the model's memory and as much of the
// workspace lies idle meanwhile.
Buffer BufferOfRows(const char* suffix, DType dtype, Shape shape, bool may_be_idle,
                    TiledContraction& t, Context& context) {
  const int64_t bytes = NumElements(shape) * dtype.bytes();
  const bool small_stack = context.target.short_of_memory && bytes > context.target.stack_bytes;
  const bool in_workspace = small_stack || (may_be_idle && !IsSmallPart(t.c, bytes, context) &&
                                            FitsBesideTensors(t.c, bytes, context));
  const Buffer buffer = loop::MakeBuffer(
      absl::StrCat(FactorLoad(t.c.x)->buffer->name, suffix), dtype, std::move(shape),
      in_workspace ? loop::BufferScope::kWorkspace : loop::BufferScope::kLocal,
      GroupAlignment(*t.dot, dtype));
  (in_workspace ? context.workspace : t.row_buffers).push_back(buffer);
  return buffer;
}

}  // namespace

std::optional<DotPlan> PlanDotProduct(const Contraction& c, RowSource source,
                                      const Context& context) {
  const Target& target = context.target;
  const bool padded = source == RowSource::kPaddedByTile;
  const DType x = FactorLoad(c.x)->buffer->dtype;
  const DType sum = c.x.type().dtype;
  const Values y =
      sum.is_float() ? Values() : RangeOfElements(ConstantFactor(c.y, context)->tensor);
  // Floats keep all of their bits unless the user allows rounding.
  const bool in_parts = sum.is_float() && !context.bfloat16_products;
  const int64_t factor_parts = in_parts ? loop::DotKind::kPartsOfFloat : 1;
  std::vector<const DotInstruction*> rows = DotInstructionsOf(target, sum);
  std::erase_if(rows, [&](const DotInstruction* row) {
    const bool of_matrices = row->geometry == DotGeometry::kMatrix;
    return row->has_loops_only() || !Multiplies(*row, x, y) || (in_parts && !of_matrices) ||
           (of_matrices &&
            !((sum.is_float() || x == row->a) && PaysMatrices(*row, c, factor_parts, target))) ||
           (sum.is_float() && !PaysForFloats(*row, c, target)) ||
           (row->vector_rows() > 1 && !PaysRowsTogether(*row, c, source, target.machine->dots));
  });
  // Among equally fast instructions, one without a change of signs and without a shift is
  // preferred.
  const auto order = [&](const DotInstruction* row) {
    return std::tuple(-row->ProductsPerSlot(target), x.bits == row->a.bits && x != row->a,
                      ColumnShift(y, row->b) != 0);
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const auto* a, const auto* b) { return order(a) < order(b); });
  // Without an instruction, rows are copied to save the memory of padded data.
  const bool plain = target.short_of_memory && padded && IsInteger(x, 8);
  if (rows.empty() && plain && ColumnShift(y, kI8).has_value()) rows.push_back(nullptr);
  for (const DotInstruction* row : rows) {
    DotPlan plan = PlanOf(row, x, y, target);
    plan.factor_parts = factor_parts;
    plan.panel =
        padded || plan.vector_rows > 1 || plan.of_matrices() || !LieRight(c, plan, source, context);
    plan.run = plan.panel ? TotalExtent(c.reduce) : c.reduce.back().extent;
    plan.steps = TotalExtent(c.reduce) / plan.run * plan.run_steps();
    if (plan.of_matrices()) DivideMatrices(plan, c, padded, target);
    // Before axes are merged, several row axes may still become one.
    const bool stores = plan.stores_matrices() ||
                        (plan.of_matrices() && c.rows.size() > 1 && MayStoreMatrices(c, padded));
    if (plan.panel && !stores && !HoldsRows(c, plan, padded, context)) continue;
    plan.loop = FindLoop(c, plan, target);
    return plan;
  }
  return std::nullopt;
}

bool MayBeDotProduct(const Stage& stage, const Contraction& c, const Context& context) {
  const DType sum = stage.value.type().dtype;
  const bool of_floats = sum == kF32 && (context.bfloat16_products || context.float_parts);
  if (!(sum == kI32 || of_floats) ||
      TotalExtent(c.reduce) < context.target.machine->dots.min_reduce) {
    return false;
  }
  const loop::Constant* y = ConstantFactor(c.y, context);
  const DType x = FactorLoad(c.x)->buffer->dtype;
  if (y == nullptr) return false;
  const bool multiplies =
      of_floats ? x == kF32 && y->buffer->dtype == kF32
                : y->buffer->dtype.bits <= 16 && (IsInteger(x, 8) || IsInteger(x, 16));
  if (!multiplies) return false;
  int64_t base = 0;
  std::vector<Axis> all = stage.axes;
  all.insert(all.end(), stage.reduce.begin(), stage.reduce.end());
  const auto form = FactorForm(c.y, all);
  return form.has_value() && loop::AsInt(form->base, &base);
}

bool StoreRows(TiledContraction& t, const Stage& padding, const Target& target) {
  const auto& padded = *padding.value.As<loop::Select>();
  const loop::Load& load = *FactorLoad(t.c.x);
  loop::Bounds bounds;
  AddBounds(padding.axes, bounds);
  const int64_t read_on = t.dot->run_steps() * t.dot->group - t.dot->run;
  const int64_t bytes = (padding.buffer->num_elements() + read_on) * t.dot->row_dtype.bytes();
  if (bytes > target.stack_bytes) return false;
  Stage& rows = t.stored_rows.emplace(padding);
  rows.buffer =
      loop::MakeBuffer(absl::StrCat(padding.buffer->name, "_rows"), t.dot->row_dtype,
                       {padding.buffer->num_elements() + read_on}, loop::BufferScope::kLocal);
  rows.index = {FlatIndex(padding.buffer, padding.index, bounds)};
  rows.value = loop::MakeSelect(padded.condition, InstructionRow(*t.dot, padded.if_true),
                                InstructionRow(*t.dot, padded.if_false));
  t.c.x = loop::MakeCast(t.c.x.type().dtype,
                         loop::MakeLoad(rows.buffer, {FlatIndex(load.buffer, load.index, {})}));
  return true;
}

Stmt UseDotProduct(TiledContraction& t, const Stage* padding, Context& context) {
  const DotPlan& dot = *t.dot;
  t.block = loop::MakeVar("block");
  t.column = loop::MakeVar("column");
  t.tile_row = loop::MakeVar("tile_row");
  const PackedDotColumns packed = PackDotColumns(t, TakeColumnConstants(t, context), context);
  const loop::Load& x = *FactorLoad(t.c.x);
  const Expr value = padding == nullptr ? LoadOf(x) : InlineInto(LoadOf(x), *padding);
  UseColumnConstants(t, packed.offsets, FactorLoad(t.c.y)->buffer->name, context);
  if (dot.of_matrices()) return UseMatrices(t, value, packed.columns, context);
  const int64_t rows = t.plan.tile.outer_rows * t.plan.tile.rows;
  Buffer panel;
  if (dot.panel) {
    panel = BufferOfRows("_rows", dot.row_dtype,
                         {AlignUp(rows, dot.panel_rows()), dot.steps * dot.group},
                         /*may_be_idle=*/true, t, context);
  }

  const Var step = loop::MakeVar("k");
  const int group = static_cast<int>(dot.group);
  std::vector<Expr> columns;
  for (const Axis& axis : t.c.batch) columns.push_back(axis.var);
  columns.push_back(t.block);
  // Rows in memory may have several runs of steps. The rows of a panel have one run.
  std::vector<Axis> steps = {{step, dot.steps}};
  if (panel == nullptr) {
    steps = t.c.reduce;
    steps.back() = {step, dot.run_steps()};
  }
  Expr all_steps = 0;
  for (const Axis& axis : steps) all_steps = all_steps * Expr(axis.extent) + axis.var;
  columns.insert(columns.end(), {all_steps, loop::MakeRamp(t.column * Expr(dot.group), 1, group)});
  const Expr first = step * Expr(dot.group);
  if (panel != nullptr) {
    std::vector<Expr> index = PanelIndex(dot, t.tile_row, first);
    index.back() = loop::MakeRamp(index.back(), 1, group);
    t.x = loop::MakeLoad(panel, std::move(index));
  } else {
    loop::Bounds bounds;
    AddBounds(t.c.reduce, bounds);
    const Expr flat = loop::Substitute(FlatIndex(x.buffer, x.index, bounds),
                                       {{t.c.reduce.back().var.get(), first}});
    t.x = loop::MakeLoad(x.buffer, {loop::MakeRamp(flat, 1, group)});
    if (!t.stored_rows.has_value()) t.x = InstructionRow(dot, t.x);
  }
  t.y = loop::MakeCast(dot.column_factor, loop::MakeLoad(packed.columns, columns));

  Buffer sums, ones;
  if (dot.shift != 0) {
    ones = OnesOfRun(dot, x.buffer->name, context);
    sums = BufferOfRows("_sums", kI32, {rows}, /*may_be_idle=*/false, t, context);
    t.init = t.init + loop::MakeLoad(sums, {t.tile_row});
  }
  const TiledContraction before = t;  // with the reduction axes of the rows
  t.before_rows = [before, value, panel, sums, ones, step,
                   target = context.target](const TilePlace& place) {
    std::vector<Stmt> stmts;
    if (panel != nullptr) stmts.push_back(FillPanel(before, value, panel, place, target));
    if (sums != nullptr) {
      const GroupAt group_at = [&](const Expr& row, const Expr& at_step) {
        const Expr x = loop::Substitute(before.x, {{step.get(), at_step}});
        return panel != nullptr ? loop::Substitute(x, {{before.tile_row.get(), row}})
                                : AtTileRow(before, x, place, row);
      };
      stmts.push_back(SumRows(before, sums, ones, group_at, place));
    }
    return loop::MakeBlock(std::move(stmts));
  };
  t.c.reduce = std::move(steps);
  return {};
}

}  // namespace kiln::schedule
