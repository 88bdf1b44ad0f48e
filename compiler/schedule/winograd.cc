// SPDX-License-Identifier: Apache-2.0
// 3 × 3 convolutions with stride 1 by Winograd's minimal filtering, if the model or measurements
// say that this is faster than the direct sum.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/schedule/contraction_choice.h"
#include "compiler/schedule/winograd_loops.h"
#include "compiler/schedule/winograd_transform.h"

namespace kiln::schedule {
namespace {

// Returns a stage that stores `value(index)` for indices within `from`, and 0 for others.
Stage Extended(const Buffer& buffer, const Shape& from,
               const std::function<Expr(const std::vector<Expr>&)>& value) {
  Stage stage{.buffer = buffer,
              .axes = {},
              .index = {},
              .reduce = {},
              .combine = loop::Combine::kNone,
              .init = {},
              .value = {}};
  std::vector<Expr> clamped;
  Expr inside = loop::IntConst(loop::Type::Of(DType::Bool()), 1);
  for (size_t i = 0; i < from.size(); ++i) {
    const Var var = loop::MakeVar(absl::StrCat("d", i));
    stage.axes.push_back({var, buffer->shape[i]});
    stage.index.push_back(var);
    const bool extended = buffer->shape[i] > from[i];
    clamped.push_back(extended ? loop::Min(var, Expr(from[i] - 1)) : Expr(var));
    if (extended) inside = inside && var < Expr(from[i]);
  }
  const Expr inner = value(clamped);
  stage.value = loop::MakeSelect(inside, inner, loop::Const(inner.type(), 0));
  return stage;
}

// Returns the stages before stages[which], and pads its data with zeros: `data` becomes a buffer of
// `shape`. If an element-wise stage computes the data and nothing else reads them, it computes them
// into that buffer.
Stmt ExtendedData(const loop::Kernel& kernel, size_t which, const Shape& shape, Buffer& data,
                  Context& context) {
  const Buffer from = data;
  const bool extend = shape != from->shape;
  const Stage* producer = nullptr;
  std::vector<Stmt> stmts;
  for (size_t i = 0; i < which; ++i) {
    const Stage& before = kernel.stages[i];
    const bool replaced = extend && before.buffer == from && !IsOutput(kernel, from) &&
                          before.combine == loop::Combine::kNone && IsIdentity(before) &&
                          std::count_if(kernel.stages.begin(), kernel.stages.end(),
                                        [&](const Stage& s) { return Reads(s, from); }) == 1;
    if (replaced) {
      producer = &before;
    } else {
      stmts.push_back(StageNest(kernel, before, context));
    }
  }
  if (!extend) return loop::MakeBlock(std::move(stmts));
  data = loop::MakeBuffer(absl::StrCat(from->name, "_tiles"), from->dtype, shape,
                          loop::BufferScope::kWorkspace);
  context.workspace.push_back(data);
  const Stage extended = Extended(data, from->shape, [&](const std::vector<Expr>& at) -> Expr {
    const Expr load = loop::MakeLoad(from, at);
    return producer == nullptr ? load : InlineInto(load, *producer);
  });
  stmts.push_back(PointwiseNest(extended, context));
  return loop::MakeBlock(std::move(stmts));
}

}  // namespace

Stmt WinogradNest(const loop::Kernel& kernel, size_t which, const WinogradProblem& p,
                  const ContractionChoice& choice, Context& context) {
  WinogradDivision d = DivideWinograd(p, choice.outputs, choice.block_rows, context.target);
  d.tile.rows = choice.rows;
  d.tile.vectors = choice.vectors;
  std::vector<Epilogue> epilogues;
  CollectEpilogues(kernel, which, &epilogues);
  const int64_t taps = kWinogradTaps - 1;
  const Shape shape = {p.batch, d.blocks() * d.block_rows * d.outputs + taps,
                       d.tile_columns * d.outputs + taps, p.channels};
  Buffer data = p.x->buffer;
  const Stmt extended = ExtendedData(kernel, which, shape, data, context);
  context.description = absl::StrCat("winograd F(", d.outputs, "x", d.outputs, ",3x3) ",
                                     Text(d.tile), " blocks of ", d.block_tiles(), " tiles");
  return loop::MakeBlock(
      {extended, WinogradLoops(p, d, kernel.stages[which], std::move(epilogues), data, context)});
}

}  // namespace kiln::schedule
