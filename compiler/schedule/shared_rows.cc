// SPDX-License-Identifier: Apache-2.0
// Products in which a row of one follows from the same row of the other, as in attention. It
// multiplies queries by keys, takes the softmax of each row of these scores, and multiplies the row
// by the values. A block of rows goes through all stages before the next one begins. The scores of
// a block stay in the L1 cache, and the scores of all rows are never in memory together.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/base/align.h"
#include "compiler/schedule/row_block.h"
#include "compiler/schedule/rows_in_lanes.h"
#include "compiler/schedule/shared_loops.h"

namespace kiln::schedule {
namespace {

bool Contains(const std::vector<Axis>& axes, const Var& var) {
  return std::any_of(axes.begin(), axes.end(),
                     [&](const Axis& axis) { return axis.var.get() == var.get(); });
}

// Returns the stage with its axes in the order of the indices of its only load of the buffer.
// Returns it unchanged if it has several loads, or other indices. An axis of extent 1 may be read
// as the constant 0.
Stage InOrderOfReads(const Stage& stage, const Buffer& buffer) {
  std::vector<Axis> order, rest = stage.axes;
  int loads = 0;
  loop::VisitExpr(stage.value, [&](const Expr& e) {
    const auto* load = e.As<loop::Load>();
    if (load == nullptr || load->buffer != buffer || ++loads > 1) return;
    for (const Expr& index : load->index) {
      const auto axis = std::find_if(rest.begin(), rest.end(), [&](const Axis& a) {
        return a.var.get() == index.get() || (a.extent == 1 && loop::IsInt(index, 0));
      });
      if (axis == rest.end()) return;
      order.push_back(*axis);
      rest.erase(axis);
    }
  });
  Stage ordered = stage;
  if (loads == 1 && rest.empty()) ordered.axes = order;
  return ordered;
}

// Returns the kernel with the axes of its last stage in the order in which the stage before it is
// computed, if the last stage only moves values.
loop::Kernel InOneOrder(const loop::Kernel& kernel) {
  loop::Kernel ordered = kernel;
  const size_t n = kernel.stages.size();
  if (n > 1 && ordered.stages.back().combine == loop::Combine::kNone) {
    ordered.stages.back() = InOrderOfReads(ordered.stages.back(), ordered.stages[n - 2].buffer);
  }
  return ordered;
}

// Returns a copy of the stage's column factor in which columns are contiguous, and lets the stage
// read it.
Stage CopyColumns(Stage& stage, const Contraction& c) {
  const loop::Load* load = FactorLoad(c.y);
  const std::vector<Axis> order = ColumnAxes(c);
  const std::optional<loop::LinearForm> form = FactorForm(c.y, order);
  std::vector<Axis> read;
  for (size_t i = 0; i < order.size(); ++i) {
    if (form->coefficients[i] != 0) read.push_back(order[i]);
  }
  Stage copy;
  copy.axes = FreshAxes(read);
  Shape shape;
  loop::Substitution fresh;
  for (const Axis& axis : stage.axes) {
    if (axis.extent == 1) fresh[axis.var.get()] = Expr(0);
  }
  std::vector<Expr> index;
  for (size_t i = 0; i < read.size(); ++i) {
    shape.push_back(read[i].extent);
    index.push_back(read[i].var);
    copy.index.push_back(copy.axes[i].var);
    fresh[read[i].var.get()] = copy.axes[i].var;
  }
  copy.value = loop::Substitute(loop::MakeLoad(load->buffer, load->index), fresh);
  copy.buffer = loop::MakeBuffer(absl::StrCat(load->buffer->name, "_columns"), load->buffer->dtype,
                                 shape, loop::BufferScope::kWorkspace);
  stage.value = c.x * WithLoad(c.y, loop::MakeLoad(copy.buffer, index));
  return copy;
}

// True if a stage of the kernel computes the factor. False if it is an input.
bool ReadsStages(const loop::Kernel& kernel, const Expr& factor) {
  return std::any_of(kernel.stages.begin(), kernel.stages.end(), [&](const Stage& stage) {
    return stage.buffer == FactorLoad(factor)->buffer;
  });
}

bool HasContiguousColumns(const Contraction& c) {
  const std::optional<loop::LinearForm> form = FactorForm(c.y, {c.column});
  return form.has_value() && form->coefficients[0] == 1;
}

// Returns `body` inside of loops over `axes`, or inside of one parallel loop over all of them.
Stmt OneLoop(const std::vector<Axis>& axes, bool threads, const Stmt& body) {
  if (!threads) return Nest(axes, ForKind::kSerial, body);
  const Var task = loop::MakeVar("task");
  loop::Substitution at;
  int64_t inside = TotalExtent(axes);
  for (const Axis& axis : axes) {
    const Expr outside = inside == TotalExtent(axes) ? Expr(task) : task % Expr(inside);
    inside /= axis.extent;
    at[axis.var.get()] = axis.extent == 1 ? Expr(0) : outside / Expr(inside);
  }
  return loop::MakeFor(task, 0, TotalExtent(axes), ForKind::kParallel, loop::Substitute(body, at));
}

// Division of a kernel into blocks of rows.
struct Rows {
  size_t axis;    // position of the rows among the axes that all stages share
  int64_t block;  // rows at once; 0: there is no memory for the data between the stages
  bool in_lanes = false;
};

Rows RowsOf(const loop::Kernel& kernel, const Target& target) {
  const size_t axis = SharedAxes(kernel) - 1;
  const std::vector<Axis>& axes = kernel.stages.back().axes;
  const std::vector<Axis> outer(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(axis));
  const int64_t rows = axes[axis].extent;
  const StackNumbers& stack = target.machine->stack;
  if (target.short_of_memory) {
    int64_t block = std::min(rows, stack.max_firmware_block_rows);
    while (rows % block != 0) --block;
    return {axis, block};
  }
  const int64_t bytes = MakeInner(TileOfAxis(kernel, axis, Expr(0), 1), outer).bytes;
  const int64_t lanes = target.Lanes(DType::Float(32));
  if (lanes * bytes <= target.stack_bytes && PrefersRowsInLanes(kernel, axis, target)) {
    const int64_t vectors = std::clamp<int64_t>(stack.block_bytes / bytes / lanes, 1, rows / lanes);
    return {axis, vectors * lanes, true};
  }
  const int64_t most =
      std::clamp<int64_t>(stack.block_bytes / bytes, std::min(rows, stack.min_block_rows), rows);
  if (most * bytes > target.stack_bytes) return {axis, 0};
  return {axis, DivideUp(rows, DivideUp(rows, most))};  // blocks of similar size
}

// Returns the blocks of rows. Rows in lanes are whole vectors, so that the last block may begin
// inside of the one before it. It runs after that block.
std::vector<Strip> BlocksOfRows(const Rows& rows, int64_t extent, const Target& target) {
  std::vector<Strip> blocks = Strips(extent, rows.block, "block");
  Strip& last = blocks.back();
  if (rows.in_lanes && last.size < rows.block) {
    last.size = AlignUp(last.size, target.Lanes(DType::Float(32)));
    last.begin = Expr(extent - last.size);
  }
  return blocks;
}

}  // namespace

bool HasSharedRows(const loop::Kernel& original, const Contractions& contractions,
                   const Target& target) {
  const loop::Kernel kernel = InOneOrder(original);
  const size_t shared = SharedAxes(kernel);
  if (shared == 0) return false;
  int products = 0;
  bool by_rows = true, reduces = false;
  for (size_t i = 0; i < kernel.stages.size(); ++i) {
    const Stage& stage = kernel.stages[i];
    // The order of the last stage's axes may have changed. It is no contraction then.
    if (const std::optional<Contraction>& c = contractions[i]) {
      ++products;
      by_rows &=
          Contains(c->rows, stage.axes[shared - 1].var) || stage.axes[shared - 1].extent == 1;
    } else {
      reduces |= stage.combine != loop::Combine::kNone;
    }
  }
  return products > 1 && reduces && by_rows && RowsOf(kernel, target).block > 0;
}

Stmt SharedRowsNest(const loop::Kernel& original, Context& context) {
  loop::Kernel kernel = InOneOrder(original);
  const Rows rows = RowsOf(kernel, context.target);
  if (rows.in_lanes) StoreApart(kernel);
  std::vector<Stmt> stmts;
  int64_t cost = 0;
  for (Stage& stage : kernel.stages) {
    cost += Cost(stage, context.target);
    const std::optional<Contraction> c =
        AsContraction(rows.in_lanes ? WithInnermost(stage, rows.axis) : stage, context.target);
    if (!c.has_value() || HasContiguousColumns(*c) || ReadsStages(kernel, c->y)) continue;
    const Stage copy = CopyColumns(stage, *c);
    context.workspace.push_back(copy.buffer);
    stmts.push_back(PointwiseNest(copy, context));
  }
  const std::vector<Axis>& axes = kernel.stages.back().axes;
  const bool threads = WorthThreads(cost, context.target);
  // Firmware has one thread, a small stack, and a workspace that its functions use in turn.
  const auto scope =
      context.target.short_of_memory ? loop::BufferScope::kWorkspace : loop::BufferScope::kLocal;
  std::string description;
  for (const Strip& strip : BlocksOfRows(rows, axes[rows.axis].extent, context.target)) {
    std::vector<Axis> outer =
        FreshAxes({axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(rows.axis)});
    Inner inner = MakeInner(TileOfAxis(kernel, rows.axis, strip.begin, strip.size), outer, scope);
    if (rows.in_lanes) MoveRowsInnermost(inner);
    std::string text = absl::StrCat("rows ", strip.size, rows.in_lanes ? " in lanes" : "");
    Stmt body = EmitRowBlock(inner.stages, rows.in_lanes, context, &text);
    if (description.empty()) description = std::move(text);  // description of the whole blocks
    for (const Buffer& buffer : inner.buffers) {
      if (scope == loop::BufferScope::kLocal) {
        body = loop::MakeAllocate(buffer, body);
      } else {
        context.workspace.push_back(buffer);
      }
    }
    outer.push_back(strip.which);
    stmts.push_back(OneLoop(outer, threads, body));
  }
  context.description = description;
  return loop::MakeBlock(std::move(stmts));
}

}  // namespace kiln::schedule
