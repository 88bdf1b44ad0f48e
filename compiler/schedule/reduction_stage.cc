// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/reduction_stage.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/schedule/accumulate.h"
#include "compiler/schedule/window_tiles.h"

namespace kiln::schedule {
namespace {

// Returns the kind of a loop over the lanes of a reduction. GCC 12 miscompiles sums that are
// unrolled and then added to each other: it takes them for the lanes of one vector, and mixes them
// up. In C they stay a loop, which the code generator guards.
ForKind ReduceLanes(int64_t extent, DType dtype, const Target& target) {
  return target.by_c_compiler ? ForKind::kVectorized : LaneLoop(extent, dtype, target);
}

// Returns serial loops over reduction axes. Small windows are unrolled.
Stmt ReduceLoops(const std::vector<Axis>& axes, Stmt body, const Target& target) {
  const bool unroll = TotalExtent(axes) <= target.machine->windows.max_terms;
  return Nest(axes, unroll ? ForKind::kUnrolled : ForKind::kSerial, std::move(body));
}

// Emits the elements [begin, begin + extent) of the innermost space axis.
Stmt SpaceTile(const Stage& stage, const SumOrder& order, const Expr& begin, int64_t extent,
               Context& context) {
  const ForKind kind = LaneLoop(extent, stage.value.type().dtype, context.target);
  std::vector<Buffer> sums;
  for (int64_t c = 0; c < order.ways; ++c) {
    sums.push_back(LocalBuffer(stage, "_acc", {extent}));
  }
  const auto at = [&](const Expr& e, const Expr& lane) {
    return loop::Substitute(e, {{stage.axes.back().var.get(), begin + lane}});
  };
  const auto add = [&](size_t sum, const Expr& value) {
    return Accumulate(sums[sum], extent, kind, stage.combine, context.target,
                      [&](const Expr& lane) { return at(value, lane); });
  };
  std::vector<Stmt> stmts;
  for (const Buffer& sum : sums) stmts.push_back(Fill(sum, extent, kind, stage.init));
  if (sums.size() == 1) {
    stmts.push_back(ReduceLoops(stage.reduce, add(0, stage.value), context.target));
  } else {
    const Axis& steps = stage.reduce[0];
    for (const Strip& strip : Strips(steps.extent, static_cast<int64_t>(sums.size()), "step")) {
      std::vector<Stmt> adds;
      for (int64_t c = 0; c < strip.size; ++c) {
        adds.push_back(
            add(static_cast<size_t>(c),
                loop::Substitute(stage.value, {{steps.var.get(), strip.begin + Expr(c)}})));
      }
      stmts.push_back(Nest({strip.which}, ForKind::kSerial, loop::MakeBlock(std::move(adds))));
    }
  }
  for (size_t c = sums.size() - 1; c > 0; --c) {
    stmts.push_back(Accumulate(sums[c - 1], extent, kind, stage.combine, context.target,
                               [&](const Expr& lane) { return loop::MakeLoad(sums[c], {lane}); }));
  }
  const Var lane = loop::MakeVar("lane");
  std::vector<Expr> index;
  for (const Expr& i : stage.index) index.push_back(at(i, lane));
  stmts.push_back(
      loop::MakeFor(lane, 0, extent, kind,
                    loop::MakeStore(stage.buffer, index, loop::MakeLoad(sums[0], {lane}))));
  Stmt tile = loop::MakeBlock(std::move(stmts));
  for (const Buffer& sum : sums) tile = loop::MakeAllocate(sum, tile);
  return tile;
}

// Vectorizes along the innermost space axis, one tile at a time.
Stmt AlongSpace(const Stage& stage, const SumOrder& order, Context& context) {
  const Axis& inner = stage.axes.back();
  const int64_t tile = ReductionTile(inner.extent, stage.value.type().dtype, context.target);
  std::vector<Stmt> parts;
  for (const Strip& strip : Strips(inner.extent, tile, "tile")) {
    const SumOrder of_tile = OrderOfTile(order, stage, strip.size, context.target);
    parts.push_back(Nest({strip.which}, ForKind::kSerial,
                         SpaceTile(stage, of_tile, strip.begin, strip.size, context)));
  }
  const std::vector<Axis> outer(stage.axes.begin(), stage.axes.end() - 1);
  return Nest(outer, ForKind::kSerial, loop::MakeBlock(std::move(parts)));
}

// Vectorizes along the innermost reduction axis. The accumulators are combined pairwise at the end.
Stmt AlongReduce(const Stage& stage, int64_t width, Context& context) {
  const Axis& inner = stage.reduce.back();
  const Buffer acc = LocalBuffer(stage, "_acc", {width});
  const auto term = [&](const Expr& begin) {
    return [&stage, &inner, begin](const Expr& lane) {
      return loop::Substitute(stage.value, {{inner.var.get(), begin + lane}});
    };
  };
  const auto kind = [&](int64_t extent) {
    return ReduceLanes(extent, stage.value.type().dtype, context.target);
  };
  const int64_t chunks = inner.extent / width;
  const Var chunk = loop::MakeVar("chunk");
  std::vector<Stmt> along = {Nest({{chunk, chunks}}, ForKind::kSerial,
                                  Accumulate(acc, width, kind(width), stage.combine, context.target,
                                             term(chunk * Expr(width))))};
  if (const int64_t rest = inner.extent - chunks * width; rest > 0) {
    along.push_back(
        Accumulate(acc, rest, kind(rest), stage.combine, context.target, term(chunks * width)));
  }
  const std::vector<Axis> outer(stage.reduce.begin(), stage.reduce.end() - 1);
  std::vector<Stmt> body = {Fill(acc, width, kind(width), stage.init),
                            Nest(outer, ForKind::kSerial, loop::MakeBlock(std::move(along)))};
  for (int64_t half = width / 2; half >= 1; half /= 2) {
    body.push_back(
        Accumulate(acc, half, kind(half), stage.combine, context.target,
                   [&](const Expr& lane) { return loop::MakeLoad(acc, {lane + Expr(half)}); }));
  }
  body.push_back(loop::MakeStore(stage.buffer, stage.index, loop::MakeLoad(acc, {Expr(0)})));
  return Nest(stage.axes, ForKind::kSerial,
              loop::MakeAllocate(acc, loop::MakeBlock(std::move(body))));
}

std::vector<Axis> LoopOrder(const Stage& stage, const SumOrder& sums) {
  std::vector<Axis> order = stage.axes;
  if (sums.kind == SumOrder::Kind::kLanes) {
    order.insert(order.end(), stage.reduce.begin(), stage.reduce.end());
  } else {
    order.insert(order.end() - 1, stage.reduce.begin(), stage.reduce.end());
  }
  return order;
}

}  // namespace

Stage ForVectors(const Stage& stage, const SumOrder& order, Context& context) {
  if (order.kind != SumOrder::Kind::kLanes) {
    if (std::optional<Stage> dots = GroupTaps(stage, context)) return *std::move(dots);
  }
  return RelayoutConstants(stage, LoopOrder(stage, order), context);
}

void NoteOrder(const Stage& stage, const SumOrder& order, Context& context) {
  context.Note(absl::StrCat("reduction of ", stage.buffer->name, " ", Text(order)));
}

Stmt InnerStage(const Stage& stage, Context& context) {
  if (stage.combine == loop::Combine::kNone) {
    const Stmt store = loop::MakeStore(stage.buffer, stage.index, stage.value);
    if (stage.axes.empty()) return store;
    const ForKind kind =
        LaneLoop(stage.axes.back().extent, stage.value.type().dtype, context.target);
    const Stmt vector = Nest({stage.axes.back()}, kind, store);
    return Nest({stage.axes.begin(), stage.axes.end() - 1}, ForKind::kSerial, vector);
  }
  const SumOrder order = OrderOfSums(stage, context.target);
  NoteOrder(stage, order, context);
  return order.kind == SumOrder::Kind::kLanes ? AlongReduce(stage, order.ways, context)
                                              : AlongSpace(stage, order, context);
}

Stmt ReductionStage(const Stage& stage, Context& context) {
  return InnerStage(ForVectors(stage, OrderOfSums(stage, context.target), context), context);
}

}  // namespace kiln::schedule
