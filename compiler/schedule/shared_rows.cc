// SPDX-License-Identifier: Apache-2.0
// Products whose rows one follows from the other: attention, which multiplies queries with keys, takes
// the softmax of each row of these scores, and multiplies the row with the values. A block of rows
// goes through all stages before the next one begins, so that the scores stay in the L1 cache and
// the whole of them is nowhere in memory.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/schedule/contraction_choice.h"
#include "compiler/schedule/register_tile.h"
#include "compiler/schedule/shared_loops.h"

namespace kiln::schedule {
namespace {

// What lies between the stages of a block of rows stays in the L1 cache …
constexpr int64_t kMaxBlockBytes = 32 << 10;
// … unless a tile of a product would have fewer rows than this.
constexpr int64_t kMinRows = 8;
constexpr int64_t kMaxFirmwareRows = 4;

bool Contains(const std::vector<Axis>& axes, const Var& var) {
  return std::any_of(axes.begin(), axes.end(),
                     [&](const Axis& axis) { return axis.var.get() == var.get(); });
}

// The stage with its axes in the order in which it reads the buffer, if they are the indices of the
// only load of it; an axis of extent 1 may be read as the constant 0.
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

// The kernel with the axes of its last stage, if that only moves what the one before computes, in
// the order in which they are computed.
loop::Kernel InOneOrder(const loop::Kernel& kernel) {
  loop::Kernel ordered = kernel;
  const size_t n = kernel.stages.size();
  if (n > 1 && ordered.stages.back().combine == loop::Combine::kNone) {
    ordered.stages.back() = InOrderOfReads(ordered.stages.back(), ordered.stages[n - 2].buffer);
  }
  return ordered;
}

// A copy of the stage's column factor in which columns are contiguous; the stage reads it instead.
Stage CopyColumns(Stage& stage, const Contraction& c) {
  const loop::Load* load = FactorLoad(c.y);
  std::vector<Axis> order = c.batch;
  order.insert(order.end(), c.reduce.begin(), c.reduce.end());
  order.push_back(c.column);
  const std::optional<loop::LinearForm> form = FactorForm(c.y, order);
  std::vector<Axis> read;
  for (size_t i = 0; i < order.size(); ++i) {
    if (form->coefficients[i] != 0) read.push_back(order[i]);
  }
  Stage copy{.buffer = nullptr,
             .axes = FreshAxes(read),
             .index = {},
             .reduce = {},
             .combine = loop::Combine::kNone,
             .init = {},
             .value = {}};
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

bool HasContiguousColumns(const Contraction& c) {
  const std::optional<loop::LinearForm> form = FactorForm(c.y, {c.column});
  return form.has_value() && form->coefficients[0] == 1;
}

// One loop over all of `axes`, parallel or not.
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

// The stages of a block of rows, one after the other, on one core.
class Block {
 public:
  Block(const loop::Kernel& kernel, const Target& target, Context& context)
      : kernel_(kernel),
        target_(target),
        context_{.target = target_,
                 .constants = std::move(context.constants),
                 .workspace = {},
                 .description = {}},
        outside_(context) {
    target_.cores = 1;
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() { outside_.constants = std::move(context_.constants); }

  Stmt Emit(const std::vector<Stage>& stages, std::string* description) {
    std::vector<Stmt> stmts;
    for (size_t i = 0; i < stages.size();) {
      const size_t end = EndOfProduct(stages, i);
      if (end == i) {
        const bool sums = stages[i].combine != loop::Combine::kNone;
        stmts.push_back(sums ? ReductionStage(stages[i], context_)
                             : InnerStage(stages[i], context_));
        ++i;
        continue;
      }
      loop::Kernel product{.name = kernel_.name,
                           .inputs = {},
                           .outputs = {stages[end - 1].buffer},
                           .constants = {},
                           .stages = {stages.begin() + static_cast<std::ptrdiff_t>(i),
                                      stages.begin() + static_cast<std::ptrdiff_t>(end)}};
      if (end == i + 2) KeepSumsApart(product);
      std::optional<ContractionProblem> problem = AsContractionProblem(product, 0, context_);
      ContractionChoice choice;
      if (problem.has_value()) {
        problem->winograd.reset();
        choice = ChooseContraction(*problem, target_);
      }
      stmts.push_back(ContractionNest(product, 0, choice, context_));
      absl::StrAppend(description, ", ", context_.description);
      i = end;
    }
    return loop::MakeBlock(std::move(stmts));
  }

 private:
  // The end of the stages from `begin` on that one product computes: itself and, if nothing else
  // reads its sums, a stage behind it that is made of them element by element; `begin` if that is
  // no product.
  size_t EndOfProduct(const std::vector<Stage>& stages, size_t begin) const {
    const Stage& sums = stages[begin];
    if (!AsContraction(sums, target_).has_value()) return begin;
    const size_t next = begin + 1;
    if (next == stages.size() || stages[next].combine != loop::Combine::kNone ||
        !Reads(stages[next], sums.buffer)) {
      return next;
    }
    const bool read_later =
        std::any_of(stages.begin() + static_cast<std::ptrdiff_t>(next) + 1, stages.end(),
                    [&](const Stage& later) { return Reads(later, sums.buffer); });
    std::vector<Epilogue> epilogues;
    loop::Kernel both{.name = kernel_.name,
                      .inputs = {},
                      .outputs = {stages[next].buffer},
                      .constants = {},
                      .stages = {sums, stages[next]}};
    KeepSumsApart(both);
    return !read_later && CollectEpilogues(both, 0, &epilogues) ? next + 1 : next;
  }

  // Sums that a stage behind them writes over have no memory of their own: they stay in registers.
  static void KeepSumsApart(loop::Kernel& product) {
    const Buffer shared = product.stages[0].buffer;
    const Buffer own =
        loop::MakeBuffer(shared->name, shared->dtype, shared->shape, loop::BufferScope::kLocal);
    product.stages[0].buffer = own;
    product.stages[1].value =
        ReplaceLoads(product.stages[1].value, shared,
                     [&](const std::vector<Expr>& index) { return loop::MakeLoad(own, index); });
  }

  const loop::Kernel& kernel_;
  Target target_;
  Context context_;
  Context& outside_;
};

// How a kernel is divided into blocks of rows.
struct Rows {
  size_t axis;    // that all stages share: the rows
  int64_t block;  // rows at once; 0: there is no memory for what lies between the stages
};

Rows RowsOf(const loop::Kernel& kernel, const Target& target) {
  const size_t axis = SharedAxes(kernel) - 1;
  const std::vector<Axis>& axes = kernel.stages.back().axes;
  const std::vector<Axis> outer(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(axis));
  const int64_t rows = axes[axis].extent;
  if (target.short_of_memory) {
    int64_t block = std::min(rows, kMaxFirmwareRows);
    while (rows % block != 0) --block;
    return {axis, block};
  }
  const int64_t bytes = MakeInner(TileOfAxis(kernel, axis, Expr(0), 1), outer).bytes;
  const int64_t most = std::clamp<int64_t>(kMaxBlockBytes / bytes, std::min(rows, kMinRows), rows);
  if (most * bytes > target.stack_bytes) return {axis, 0};
  return {axis, DivideUp(rows, DivideUp(rows, most))};  // blocks of about one size
}

}  // namespace

bool HasSharedRows(const loop::Kernel& original, const Target& target) {
  const loop::Kernel kernel = InOneOrder(original);
  const size_t shared = SharedAxes(kernel);
  if (shared == 0) return false;
  int products = 0;
  bool by_rows = true, reduces = false;
  for (const Stage& stage : kernel.stages) {
    if (const std::optional<Contraction> c = AsContraction(stage, target)) {
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
  std::vector<Stmt> stmts;
  int64_t cost = 0;
  for (Stage& stage : kernel.stages) {
    cost += Cost(stage);
    const std::optional<Contraction> c = AsContraction(stage, context.target);
    if (!c.has_value() || HasContiguousColumns(*c)) continue;
    const Stage copy = CopyColumns(stage, *c);
    context.workspace.push_back(copy.buffer);
    stmts.push_back(PointwiseNest(copy, context));
  }
  const Rows rows = RowsOf(kernel, context.target);
  const std::vector<Axis>& axes = kernel.stages.back().axes;
  const bool threads = WorthThreads(cost, context.target);
  // Firmware has one thread, a small stack, and memory that functions take turns to use.
  const auto scope =
      context.target.short_of_memory ? loop::BufferScope::kWorkspace : loop::BufferScope::kLocal;
  std::string description;
  for (const Strip& strip : Strips(axes[rows.axis].extent, rows.block, "block")) {
    std::vector<Axis> outer =
        FreshAxes({axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(rows.axis)});
    const Inner inner =
        MakeInner(TileOfAxis(kernel, rows.axis, strip.begin, strip.size), outer, scope);
    std::string text = absl::StrCat("rows ", strip.size);
    Stmt body = Block(kernel, context.target, context).Emit(inner.stages, &text);
    if (description.empty()) description = std::move(text);  // that of the whole blocks
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
