// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/matrices.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"

namespace kiln::schedule {
namespace {

// Returns the size of the pieces in which a row is copied step by step.
int64_t PieceOf(const Contraction& c, int64_t group) {
  return c.reduce.size() == 1 ? group : std::gcd(c.reduce.back().extent, group);
}

// True if the row axes are one axis of the row factor, as they are after axes are merged.
bool HasOneRowAxis(const Contraction& c) {
  const auto form = FactorForm(c.x, c.rows);
  for (size_t i = 0; i + 1 < c.rows.size(); ++i) {
    const bool follows = form.has_value() &&
                         form->coefficients[i] == form->coefficients[i + 1] * c.rows[i + 1].extent;
    if (!follows) return false;
  }
  return true;
}

// True if all rows should be copied before any tile. The columns, of `column_bytes`, are then read
// from memory once.
bool StoresMatrices(const Contraction& c, bool padded, int64_t column_bytes, const Target& target) {
  return MayStoreMatrices(c, padded) && HasOneRowAxis(c) &&
         (c.column.extent > TotalExtent(c.rows) || !KeepsColumns(column_bytes, target));
}

// Copies the rows of a tile to the panel, from its element `first` on. Rows that do not exist are
// left as they are.
Stmt FillMatrices(const TiledContraction& t, const Expr& value, const Buffer& panel,
                  const Expr& first, const TilePlace& place, int64_t max_written_out) {
  const DotPlan& dot = *t.dot;
  const int64_t group = dot.group, filled = TotalExtent(t.c.reduce);
  const Axis outer = {loop::MakeVar("outer"), place.outer_rows},
             row = {loop::MakeVar("m"), place.rows};
  const Expr together = place.matrix_rows(), tile_row = outer.var * Expr(place.rows) + row.var;
  const Expr element_of_row = loop::Substitute(value, AtRow(t, place, outer.var, row.var));
  // Stores `count` contiguous elements of a step, from `begin` on.
  const auto store = [&](const Expr& step, const Expr& begin, int64_t count,
                         const std::function<Expr(const Expr&)>& x) {
    const Var element = loop::MakeVar("element");
    std::vector<Stmt> parts;
    Expr rest = x(element);
    for (int64_t part = 0; part < dot.factor_parts; ++part) {
      const Expr number = InstructionRow(dot, rest),
                 matrix = step * Expr(dot.factor_parts) + Expr(part);
      const Expr at = first + (matrix * together + tile_row) * Expr(group) + begin + element;
      parts.push_back(loop::MakeStore(panel, {at}, number));
      rest = rest - loop::MakeCast(rest.type(), number);
    }
    return Nest({{element, count}}, ForKind::kVectorized, loop::MakeBlock(std::move(parts)));
  };
  std::vector<Stmt> copy;
  std::vector<Axis> around = t.c.reduce;
  const Axis inner = around.back();
  around.pop_back();
  if (around.empty()) {
    for (const Strip& strip : Strips(inner.extent, group, "step")) {
      const Expr step = strip.begin / Expr(group);
      const ForKind kind =
          strip.which.extent <= max_written_out ? ForKind::kUnrolled : ForKind::kSerial;
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
    // Innermost axes are unrolled as long as the code stays short.
    std::vector<Axis> written_out;
    int64_t pieces = 1;
    while (!around.empty() && pieces * around.back().extent <= max_written_out) {
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

// Stores c times the sum of x' of every row of a tile in `sums`, from row `first_row` on.
// FillMatrices has copied the rows. Elements after the last one are 0.
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

// Returns the cost of a contraction in matrices, in vector multiply-adds.
double SlotsOfMatrices(const DotInstruction& row, const Contraction& c, int64_t factor_parts,
                       const Target& target) {
  const MatrixNumbers& numbers = target.machine->matrices;
  const TileShape tile = TileOfMatrices(c, target);
  const int64_t reduce = TotalExtent(c.reduce), rows = TotalExtent(c.rows),
                tile_rows = tile.outer_rows * tile.rows;
  const double of_rows = HasOneRowAxis(c)
                             ? static_cast<double>(DivideUp(rows, kMatrixSide))
                             : static_cast<double>(rows * DivideUp(tile_rows, kMatrixSide)) /
                                   static_cast<double>(tile_rows);
  const double registers =
      of_rows * static_cast<double>(DivideUp(c.column.extent, tile.columns()) * tile.vectors);
  const auto steps = static_cast<double>(DivideUp(reduce, row.group)),
             products = static_cast<double>(loop::DotShape::ProductsOf(factor_parts).size()),
             pieces = static_cast<double>(rows * DivideUp(reduce, PieceOf(c, row.group)));
  const double computed = registers * (steps * row.cost * products + numbers.slots_of_register);
  if (factor_parts == 1) return computed + pieces * numbers.slots_of_piece;
  // Columns arrive while products are computed. They are read for each tile of rows, unless all
  // rows are stored or the L2 cache keeps the columns.
  const int64_t bytes = c.column.extent * reduce * factor_parts * row.b.bytes();
  const bool stored = StoresMatrices(c, /*padded=*/false, bytes, target);
  const int64_t times = stored || KeepsColumns(bytes, target) ? 1 : DivideUp(rows, tile_rows);
  return std::max(computed,
                  static_cast<double>(bytes * times) * numbers.slots_of_byte_from_memory) +
         pieces *
             (stored ? numbers.slots_of_stored_piece_in_parts : numbers.slots_of_piece_in_parts);
}

}  // namespace

TileShape TileOfMatrices(const Contraction& c, const Target& target) {
  const int64_t most = 2 * kMatrixSide, rows = std::min(RowExtent(c, 0), most);
  const int64_t vectors = DivideUp(c.column.extent, kMatrixSide);
  const bool one = vectors % 2 == 1 && vectors <= target.machine->matrices.few_columns;
  return {.outer_rows = std::clamp<int64_t>(most / rows, 1, RowExtent(c, 1)),
          .rows = rows,
          .vectors = one ? 1 : 2,
          .lanes = kMatrixSide};
}

bool PaysMatrices(const DotInstruction& row, const Contraction& c, int64_t factor_parts,
                  const Target& target) {
  const MatrixNumbers& numbers = target.machine->matrices;
  const auto form = FactorForm(c.x, c.reduce);
  const bool contiguous = form.has_value() && form->coefficients.back() == 1;
  if (PieceOf(c, row.group) < numbers.min_piece || !contiguous || c.column.extent < kMatrixSide) {
    return false;
  }
  double vectors =
      static_cast<double>(TotalExtent(c.rows) * c.column.extent * TotalExtent(c.reduce)) /
      (row.sum.is_float() ? numbers.floats_by_vectors : numbers.bytes_by_vectors);
  if (factor_parts > 1) {
    // An element would be split again for each window that contains it.
    if (c.reduce.size() > 1) return false;
    vectors =
        std::max(vectors, static_cast<double>(ColumnBytes(c)) * numbers.slots_of_byte_from_memory);
  }
  return SlotsOfMatrices(row, c, factor_parts, target) <
         (factor_parts > 1 ? numbers.worth_parts : 1) * vectors;
}

bool MayStoreMatrices(const Contraction& c, bool padded) {
  return !padded && c.batch.empty() && TotalExtent(c.rows) > 2 * kMatrixSide;
}

void DivideMatrices(DotPlan& plan, const Contraction& c, bool padded, const Target& target) {
  const MatrixNumbers& numbers = target.machine->matrices;
  const int64_t bytes_of_row = plan.steps * plan.StepElements(1) * plan.row_dtype.bytes();
  if (c.rows.size() != 1 || !StoresMatrices(c, padded, c.column.extent * bytes_of_row, target)) {
    return;
  }
  const int64_t rows = RowExtent(c, 0), tile = TileOfMatrices(c, target).rows;
  const auto fitting = [&](int64_t parts) { return target.l2_bytes / 2 / (bytes_of_row / parts); };
  // The reduction is divided until enough rows share the columns. Reductions of integers are not
  // divided, because their sums begin with the sums of whole rows.
  const int64_t together = std::min(rows, numbers.rows_together);
  const bool may_divide =
      plan.row->sum.is_float() && together * c.column.extent * plan.row->sum.bytes() <=
                                      numbers.max_partial_sums * target.l2_bytes;
  for (int64_t parts = 2; may_divide && plan.steps / parts >= numbers.min_steps_of_part &&
                          fitting(plan.reduction_parts) < together;
       ++parts) {
    if (plan.steps % parts == 0) plan.reduction_parts = parts;
  }
  const int64_t blocks = DivideUp(rows, std::max(fitting(plan.reduction_parts), tile));
  plan.rows_per_block = AlignUp(DivideUp(rows, blocks), tile);
}

Stmt UseMatrices(TiledContraction& t, const Expr& value, const Buffer& columns, Context& context) {
  const DotPlan& dot = *t.dot;
  const bool stores = dot.stores_matrices();
  const int64_t tile =
      stores ? t.plan.tile.rows : AlignUp(t.plan.tile.outer_rows * t.plan.tile.rows, kMatrixSide);
  const int64_t rows = stores ? RowExtent(t.c, 0) : tile;
  const std::string& name = FactorLoad(t.c.x)->buffer->name;
  // All rows are in the workspace; the rows of one tile are on the stack.
  const auto buffer = [&](const char* suffix, DType dtype, Shape shape) {
    const Buffer made = loop::MakeBuffer(
        absl::StrCat(name, suffix), dtype, std::move(shape),
        stores ? loop::BufferScope::kWorkspace : loop::BufferScope::kLocal, kMatrixRowBytes);
    (stores ? context.workspace : t.row_buffers).push_back(made);
    return made;
  };
  const int64_t elements = dot.steps * dot.StepElements(tile);  // elements of a tile
  const Buffer panel = buffer("_rows", dot.row_dtype, {DivideUp(rows, tile), elements});
  Buffer sums;
  if (dot.shift != 0) {
    sums = buffer("_sums", kI32, {rows});
    t.init = t.init + loop::MakeLoad(sums, {stores ? t.c.rows[0].var : t.tile_row});
  }
  const TiledContraction before = t;  // with the reduction axes of the rows

  const Var step = loop::MakeVar("k");
  const int group = static_cast<int>(dot.group);
  std::vector<Expr> index;
  for (const Axis& axis : t.c.batch) index.push_back(axis.var);
  index.insert(index.end(), {t.block, step, loop::MakeRamp(t.column * Expr(dot.group), 1, group)});
  t.x = loop::MakeLoad(panel, {loop::MakeRamp(step * Expr(dot.group), 1, group)});
  t.y = loop::MakeLoad(columns, std::move(index));
  t.c.reduce = {{step, dot.steps}};

  const MatrixNumbers& numbers = context.target.machine->matrices;
  const int64_t written_out = numbers.max_pieces_written_out;
  const auto copy = [=](const Expr& first, const Expr& first_row, const TilePlace& place) {
    const Stmt fill = FillMatrices(before, value, panel, first, place, written_out);
    if (sums == nullptr) return fill;
    return loop::MakeBlock({fill, SumMatrixRows(before, panel, first, sums, first_row, place)});
  };
  if (!stores) {
    t.before_rows = [copy](const TilePlace& place) { return copy(0, 0, place); };
    return {};
  }
  const int64_t cost = dot.factor_parts == 1 ? 1 : numbers.cost_of_split_element;
  const bool threads = WorthThreads(rows * TotalExtent(before.c.reduce) * cost, context.target);
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
