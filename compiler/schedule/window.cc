// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/window.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/align.h"
#include "compiler/loop/dot_tile.h"
#include "compiler/schedule/dot_parts.h"

namespace kiln::schedule {
namespace {

// LDRD reads whole words, which have to be aligned.
constexpr int kWordBytes = 4, kRowAlignment = 8;

// Returns body(begin, count) for all of `extent`: pieces of `width` in a loop, and the rest.
Stmt InPieces(int64_t extent, int64_t width,
              const std::function<Stmt(const Expr& begin, int64_t count)>& body) {
  std::vector<Stmt> stmts;
  for (const Strip& strip : Strips(extent, width, "piece")) {
    stmts.push_back(Nest({strip.which}, ForKind::kSerial, body(strip.begin, strip.size)));
  }
  return loop::MakeBlock(std::move(stmts));
}

class WindowLoops {
 public:
  WindowLoops(const Window& window, const TiledContraction& sums, const Machine& machine)
      : w_(window), sums_(sums), machine_(machine) {
    for (const DotLoop& loop : w_.instruction->loops) {
      if (loop.slide == w_.column_stride && loop.columns == 1) tiles_.push_back(&loop);
    }
    const int64_t groups = DivideUp(w_.row.extent, machine.windows.max_shared_rows);
    shared_rows_ = DivideUp(w_.row.extent, groups);
    copied_rows_ = (shared_rows_ - 1) * w_.row_stride + w_.window_rows;
    row_elements_ = RowElements();
  }

  // True if the offsets in the loops reach all rows of a window.
  bool Fits() const {
    const DotLoop& tile = *tiles_.front();
    const int64_t last = (tile.rows - 1) * tile.slide + w_.instruction->group - 1;
    const int64_t elements = (w_.window_rows - 1) * row_elements_ + last;
    return elements * w_.instruction->a.bytes() <= DotLoop::kMaxOffset;
  }

  Stmt Emit(Context& context) {
    rows_ = loop::MakeBuffer("window_rows", w_.instruction->a, {copied_rows_ * row_elements_},
                             loop::BufferScope::kLocal, kRowAlignment);
    const bool is_local = rows_->num_bytes() <= context.target.stack_bytes;
    if (!is_local) {
      rows_ = loop::MakeBuffer(rows_->name, rows_->dtype, rows_->shape,
                               loop::BufferScope::kWorkspace, kRowAlignment);
      context.workspace.push_back(rows_);
    }
    const Axis group = {loop::MakeVar("group"), DivideUp(w_.row.extent, shared_rows_)};
    const Expr first = group.var * Expr(shared_rows_);  // row of the sums
    const Stmt body = loop::MakeBlock(
        {CopyRows(first * Expr(w_.row_stride), group.extent > 1), Sums(first, group.extent)});
    std::vector<Axis> outer = w_.outer;
    outer.insert(outer.end(), {w_.channel, group});
    const Stmt all = loop::MakeBlock(
        {Fill(Expr(0), Expr(copied_rows_), row_elements_), Nest(outer, ForKind::kSerial, body)});
    return is_local ? loop::MakeAllocate(rows_, all) : all;
  }

 private:
  // Returns the smallest tile that computes at least `count` sums, or the largest tile if none
  // does.
  const DotLoop& TileFor(int64_t count) const {
    const DotLoop* best = tiles_.front();
    for (const DotLoop* tile : tiles_) {
      if (tile->rows >= count && tile->rows < best->rows) best = tile;
    }
    return *best;
  }

  // Returns the number of elements of a row that tiles read, in whole words.
  int64_t RowElements() const {
    const int64_t width = tiles_.front()->rows, rest = w_.column.extent % width;
    const int64_t last = w_.column.extent - (rest == 0 ? width : rest);
    const int64_t sums = TileFor(rest == 0 || OneTile() ? width : rest).rows;
    const int64_t read = (last + sums - 1) * w_.column_stride + w_.instruction->group;
    return AlignUp(read, kWordBytes / w_.instruction->a.bytes());
  }

  // True if one tile in one loop computes all sums of a row, including the last ones.
  bool OneTile() const {
    return sums_.code.loops_over_rest && w_.column.extent >= tiles_.front()->rows;
  }

  // Fills `count` columns of the rows from `begin` to `end` with padding.
  Stmt Fill(const Expr& begin, const Expr& end, int64_t count) const {
    const Var row = loop::MakeVar("r"), column = loop::MakeVar("x");
    const Expr value = loop::IntConst(loop::Type::Of(rows_->dtype), w_.padding);
    const Stmt store = loop::MakeStore(rows_, {row * Expr(row_elements_) + column}, value);
    return loop::MakeFor(row, begin, end - begin, ForKind::kSerial,
                         Nest({{column, count}}, ForKind::kSerial, store));
  }

  // Copies the rows of one channel, from row `first` of the padded data on. Columns of padding are
  // already there. Rows of padding are, too, unless the same memory has held other rows (`again`).
  Stmt CopyRows(const Expr& first, bool again) const {
    const auto within = [&](int64_t data_row) {
      return loop::Max(loop::Min(Expr(data_row) - first, Expr(copied_rows_)), Expr(0));
    };
    const Expr begin = within(w_.rows.lo), end = within(w_.rows.hi + 1);
    const int64_t columns = std::min(w_.columns.hi + 1, row_elements_) - w_.columns.lo;
    const Var row = loop::MakeVar("r");
    const int64_t written_out = sums_.code.tests_runs ? 1 : machine_.code.max_written_out;
    const Stmt copy = InPieces(columns, written_out, [&](const Expr& at, int64_t count) {
      const Var x = loop::MakeVar("x");
      const Expr column = at + x + Expr(w_.columns.lo);
      const Expr element = loop::Substitute(
          w_.data, {{w_.data_row.get(), first + row}, {w_.data_column.get(), column}});
      return Nest({{x, count}}, ForKind::kUnrolled,
                  loop::MakeStore(rows_, {row * Expr(row_elements_) + column},
                                  loop::MakeCast(rows_->dtype, element)));
    });
    std::vector<Stmt> stmts = {loop::MakeFor(row, begin, end - begin, ForKind::kSerial, copy)};
    if (again) {
      stmts.push_back(Fill(Expr(0), begin, row_elements_));
      stmts.push_back(Fill(end, Expr(copied_rows_), row_elements_));
    }
    return loop::MakeBlock(std::move(stmts));
  }

  // Emits all sums of the rows that share copied rows, from row `first` on.
  Stmt Sums(const Expr& first, int64_t groups) const {
    const Var row = loop::MakeVar("i");
    const Stmt tiles = TilesOfRow(first, row);
    if (w_.row.extent == groups * shared_rows_) {
      return Nest({{row, shared_rows_}}, ForKind::kSerial, tiles);
    }
    const Expr rows = loop::Min(Expr(w_.row.extent) - first, Expr(shared_rows_));
    return loop::MakeFor(row, 0, rows, ForKind::kSerial, tiles);
  }

  Stmt TilesOfRow(const Expr& first, const Expr& row) const {
    const int64_t width = tiles_.front()->rows, extent = w_.column.extent;
    if (!OneTile() || extent % width == 0) {
      return InPieces(extent, width, [&](const Expr& begin, int64_t count) {
        return Tile(TileFor(count), first, row, begin, Expr(count));
      });
    }
    const Axis piece = {loop::MakeVar("piece"), DivideUp(extent, width)};
    const Expr begin = piece.var * Expr(width);
    const Expr count = loop::Min(Expr(extent) - begin, Expr(width));
    return Nest({piece}, ForKind::kSerial, Tile(*tiles_.front(), first, row, begin, count));
  }

  // Emits `count` sums of row `first` + `row` from column `begin` on, by `tile`, and their
  // epilogues.
  Stmt Tile(const DotLoop& tile, const Expr& first, const Expr& row, const Expr& begin,
            const Expr& count) const {
    const Buffer acc = loop::MakeBuffer("acc", kI32, {tile.rows}, loop::BufferScope::kLocal);
    const Var p = loop::MakeVar("p");
    std::vector<Stmt> stmts = {
        Nest({{p, tile.rows}}, ForKind::kUnrolled, loop::MakeStore(acc, {p}, sums_.init))};
    const loop::DotKind kind = {.instruction = std::string(w_.instruction->name),
                                .group = w_.instruction->group,
                                .swaps = w_.instruction->swaps,
                                .run = tile.run};
    const Expr data = row * Expr(w_.row_stride * row_elements_) + begin * Expr(w_.column_stride);
    const int64_t taps_of_row = w_.taps->shape.back();
    const Expr taps = w_.channel.var * Expr(w_.window_rows * taps_of_row);
    const loop::DotTile::Chain chain = {static_cast<int>(w_.window_rows), row_elements_,
                                        taps_of_row};
    stmts.push_back(loop::MakeSlidingTile(kind, tile.rows, tile.slide, chain, {acc, 0},
                                          {rows_, data}, {w_.taps, taps}));
    for (const Epilogue& epilogue : sums_.epilogues) {
      const Var q = loop::MakeVar("p");
      const loop::Substitution at = {{w_.row.var.get(), first + row},
                                     {w_.column.var.get(), begin + q}};
      std::vector<Expr> index;
      for (const Expr& e : epilogue.index) index.push_back(loop::Substitute(e, at));
      const Expr value = ReplaceLoads(epilogue.value, sums_.sums, [&](const std::vector<Expr>&) {
        return loop::MakeLoad(acc, {q});
      });
      const ForKind kind = sums_.code.loops_over_sums ? ForKind::kSerial : ForKind::kUnrolled;
      stmts.push_back(loop::MakeFor(
          q, 0, count, kind, loop::MakeStore(epilogue.buffer, index, loop::Substitute(value, at))));
    }
    return loop::MakeAllocate(acc, loop::MakeBlock(std::move(stmts)));
  }

  const Window& w_;
  const TiledContraction& sums_;
  const Machine& machine_;
  std::vector<const DotLoop*> tiles_;  // the largest first
  int64_t shared_rows_, copied_rows_, row_elements_;
  Buffer rows_;
};

}  // namespace

std::optional<Stmt> WindowNest(const loop::Kernel& kernel, const Window& window, Context& context) {
  const auto stage = std::find_if(kernel.stages.begin(), kernel.stages.end(),
                                  [](const Stage& s) { return s.combine != loop::Combine::kNone; });
  const auto which = static_cast<size_t>(stage - kernel.stages.begin());
  TiledContraction sums{
      .c = {.column = window.channel}, .sums = stage->buffer, .init = stage->init};
  sums.code = context.code;
  const bool alone = which == 0 || (which == 1 && Reads(*stage, kernel.stages[0].buffer));
  if (!alone || !CollectEpilogues(kernel, which, &sums.epilogues)) return std::nullopt;
  WindowLoops loops(window, sums, *context.target.machine);
  if (!loops.Fits()) return std::nullopt;
  // Each channel is a block of one column.
  sums.plan.tile = {.rows = 1, .vectors = 1, .lanes = 1};
  sums.block = window.channel.var;
  sums.column = Expr(0);
  sums.dot = DotPlan{.row = window.instruction, .loop = &window.instruction->loops.front()};
  UseColumnConstants(sums, TakeColumnConstants(sums, context), window.taps->name, context);
  context.description = absl::StrCat("reduction ", window.instruction->name);
  return loops.Emit(context);
}

}  // namespace kiln::schedule
