// SPDX-License-Identifier: Apache-2.0
// Copies and sums the rows of a dot product in the form that its instruction reads.
#include <algorithm>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/align.h"
#include "compiler/schedule/dot_parts.h"

namespace kiln::schedule {
namespace {

// Returns a loop over parts of `inner`, each of `count` elements. Its body is of_part(element, s),
// and s is `at_inner` at that element of the part.
Stmt InParts(const Axis& inner, int64_t count, const Stmt& at_inner,
             const std::function<Stmt(const Axis& element, Stmt)>& of_part) {
  const Axis part = {loop::MakeVar("part"), inner.extent / count},
             element = {loop::MakeVar("element"), count};
  const Expr at = part.var * Expr(count) + element.var;
  return Nest({part}, ForKind::kSerial,
              of_part(element, loop::Substitute(at_inner, {{inner.var.get(), at}})));
}

// Returns store(x) for all of `inner`. It is unrolled in parts if their size divides the extent,
// otherwise a loop of `kind`. If `x` is padded data, and padding is the same for all of `inner`, it
// is tested once.
Stmt CopyRun(const Axis& inner, const Expr& x, ForKind kind, int64_t max_written_out,
             const std::function<Stmt(const Expr&)>& store) {
  const auto written_out = [](const Axis& element, Stmt s) {
    return Nest({element}, ForKind::kUnrolled, std::move(s));
  };
  const auto copy = [&](const Expr& value) {
    return inner.extent % max_written_out == 0
               ? InParts(inner, max_written_out, store(value), written_out)
               : Nest({inner}, kind, store(value));
  };
  const auto* padded = x.As<loop::Select>();
  const bool one_test = padded != nullptr && !loop::Uses(padded->condition, inner.var);
  if (!one_test) return copy(x);
  const Var v = loop::MakeVar("element");
  const Stmt fill = Nest({{v, inner.extent}}, ForKind::kSerial,
                         loop::Substitute(store(padded->if_false), {{inner.var.get(), v}}));
  return loop::MakeIf(padded->condition, copy(padded->if_true), fill);
}

}  // namespace

Expr AddDot(const DotPlan& dot, const Expr& sum, const Expr& x, const Expr& y) {
  return loop::MakeDot(dot.kind(), sum, x, y);
}

Expr InstructionRow(const DotPlan& dot, const Expr& x) {
  if (dot.row_offset == 0) return loop::MakeCast(dot.row_dtype, x);
  const Expr bytes = loop::MakeCast(kU8, x);
  const Expr flip = loop::IntConst(bytes.type(), kSignBit);
  return loop::MakeCast(dot.row_dtype, loop::MakeBinary(loop::BinaryOp::kXor, bytes, flip));
}

std::vector<Expr> PanelIndex(const DotPlan& dot, const Expr& tile_row, const Expr& k) {
  if (dot.panel_rows() == 1) return {tile_row, k};
  const Expr together = dot.panel_rows(), run = dot.panel_run();
  const Expr runs = tile_row / together * Expr(dot.steps * dot.group / dot.panel_run()) + k / run;
  return {(runs * together + tile_row % together) * run + k % run};
}

Stmt FillPanel(const TiledContraction& t, const Expr& value, const Buffer& panel,
               const TilePlace& place, const Target& target) {
  const DotPlan& dot = *t.dot;
  // If panel_rows does not divide the number of rows, the last row is repeated.
  const Axis outer = {loop::MakeVar("outer"), place.outer_rows},
             row = {loop::MakeVar("m"), AlignUp(place.rows, dot.panel_rows())};
  const Expr source = row.extent == place.rows ? row.var : loop::Min(row.var, Expr(place.rows - 1));
  loop::Substitution at = AtRow(t, place, outer.var, source);
  Expr step = 0;
  std::vector<Axis> reduce;
  for (const Axis& axis : t.c.reduce) {
    const Var fresh = loop::MakeVar(axis.var.As<loop::VarNode>()->name);
    at[axis.var.get()] = fresh;
    step = step * Expr(axis.extent) + fresh;
    reduce.push_back({fresh, axis.extent});
  }
  const Expr tile_row = outer.var * Expr(row.extent) + row.var;
  const auto store = [&](const Expr& k, const Expr& x) {
    return loop::MakeStore(panel, PanelIndex(dot, tile_row, k), x);
  };
  const auto store_element = [&](const Expr& x) { return store(step, InstructionRow(dot, x)); };
  const Axis inner = reduce.back();
  reduce.pop_back();
  const Expr element_of_row = loop::Substitute(value, at);
  Stmt copy = store_element(element_of_row);
  const bool scalar = target.Lanes(panel->dtype) == 1;
  if (dot.panel_rows() > 1 && !(scalar && t.code.tests_runs)) {
    // Each iteration copies a few elements, which are contiguous in the panel, of all rows.
    const int64_t part = inner.extent % dot.group == 0 ? dot.group : dot.panel_run();
    copy = InParts(inner, part, copy, [&](const Axis& element, Stmt s) {
      const ForKind kind = scalar ? ForKind::kUnrolled : ForKind::kVectorized;
      return Nest({row}, ForKind::kUnrolled, Nest({element}, kind, std::move(s)));
    });
    return Nest({outer}, ForKind::kSerial, Nest(reduce, ForKind::kSerial, copy));
  }
  const int64_t most = target.machine->code.max_written_out;
  const bool is_short = scalar && inner.extent <= most && !t.code.tests_runs;
  const ForKind kind = is_short ? ForKind::kUnrolled : ForKind::kVectorized;
  const bool writes_out = scalar && inner.extent > most && inner.extent % most == 0;
  if (scalar && t.code.tests_runs) {
    copy = CopyRun(inner, element_of_row, kind, most, store_element);
  } else if (writes_out) {
    copy = InParts(inner, most, copy, [](const Axis& element, Stmt s) {
      return Nest({element}, ForKind::kUnrolled, std::move(s));
    });
  } else {
    copy = Nest({inner}, kind, copy);
  }
  copy = Nest(reduce, ForKind::kSerial, copy);
  const int64_t filled = TotalExtent(t.c.reduce), zeros = dot.steps * dot.group - filled;
  if (zeros > 0) {
    const Var z = loop::MakeVar("z");
    const Stmt zero = store(Expr(filled) + z, loop::Const(panel->dtype, 0));
    copy = loop::MakeBlock({copy, Nest({{z, zeros}}, ForKind::kUnrolled, zero)});
  }
  return Nest({outer, row}, ForKind::kSerial, copy);
}

Buffer OnesOfRun(const DotPlan& dot, const std::string& name, Context& context) {
  const int64_t elements = dot.run_steps() * dot.group;
  if (dot.panel || elements == dot.run) return nullptr;
  const Buffer ones = loop::MakeBuffer(absl::StrCat(name, "_ones"), dot.column_factor, {elements},
                                       loop::BufferScope::kConstant);
  std::vector<int16_t> values(static_cast<size_t>(elements), 0);
  std::fill_n(values.begin(), dot.run, 1);
  context.constants.push_back({ones, SmallNumbers(ones->shape, ones->dtype, values)});
  return ones;
}

Stmt StoreSumOfLanes(const Buffer& acc, int64_t factor, const Buffer& sums, const Expr& at) {
  std::vector<Stmt> body;
  for (int64_t half = acc->num_elements() / 2; half >= 1; half /= 2) {
    const Var lane = loop::MakeVar("lane");
    const Expr sum = loop::MakeLoad(acc, {lane}) + loop::MakeLoad(acc, {lane + Expr(half)});
    body.push_back(
        loop::MakeFor(lane, 0, half, ForKind::kVectorized, loop::MakeStore(acc, {lane}, sum)));
  }
  body.push_back(loop::MakeStore(
      sums, {at}, loop::MakeLoad(acc, {Expr(0)}) * loop::IntConst(loop::Type::Of(kI32), factor)));
  return loop::MakeBlock(std::move(body));
}

Stmt SumRows(const TiledContraction& t, const Buffer& sums, const Buffer& ones,
             const GroupAt& group_at, const TilePlace& place) {
  const DotPlan& dot = *t.dot;
  const Var row = loop::MakeVar("m");
  int64_t lanes = t.plan.tile.lanes;
  while (lanes > dot.run_steps()) lanes /= 2;
  const Buffer acc = loop::MakeBuffer("row_acc", kI32, {lanes}, loop::BufferScope::kLocal);
  const auto each = [&](int64_t count, const std::function<Expr(const Expr& lane)>& value) {
    const Var lane = loop::MakeVar("lane");
    return loop::MakeFor(lane, 0, count, ForKind::kVectorized,
                         loop::MakeStore(acc, {lane}, value(lane)));
  };
  const int group = static_cast<int>(dot.group);
  const Expr all_ones = loop::IntConst(loop::Type::Of(dot.column_factor, group), 1);
  const auto ones_at = [&](const Expr& k) {
    return ones == nullptr ? all_ones
                           : loop::MakeLoad(ones, {loop::MakeRamp(k * Expr(dot.group), 1, group)});
  };
  // Adds `count` lanes of products with ones, from step `k` of a run on.
  const auto add = [&](const Expr& k, int64_t count) {
    return each(count, [&](const Expr& lane) {
      return AddDot(dot, loop::MakeLoad(acc, {lane}), group_at(row, k + lane), ones_at(k + lane));
    });
  };
  std::vector<Stmt> run;
  int64_t done = 0;
  for (int64_t count = lanes; count >= 1; count /= 2) {
    const int64_t chunks = (dot.run_steps() - done) / count;
    if (chunks == 0) continue;
    const Var i = loop::MakeVar("i");
    run.push_back(Nest({{i, chunks}}, ForKind::kSerial, add(Expr(done) + i * Expr(count), count)));
    done += chunks * count;
  }
  const std::vector<Axis> runs = {t.c.reduce.begin(),
                                  dot.panel ? t.c.reduce.begin() : t.c.reduce.end() - 1};
  std::vector<Stmt> body = {each(lanes, [&](const Expr&) { return loop::Const(kI32, 0); }),
                            Nest(runs, ForKind::kSerial, loop::MakeBlock(std::move(run)))};
  body.push_back(StoreSumOfLanes(acc, dot.shift, sums, row));
  return Nest({{row, place.outer_rows * place.rows}}, ForKind::kSerial,
              loop::MakeAllocate(acc, loop::MakeBlock(std::move(body))));
}

Expr AtTileRow(const TiledContraction& t, const Expr& e, const TilePlace& place, const Expr& row) {
  const Expr rows = place.rows;
  return loop::Substitute(e, t.plan.tile.outer_rows > 1 ? AtRow(t, place, row / rows, row % rows)
                                                        : AtRow(t, place, 0, row));
}

}  // namespace kiln::schedule
