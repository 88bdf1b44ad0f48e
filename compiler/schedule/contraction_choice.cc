// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/contraction_choice.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/base/align.h"
#include "compiler/base/status.h"
#include "compiler/schedule/matrices.h"
#include "compiler/schedule/register_tile.h"

namespace kiln::schedule {
namespace {

using Algorithm = ContractionChoice::Algorithm;

// Returns the extents with the strides of each form: " 54@3584 54@64".
std::string AxesText(const std::vector<Axis>& axes, const std::vector<loop::LinearForm>& forms) {
  std::string text;
  for (size_t i = 0; i < axes.size(); ++i) {
    absl::StrAppend(&text, " ", axes[i].extent);
    for (size_t f = 0; f < forms.size(); ++f) {
      absl::StrAppend(&text, f == 0 ? "@" : ",", forms[f].coefficients[i]);
    }
  }
  return text;
}

// Returns "float32", or "int32 of int8 int8" if the factors have other dtypes than the sums.
std::string DTypesText(const TiledContraction& t) {
  const DType sum = t.init.type().dtype;
  const DType x = FactorLoad(t.c.x)->buffer->dtype, y = FactorLoad(t.c.y)->buffer->dtype;
  if (x == sum && y == sum) return sum.ToString();
  return absl::StrCat(sum.ToString(), " of ", x.ToString(), " ", y.ToString());
}

std::optional<std::string> ProblemText(const TiledContraction& t, bool constant, bool winograd,
                                       const Target& target) {
  std::vector<Axis> all = t.c.batch;
  all.insert(all.end(), t.c.rows.begin(), t.c.rows.end());
  all.push_back(t.c.column);
  all.insert(all.end(), t.c.reduce.begin(), t.c.reduce.end());
  const auto x = FactorForm(t.c.x, all), y = FactorForm(t.c.y, all);
  if (!x.has_value() || !y.has_value()) return std::nullopt;
  size_t next = 0;
  // Returns the coefficients of `form` for the next `count` axes.
  const auto part = [&](const loop::LinearForm& form, size_t count) {
    const auto begin = form.coefficients.begin() + static_cast<std::ptrdiff_t>(next);
    loop::LinearForm result;
    result.coefficients.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
    return result;
  };
  std::string text = DTypesText(t);
  if (!t.c.batch.empty()) {
    absl::StrAppend(&text, " batch",
                    AxesText(t.c.batch, {part(*x, t.c.batch.size()), part(*y, t.c.batch.size())}));
  }
  next += t.c.batch.size();
  if (!t.c.rows.empty()) {
    absl::StrAppend(&text, " rows", AxesText(t.c.rows, {part(*x, t.c.rows.size())}));
  }
  next += t.c.rows.size();
  absl::StrAppend(&text, " columns", AxesText({t.c.column}, {part(*y, 1)}));
  next += 1;
  absl::StrAppend(&text, " reduce",
                  AxesText(t.c.reduce, {part(*x, t.c.reduce.size()), part(*y, t.c.reduce.size())}));
  if (constant) absl::StrAppend(&text, " constant");
  if (t.dot.has_value()) {
    absl::StrAppend(&text, t.padding.has_value() ? " padded" : "", " ",
                    t.dot->row == nullptr ? "dot" : t.dot->row->name);
  }
  int64_t cost = 0;
  for (const Epilogue& epilogue : t.epilogues) cost += Cost(epilogue.value, target);
  absl::StrAppend(&text, t.stores_sums ? " stored" : absl::StrCat(" epilogue ", cost));
  if (winograd) absl::StrAppend(&text, " 3x3");
  return text;
}

ContractionChoice Direct(const TileShape& tile, bool columns_outside) {
  return {.outer_rows = tile.outer_rows,
          .rows = tile.rows,
          .vectors = tile.vectors,
          .columns_outside = columns_outside};
}

ContractionChoice WinogradChoice(const WinogradDivision& division) {
  return {.algorithm = Algorithm::kWinograd,
          .rows = division.tile.rows,
          .vectors = division.tile.vectors,
          .outputs = division.outputs,
          .block_rows = division.block_rows};
}

// Returns one list for each kind of choice, the best choice first.
std::vector<std::vector<ContractionChoice>> Kinds(const ContractionProblem& problem,
                                                  const Target& target) {
  const bool outside = problem.tile.columns_outside(target);
  std::vector<ContractionChoice> as_modelled, reversed;
  for (const TileShape& tile : RankTiles(problem.tile, target)) {
    as_modelled.push_back(Direct(tile, outside));
    // With a single tile of rows or of columns, both orders of the loops are the same.
    const bool orders =
        tile.columns() < problem.tile.columns &&
        (tile.rows < problem.tile.rows || tile.outer_rows < problem.tile.outer_rows);
    if (orders && !problem.tile.keeps_rows) reversed.push_back(Direct(tile, !outside));
  }
  std::vector<std::vector<ContractionChoice>> kinds = {as_modelled};
  if (problem.winograd.has_value()) {
    const WinogradProblem& winograd = *problem.winograd;
    std::vector<ContractionChoice> small, large;
    for (const WinogradDivision& division : RankWinogradDivisions(winograd, target)) {
      std::vector<ContractionChoice>& kind = division.outputs == 2 ? small : large;
      if (kind.empty()) {
        const std::vector<TileShape> tiles =
            RankTiles(ProductProblem(winograd, division.block_tiles(), target), target);
        for (size_t i = 0; i < std::min(tiles.size(), target.machine->winograd.measured_tiles);
             ++i) {
          WinogradDivision other = division;
          other.tile = tiles[i];
          kind.push_back(WinogradChoice(other));
        }
      }
      kind.push_back(WinogradChoice(division));
    }
    kinds.push_back(large);
    kinds.push_back(small);
  }
  kinds.push_back(reversed);
  return kinds;
}

absl::Status CheckRange(absl::string_view field, int64_t found, int64_t most,
                        absl::string_view why) {
  if (found >= 1 && found <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": found ", found, ", wanted 1 to ", most, ", ", why));
}

absl::Status CheckAccumulators(const ContractionChoice& choice, int64_t vector_rows,
                               const Target& target) {
  const int64_t most = MaxAccumulators(target) * vector_rows;
  // Each factor is compared first, so that the product cannot overflow.
  const bool fits = choice.rows <= most && choice.outer_rows <= most && choice.vectors <= most &&
                    choice.outer_rows * choice.rows * choice.vectors <= most;
  if (fits) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "outer_rows, rows and vectors: found ", choice.outer_rows, ", ", choice.rows, " and ",
      choice.vectors, ", wanted a product of at most ", most, " accumulators"));
}

absl::Status CheckWinograd(const ContractionProblem& problem, const ContractionChoice& choice,
                           const Target& target) {
  if (!problem.winograd.has_value()) {
    return absl::InvalidArgumentError(
        "found winograd, wanted direct: this is no convolution 3 x 3 with stride 1 and constant "
        "weights that Winograd's filtering computes");
  }
  const WinogradProblem& winograd = *problem.winograd;
  if (choice.outputs != 2 && choice.outputs != 4) {
    return absl::InvalidArgumentError(
        absl::StrCat("outputs: found ", choice.outputs, ", wanted 2 or 4"));
  }
  const int64_t tile_rows = DivideUp(winograd.height, choice.outputs);
  KILN_RETURN_IF_ERROR(CheckRange("block_rows", choice.block_rows, tile_rows, "the rows of tiles"));
  const WinogradDivision division =
      DivideWinograd(winograd, choice.outputs, choice.block_rows, target);
  const int64_t most = target.machine->winograd.max_measured_block_tiles;
  if (choice.block_rows > 1 && division.block_tiles() > most) {
    return absl::InvalidArgumentError(
        absl::StrCat("block_rows: found ", choice.block_rows, ", which makes blocks of ",
                     division.block_tiles(), " tiles, wanted blocks of up to ", most, " tiles"));
  }
  KILN_RETURN_IF_ERROR(
      CheckRange("rows", choice.rows, division.block_tiles(), "the tiles of a block"));
  KILN_RETURN_IF_ERROR(CheckRange("vectors", choice.vectors,
                                  DivideUp(winograd.columns, division.tile.lanes),
                                  "the vectors of columns"));
  return CheckAccumulators(choice, 1, target);
}

}  // namespace

TileProblem TileProblemOf(const TiledContraction& t, const Target& target) {
  const Contraction& c = t.c;
  TileProblem problem{.outer_rows = RowExtent(c, 1),
                      .rows = RowExtent(c, 0),
                      .columns = c.column.extent,
                      .reduce = TotalExtent(c.reduce),
                      .column_bytes = ColumnBytes(c),
                      .dtype = t.init.type().dtype};
  std::vector<Axis> all = c.rows;
  all.insert(all.end(), c.reduce.begin(), c.reduce.end());
  const std::optional<loop::LinearForm> form = FactorForm(c.x, all);
  const size_t rows = c.rows.size();
  if (form.has_value() && rows >= 1) {
    const int64_t bytes = FactorLoad(c.x)->buffer->dtype.bytes();
    problem.row_stride = form->coefficients[rows - 1] * bytes;
    if (rows >= 2) problem.outer_row_stride = form->coefficients[rows - 2] * bytes;
  }
  if (t.dot.has_value()) {
    problem.reduce = t.dot->steps;
    problem.keeps_rows = true;
    problem.folds_rows = false;  // a whole group is broadcast
    problem.lanes = t.dot->lanes;
    problem.vector_rows = t.dot->vector_rows;
    // The rows of a vector are neighbors on the innermost row axis.
    if (problem.vector_rows > 1) problem.outer_rows = 1;
    if (t.dot->row != nullptr) problem.step_cost = t.dot->row->CostOn(target);
    if (const DotLoop* loop = t.dot->loop) {
      problem.only = TileShape{.rows = loop->rows, .vectors = loop->columns};
    } else if (t.dot->of_matrices()) {
      problem.only = TileOfMatrices(c, target);
    }
    if (t.dot->panel) {
      problem.row_stride = t.dot->steps * t.dot->group * t.dot->row_dtype.bytes();
      problem.outer_row_stride = problem.rows * problem.row_stride;
    }
  }
  return problem;
}

std::optional<ContractionProblem> AsContractionProblem(const TiledContraction& t,
                                                       const loop::Kernel& kernel, size_t which,
                                                       const Context& context) {
  const Target& target = context.target;
  ContractionProblem problem;
  problem.tile = TileProblemOf(t, target);
  const bool can_be_winograd =
      !t.stores_sums && !target.short_of_memory && target.Lanes(DType::Float(32)) >= 4;
  if (can_be_winograd) problem.winograd = AsWinogradProblem(kernel.stages[which], context);
  if (problem.winograd.has_value() && t.dot.has_value()) {
    problem.winograd->direct_products = t.dot->row->ProductsPerSlot(target);
    problem.winograd->direct_weight_bytes = t.dot->column_dtype.bytes();
  }
  const bool constant = FindConstant(context, FactorLoad(t.c.y)->buffer) != nullptr;
  problem.tile.cold_columns = constant;
  std::optional<std::string> text = ProblemText(t, constant, problem.winograd.has_value(), target);
  if (!text.has_value()) return std::nullopt;
  problem.text = *std::move(text);
  return problem;
}

ContractionChoice ChooseContraction(const ContractionProblem& problem, const Target& target) {
  if (problem.winograd.has_value()) {
    const auto division = ChooseWinogradDivision(*problem.winograd, target);
    if (division.has_value()) return WinogradChoice(*division);
  }
  return Direct(ChooseTile(problem.tile, target), problem.tile.columns_outside(target));
}

std::vector<ContractionChoice> ListContractionChoices(const ContractionProblem& problem,
                                                      const Target& target, size_t limit) {
  if (limit == 0) return {};
  const std::vector<std::vector<ContractionChoice>> kinds = Kinds(problem, target);
  const ContractionChoice model = ChooseContraction(problem, target);
  std::vector<ContractionChoice> choices;
  size_t longest = 0;
  for (const auto& kind : kinds) longest = std::max(longest, kind.size());
  for (size_t rank = 0; rank < longest; ++rank) {
    for (const auto& kind : kinds) {
      if (choices.size() == limit) return choices;
      if (rank >= kind.size()) continue;
      const ContractionChoice& choice = kind[rank];
      const bool known =
          choice == model || std::find(choices.begin(), choices.end(), choice) != choices.end();
      if (!known && CheckChoice(problem, choice, target).ok()) choices.push_back(choice);
    }
  }
  return choices;
}

absl::Status CheckChoice(const ContractionProblem& problem, const ContractionChoice& choice,
                         const Target& target) {
  if (choice.algorithm == Algorithm::kWinograd) return CheckWinograd(problem, choice, target);
  const TileProblem& tile = problem.tile;
  KILN_RETURN_IF_ERROR(
      CheckRange("outer_rows", choice.outer_rows, tile.outer_rows, "the second row axis"));
  KILN_RETURN_IF_ERROR(CheckRange("rows", choice.rows, tile.rows, "the innermost row axis"));
  KILN_RETURN_IF_ERROR(
      CheckRange("vectors", choice.vectors,
                 AlignUp(DivideUp(tile.columns, TileLanes(tile, target)), tile.vector_rows),
                 "the vectors of columns"));
  if (tile.only.has_value() && choice != Direct(*tile.only, choice.columns_outside)) {
    return absl::InvalidArgumentError(
        absl::StrCat("found a tile of ", choice.rows, " by ", choice.vectors, ", wanted ",
                     tile.only->rows, " by ", tile.only->vectors, ", which its loop is for"));
  }
  if (tile.only.has_value() && !choice.columns_outside) return absl::OkStatus();
  if (choice.columns_outside && tile.keeps_rows) {
    return absl::InvalidArgumentError(
        "order: found columns outside, wanted rows outside: rows are prepared for all columns");
  }
  return CheckAccumulators(choice, tile.vector_rows, target);
}

}  // namespace kiln::schedule
