// SPDX-License-Identifier: Apache-2.0
// Reductions. The stages of a kernel share loops over the axes that all of them walk alike (the
// rows of a softmax); inside, each stage is made in turn ("compute at"), with small local buffers
// between them. A reduction is vectorised along the innermost space axis where the data is
// contiguous there (pooling and depthwise convolution in channels-last layout), otherwise along the
// innermost reduction axis.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/schedule/families.h"
#include "compiler/schedule/shared_loops.h"
#include "compiler/schedule/window_tiles.h"

namespace kiln::schedule {
namespace {

constexpr int kVectorsPerTile = 4;  // of accumulators: enough to hide the latency of an addition
// Of all buffers that live inside the shared loops: they are on the stack.
constexpr int64_t kMaxLocalBytes = 32 << 10;
constexpr int64_t kMaxFirmwareLocalBytes = 512;

enum class Along { kSpace, kReduce };

bool Contiguous(const AccessSet& set, size_t position) {
  for (const LinearAccess& access : set.linear) {
    const int64_t stride = access.form.coefficients[position];
    if (stride != 0 && stride != 1) return false;
  }
  return set.all_linear;
}

// The axis to vectorise along.
Along VectorAxis(const Stage& stage) {
  if (stage.value.As<loop::Dot>() != nullptr) return Along::kSpace;
  std::vector<Axis> all = stage.axes;
  all.insert(all.end(), stage.reduce.begin(), stage.reduce.end());
  loop::Bounds bounds;
  AddBounds(all, bounds);
  const AccessSet set = CollectAccesses(stage.value, VarsOfAxes(all), bounds);
  const bool reduce_contiguous = Contiguous(set, all.size() - 1) && stage.reduce.back().extent > 1;
  if (stage.axes.empty() || stage.axes.back().extent == 1) return Along::kReduce;
  if (reduce_contiguous) {
    // Both may be contiguous only where a load does not move along one of them; the longer axis
    // then.
    const bool space = Contiguous(set, stage.axes.size() - 1);
    return space && stage.axes.back().extent > stage.reduce.back().extent ? Along::kSpace
                                                                          : Along::kReduce;
  }
  return Along::kSpace;
}

// combine(sum, term); a product is added by a fused multiply-add where the machine has it.
Expr Combined(loop::Combine combine, const Expr& sum, const Expr& term, const Target& target) {
  if (const auto* dot = term.As<loop::Dot>()) {
    return loop::MakeDot(dot->kind, sum, dot->a, dot->b);
  }
  const auto* product = term.As<loop::Binary>();
  if (combine == loop::Combine::kSum && product != nullptr && product->op == loop::BinaryOp::kMul &&
      term.type().dtype.is_float() && target.has_fma) {
    return loop::MakeFma(product->a, product->b, sum);
  }
  return loop::CombineExprs(combine, sum, term);
}

// How the lanes of a reduction are walked. GCC 12 takes sums that are written out, and added to each
// other behind the loop, for the lanes of one vector, and mixes them up: in C they stay a loop, which
// the code generator guards.
ForKind ReduceLanes(int64_t extent, const Target& target) {
  return target.by_c_compiler ? ForKind::kVectorized : LaneLoop(extent, target);
}

// acc[…] = combine(acc[…], term) in a loop of `extent` elements.
Stmt Accumulate(const Buffer& acc, int64_t extent, ForKind kind, loop::Combine combine,
                const Target& target, const std::function<Expr(const Expr& lane)>& term) {
  const Var lane = loop::MakeVar("lane");
  const Expr sum = loop::MakeLoad(acc, {lane});
  return loop::MakeFor(lane, 0, extent, kind,
                       loop::MakeStore(acc, {lane}, Combined(combine, sum, term(lane), target)));
}

Stmt Fill(const Buffer& acc, int64_t extent, ForKind kind, const Expr& value) {
  const Var lane = loop::MakeVar("lane");
  return loop::MakeFor(lane, 0, extent, kind, loop::MakeStore(acc, {lane}, value));
}

// Serial loops over reduction axes; small windows are expanded.
Stmt ReduceLoops(const std::vector<Axis>& axes, Stmt body) {
  const bool unroll = TotalExtent(axes) <= kMaxWindowTerms;
  return Nest(axes, unroll ? ForKind::kUnrolled : ForKind::kSerial, std::move(body));
}

Buffer LocalBuffer(const Stage& stage, absl::string_view suffix, Shape shape) {
  return loop::MakeBuffer(absl::StrCat(stage.buffer->name, suffix), stage.value.type().dtype,
                          std::move(shape), loop::BufferScope::kLocal);
}

// Vectorised along the innermost space axis, a tile of it at a time.
Stmt AlongSpace(const Stage& stage, Context& context) {
  const Axis& inner = stage.axes.back();
  const int64_t tile =
      std::min<int64_t>(inner.extent, context.Lanes(stage.value.type().dtype) * kVectorsPerTile);
  const auto emit = [&](const Expr& begin, int64_t extent) {
    const Buffer acc = LocalBuffer(stage, "_acc", {extent});
    const auto at = [&](const Expr& e, const Expr& lane) {
      return loop::Substitute(e, {{inner.var.get(), begin + lane}});
    };
    const Var lane = loop::MakeVar("lane");
    std::vector<Expr> index;
    for (const Expr& i : stage.index) index.push_back(at(i, lane));
    const ForKind kind = LaneLoop(extent, context.target);
    const Stmt update = Accumulate(acc, extent, kind, stage.combine, context.target,
                                   [&](const Expr& l) { return at(stage.value, l); });
    const Stmt result = loop::MakeFor(
        lane, 0, extent, kind, loop::MakeStore(stage.buffer, index, loop::MakeLoad(acc, {lane})));
    return loop::MakeAllocate(acc, loop::MakeBlock({Fill(acc, extent, kind, stage.init),
                                                    ReduceLoops(stage.reduce, update), result}));
  };
  std::vector<Stmt> parts;
  const int64_t tiles = inner.extent / tile;
  const Var t = loop::MakeVar("tile");
  parts.push_back(Nest({{t, tiles}}, ForKind::kSerial, emit(t * Expr(tile), tile)));
  if (const int64_t rest = inner.extent - tiles * tile; rest > 0) {
    parts.push_back(emit(tiles * tile, rest));
  }
  const std::vector<Axis> outer(stage.axes.begin(), stage.axes.end() - 1);
  return Nest(outer, ForKind::kSerial, loop::MakeBlock(std::move(parts)));
}

// Vectorised along the innermost reduction axis; the accumulators are combined pairwise at the end.
Stmt AlongReduce(const Stage& stage, Context& context) {
  const Axis& inner = stage.reduce.back();
  const int64_t lanes = context.Lanes(stage.value.type().dtype);
  int64_t width = 1;
  while (width < lanes * kVectorsPerTile && width * 2 <= inner.extent) width *= 2;
  const Buffer acc = LocalBuffer(stage, "_acc", {width});
  const auto term = [&](const Expr& begin) {
    return [&stage, &inner, begin](const Expr& lane) {
      return loop::Substitute(stage.value, {{inner.var.get(), begin + lane}});
    };
  };
  const auto kind = [&](int64_t extent) { return ReduceLanes(extent, context.target); };
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

std::vector<Axis> LoopOrder(const Stage& stage, Along along) {
  std::vector<Axis> order = stage.axes;
  if (along == Along::kReduce) {
    order.insert(order.end(), stage.reduce.begin(), stage.reduce.end());
  } else {
    order.insert(order.end() - 1, stage.reduce.begin(), stage.reduce.end());
  }
  return order;
}

// A stage that is vectorised along an axis, over constants that lie right for it.
Stage ForVectors(const Stage& stage, Along along, Context& context) {
  if (along == Along::kSpace) {
    if (std::optional<Stage> dots = GroupTaps(stage, context)) return *std::move(dots);
  }
  return RelayoutConstants(stage, LoopOrder(stage, along), context);
}

// All stages in turn inside of loops over `outer`, their buffers local.
Stmt SharedNest(const loop::Kernel& kernel, const std::vector<Axis>& outer, Context& context) {
  Inner inner = MakeInner(kernel, outer);
  std::vector<Stmt> stmts;
  for (const Stage& stage : inner.stages) stmts.push_back(InnerStage(stage, context));
  Stmt body = loop::MakeBlock(std::move(stmts));
  for (const Buffer& local : inner.buffers) body = loop::MakeAllocate(local, body);
  return body;
}

// Every stage as a nest of its own, with its buffer in the workspace.
Stmt SeparateNests(const loop::Kernel& kernel, Context& context) {
  std::vector<Stmt> stmts;
  for (const Stage& stage : kernel.stages) {
    stmts.push_back(StageNest(kernel, stage, context));
  }
  return loop::MakeBlock(std::move(stmts));
}

// Outer loops: the first one that has iterations to share out is parallel.
Stmt OuterLoops(const std::vector<Axis>& outer, bool threads, Stmt body) {
  size_t parallel = outer.size();
  for (size_t i = outer.size(); i-- > 0;) {
    if (outer[i].extent > 1) parallel = i;
  }
  for (size_t i = outer.size(); i-- > 0;) {
    body = Nest({outer[i]}, threads && i == parallel ? ForKind::kParallel : ForKind::kSerial,
                std::move(body));
  }
  return body;
}

}  // namespace

Stmt ReductionNest(const loop::Kernel& original, Context& context) {
  loop::Kernel kernel = original;
  context.description = "reduction";
  int64_t cost = 0;
  bool along_space = false;
  for (Stage& stage : kernel.stages) {
    cost += Cost(stage);
    if (stage.combine == loop::Combine::kNone) continue;
    const Along along = VectorAxis(stage);
    along_space |= along == Along::kSpace;
    stage = ForVectors(stage, along, context);
    if (const auto* dot = stage.value.As<loop::Dot>()) {
      absl::StrAppend(&context.description, " ", dot->kind.instruction);
    }
  }
  const bool threads = WorthThreads(cost, context.target);
  const std::vector<Axis>& axes = kernel.stages.back().axes;
  const size_t shared = SharedAxes(kernel);
  if (shared == 0 && kernel.stages.size() > 1) return SeparateNests(kernel, context);

  if (shared == axes.size() && along_space && shared > 0) {
    const WindowTile windows = ChooseWindowTile(kernel, context.target);
    const int vectors = windows.any() ? windows.vectors : kVectorsPerTile;
    const DType dtype = kernel.stages.front().value.type().dtype;
    const int64_t tile = std::min<int64_t>(axes.back().extent, context.Lanes(dtype) * vectors);
    const int64_t tiles = axes.back().extent / tile;
    // `count` tiles of the last axis, of `extent` elements, the one at `begin` among them.
    const auto nest = [&](const Expr& begin, int64_t extent, const Axis& count) {
      std::vector<Axis> outer = FreshAxes({axes.begin(), axes.end() - 1});
      const Stmt body = SharedNest(TileOfAxis(kernel, shared - 1, begin, extent), outer, context);
      if (!windows.any()) {
        outer.push_back(count);
        return OuterLoops(outer, threads, body);
      }
      const Axis place = outer.back();
      outer.pop_back();
      const Axis row = outer.back();
      std::vector<Stmt> parts;
      for (const Strip& strip : Strips(row.extent, windows.rows, "tile")) {
        outer.back() = strip.which;
        const Axis rows = {loop::MakeVar("row"), strip.size};
        const Stmt at = loop::Substitute(body, {{row.var.get(), strip.begin + rows.var}});
        parts.push_back(OuterLoops(outer, threads, TileWindows(windows, rows, place, count, at)));
      }
      return loop::MakeBlock(std::move(parts));
    };
    const Var t = loop::MakeVar("tile");
    const Stmt whole = nest(t * Expr(tile), tile, {t, tiles});
    const int64_t rest = axes.back().extent - tiles * tile;
    if (rest == 0) return whole;
    // The remainder is a nest of its own, so that each has constant extents.
    return loop::MakeBlock({whole, nest(tiles * tile, rest, {loop::MakeVar("tile"), 1})});
  }
  const std::vector<Axis> outer =
      FreshAxes({axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(shared)});
  const int64_t max_bytes =
      context.target.short_of_memory ? kMaxFirmwareLocalBytes : kMaxLocalBytes;
  if (MakeInner(kernel, outer).bytes > max_bytes) return SeparateNests(kernel, context);
  return OuterLoops(outer, threads, SharedNest(kernel, outer, context));
}

Stmt InnerStage(const Stage& stage, Context& context) {
  if (stage.combine == loop::Combine::kNone) {
    const Stmt store = loop::MakeStore(stage.buffer, stage.index, stage.value);
    if (stage.axes.empty()) return store;
    const ForKind kind = LaneLoop(stage.axes.back().extent, context.target);
    const Stmt vector = Nest({stage.axes.back()}, kind, store);
    return Nest({stage.axes.begin(), stage.axes.end() - 1}, ForKind::kSerial, vector);
  }
  return VectorAxis(stage) == Along::kSpace ? AlongSpace(stage, context)
                                            : AlongReduce(stage, context);
}

Stmt ReductionStage(const Stage& stage, Context& context) {
  const Along along = VectorAxis(stage);
  return InnerStage(ForVectors(stage, along, context), context);
}

Stmt StageNest(const loop::Kernel& kernel, const Stage& stage, Context& context) {
  if (!IsOutput(kernel, stage.buffer)) context.workspace.push_back(stage.buffer);
  return stage.combine == loop::Combine::kNone ? PointwiseNest(stage, context)
                                               : ReductionStage(stage, context);
}

}  // namespace kiln::schedule
