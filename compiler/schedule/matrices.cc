// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/matrices.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"

namespace kiln::schedule {
namespace {

const DType kI32 = DType::Int(32);

constexpr int64_t kMinPiece = 16;             // elements of a row that are copied at once
constexpr int64_t kMaxPiecesWrittenOut = 16;  // in one iteration of a loop
// Issue slots that a register of sums costs besides products, and that a piece of a row does; and what a slot
// multiplies by vectors. Measured on Granite Rapids, with the convolutions of MLPerf Tiny.
constexpr double kSlotsOfRegister = 120, kSlotsOfPiece = 4;
constexpr double kBytesByVectors = 54, kFloatsByVectors = 14;

// Of a row that is copied step by step: in how large pieces.
int64_t PieceOf(const Contraction& c, int64_t group) {
  return c.reduce.size() == 1 ? group : std::gcd(c.reduce.back().extent, group);
}

// Copies the rows of a tile to the panel, from its element `first` on. Rows that do not exist are left as
// they are.
Stmt FillMatrices(const TiledContraction& t, const Expr& value, const Buffer& panel,
                  const Expr& first, const TilePlace& place) {
  const DotPlan& dot = *t.dot;
  const int64_t group = dot.group, filled = TotalExtent(t.c.reduce);
  const Axis outer = {loop::MakeVar("outer"), place.outer_rows},
             row = {loop::MakeVar("m"), place.rows};
  const Expr together = place.matrix_rows(), tile_row = outer.var * Expr(place.rows) + row.var;
  const Expr element_of_row = loop::Substitute(value, AtRow(t, place, outer.var, row.var));
  // `count` elements of a step, from `begin` on, which lie side by side.
  const auto store = [&](const Expr& step, const Expr& begin, int64_t count,
                         const std::function<Expr(const Expr&)>& x) {
    const Var element = loop::MakeVar("element");
    const Expr at = first + (step * together + tile_row) * Expr(group) + begin + element;
    return Nest({{element, count}}, ForKind::kVectorized,
                loop::MakeStore(panel, {at}, InstructionRow(dot, x(element))));
  };
  std::vector<Stmt> copy;
  std::vector<Axis> around = t.c.reduce;
  const Axis inner = around.back();
  around.pop_back();
  if (around.empty()) {
    for (const Strip& strip : Strips(inner.extent, group, "step")) {
      const Expr step = strip.begin / Expr(group);
      const ForKind kind =
          strip.which.extent <= kMaxPiecesWrittenOut ? ForKind::kUnrolled : ForKind::kSerial;
      copy.push_back(Nest({strip.which}, kind, store(step, 0, strip.size, [&](const Expr& element) {
                            return loop::Substitute(element_of_row,
                                                    {{inner.var.get(), strip.begin + element}});
                          })));
    }
  } else {
    const int64_t piece = PieceOf(t.c, group), of_step = group / piece;
    const Axis which = {loop::MakeVar("piece"), inner.extent / piece};
    Expr run = 0;
    for (const Axis& axis : around) run = run * Expr(axis.extent) + axis.var;
    const Expr at = run * Expr(which.extent) + which.var;
    const Stmt of_piece = store(
        at / Expr(of_step), at % Expr(of_step) * Expr(piece), piece, [&](const Expr& element) {
          return loop::Substitute(element_of_row,
                                  {{inner.var.get(), which.var * Expr(piece) + element}});
        });
    around.push_back(which);
    // As many of the innermost axes as make no long code are written out.
    std::vector<Axis> written_out;
    int64_t pieces = 1;
    while (!around.empty() && pieces * around.back().extent <= kMaxPiecesWrittenOut) {
      pieces *= around.back().extent;
      written_out.insert(written_out.begin(), around.back());
      around.pop_back();
    }
    copy.push_back(Nest(around, ForKind::kSerial, Nest(written_out, ForKind::kUnrolled, of_piece)));
  }
  const DType of_data = value.type().dtype;
  const auto zeros = [&](const Expr&) { return loop::Const(of_data, 0); };
  if (const int64_t rest = filled % group; rest > 0) {
    copy.push_back(store(filled / group, rest, group - rest, zeros));
  }
  return Nest({outer, row}, ForKind::kSerial, loop::MakeBlock(std::move(copy)));
}

// Stores c times the sum of x' of every row of a tile in `sums`, from row `first_row` on, of what FillMatrices
// has copied. Elements behind the last are 0.
Stmt SumMatrixRows(const TiledContraction& t, const Buffer& panel, const Expr& first,
                   const Buffer& sums, const Expr& first_row, const TilePlace& place) {
  const DotPlan& dot = *t.dot;
  const Var row = loop::MakeVar("m"), step = loop::MakeVar("step"), lane = loop::MakeVar("lane");
  const Buffer acc = loop::MakeBuffer("row_acc", kI32, {kMatrixSide}, loop::BufferScope::kLocal);
  const auto each = [&](const Expr& value) {
    return Nest({{lane, kMatrixSide}}, ForKind::kVectorized, loop::MakeStore(acc, {lane}, value));
  };
  const Expr sum = loop::MakeLoad(acc, {lane});
  std::vector<Stmt> parts;
  for (int64_t k = 0; k < dot.group; k += kMatrixSide) {
    const Expr at =
        first + (step * Expr(place.matrix_rows()) + row) * Expr(dot.group) + Expr(k) + lane;
    parts.push_back(each(sum + loop::MakeCast(kI32, loop::MakeLoad(panel, {at}))));
  }
  std::vector<Stmt> body = {each(loop::Const(kI32, 0)), Nest({{step, dot.steps}}, ForKind::kSerial,
                                                             loop::MakeBlock(std::move(parts)))};
  body.push_back(StoreSumOfLanes(acc, dot.shift, sums, first_row + row));
  return Nest({{row, place.outer_rows * place.rows}}, ForKind::kSerial,
              loop::MakeAllocate(acc, loop::MakeBlock(std::move(body))));
}

}  // namespace

TileShape TileOfMatrices(const Contraction& c) {
  constexpr int64_t kRows = 2 * kMatrixSide, kFewColumns = 5;
  const int64_t rows = std::min(RowExtent(c, 0), kRows);
  const int64_t vectors = DivideUp(c.column.extent, kMatrixSide);
  const bool one = vectors % 2 == 1 && vectors <= kFewColumns;
  return {.outer_rows = std::clamp<int64_t>(kRows / rows, 1, RowExtent(c, 1)),
          .rows = rows,
          .vectors = one ? 1 : 2,
          .lanes = kMatrixSide};
}

bool PaysMatrices(const DotInstruction& row, const Contraction& c) {
  const int64_t piece = PieceOf(c, row.group), reduce = TotalExtent(c.reduce);
  const auto form = FactorForm(c.x, c.reduce);
  const bool contiguous = form.has_value() && form->coefficients.back() == 1;
  if (piece < kMinPiece || !contiguous || c.column.extent < kMatrixSide) return false;
  const TileShape tile = TileOfMatrices(c);
  const auto rows = static_cast<double>(TotalExtent(c.rows));
  const double tiles = rows / static_cast<double>(tile.outer_rows * tile.rows) *
                       static_cast<double>(DivideUp(c.column.extent, tile.columns()));
  const auto registers =
      static_cast<double>(DivideUp(tile.outer_rows * tile.rows, kMatrixSide) * tile.vectors);
  const auto steps = static_cast<double>(DivideUp(reduce, row.group));
  const double matrices = tiles * registers * (steps * row.cost + kSlotsOfRegister) +
                          rows * static_cast<double>(DivideUp(reduce, piece)) * kSlotsOfPiece;
  const double vectors = rows * static_cast<double>(c.column.extent * reduce) /
                         (row.sum.is_float() ? kFloatsByVectors : kBytesByVectors);
  return matrices < vectors;
}

bool MayStoreMatrices(const Contraction& c, bool padded) {
  return !padded && c.batch.empty() && TotalExtent(c.rows) > 2 * kMatrixSide;
}

int64_t RowsPerBlock(const Contraction& c, const DotPlan& plan, bool padded, const Target& target) {
  if (!MayStoreMatrices(c, padded) || c.rows.size() != 1) return 0;
  const int64_t rows = RowExtent(c, 0), tile = TileOfMatrices(c).rows;
  const int64_t bytes_of_row = plan.steps * plan.group * plan.row_dtype.bytes();
  const bool pays = c.column.extent > rows || !KeepsColumns(c.column.extent * bytes_of_row, target);
  if (!pays) return 0;
  const int64_t fitting = target.l2_bytes / 2 / bytes_of_row;
  const int64_t blocks = DivideUp(rows, std::max(fitting, tile));
  return AlignUp(DivideUp(rows, blocks), tile);
}

Stmt UseMatrices(TiledContraction& t, const Expr& value, const Buffer& columns, Context& context) {
  const DotPlan& dot = *t.dot;
  const bool stores = dot.stores_matrices();
  const int64_t tile = stores ? t.tile.rows : AlignUp(t.tile.outer_rows * t.tile.rows, kMatrixSide);
  const int64_t rows = stores ? RowExtent(t.c, 0) : tile;
  const std::string& name = FactorLoad(t.c.x)->buffer->name;
  // All rows are in the workspace, those of one tile on the stack.
  const auto buffer = [&](const char* suffix, DType dtype, Shape shape) {
    const Buffer made = loop::MakeBuffer(
        absl::StrCat(name, suffix), dtype, std::move(shape),
        stores ? loop::BufferScope::kWorkspace : loop::BufferScope::kLocal, kMatrixRowBytes);
    (stores ? context.workspace : t.row_buffers).push_back(made);
    return made;
  };
  const int64_t elements = dot.steps * tile * dot.group;  // of a tile
  const Buffer panel = buffer("_rows", dot.row_dtype, {DivideUp(rows, tile), elements});
  Buffer sums;
  if (dot.shift != 0) {
    sums = buffer("_sums", kI32, {rows});
    t.init = t.init + loop::MakeLoad(sums, {stores ? t.c.rows[0].var : t.tile_row});
  }
  const TiledContraction before = t;  // with the reduction as the rows have it

  const Var step = loop::MakeVar("k");
  const int group = static_cast<int>(dot.group);
  std::vector<Expr> index;
  for (const Axis& axis : t.c.batch) index.push_back(axis.var);
  index.insert(index.end(), {t.block, step, loop::MakeRamp(t.column * Expr(dot.group), 1, group)});
  t.x = loop::MakeLoad(panel, {loop::MakeRamp(step * Expr(dot.group), 1, group)});
  t.y = loop::MakeLoad(columns, std::move(index));
  t.c.reduce = {{step, dot.steps}};

  const auto copy = [=](const Expr& first, const Expr& first_row, const TilePlace& place) {
    const Stmt fill = FillMatrices(before, value, panel, first, place);
    if (sums == nullptr) return fill;
    return loop::MakeBlock({fill, SumMatrixRows(before, panel, first, sums, first_row, place)});
  };
  if (!stores) {
    t.before_rows = [copy](const TilePlace& place) { return copy(0, 0, place); };
    return {};
  }
  const bool threads = WorthThreads(rows * TotalExtent(before.c.reduce), context.target);
  std::vector<Stmt> stmts;
  for (const Strip& strip : Strips(rows, tile, "row_tile")) {
    const Expr first = strip.begin / Expr(tile) * Expr(elements);
    const bool parallel = threads && strip.which.extent > 1;
    stmts.push_back(Nest({strip.which}, parallel ? ForKind::kParallel : ForKind::kSerial,
                         copy(first, strip.begin, {.row = strip.begin, .rows = strip.size})));
  }
  return loop::MakeBlock(std::move(stmts));
}

}  // namespace kiln::schedule
