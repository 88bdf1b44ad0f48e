// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/tile_shape.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/align.h"
#include "compiler/schedule/nest.h"

namespace kiln::schedule {
namespace {

// Returns the largest number of the tile's rows whose cache lines fall into one set. Rows that
// begin in the same line as the row before are not counted.
int64_t LinesPerSet(const TileProblem& p, int64_t outer_rows, int64_t rows, int64_t set_span) {
  std::vector<int64_t> lines(static_cast<size_t>(set_span / kCacheLineBytes), 0);
  int64_t most = 0;
  for (int64_t o = 0; o < outer_rows; ++o) {
    int64_t before = -1;
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t line = (o * p.outer_row_stride + r * p.row_stride) / kCacheLineBytes;
      if (line == before) continue;
      before = line;
      most = std::max(most, ++lines[static_cast<size_t>(line) % lines.size()]);
    }
  }
  return most;
}

class Model {
 public:
  Model(const TileProblem& problem, const Target& target, int64_t lanes)
      : p_(problem), target_(target), n_(target.machine->tiles), lanes_(lanes) {}

  double Cost(const TileShape& tile) const {
    double cost = 0;
    const int64_t vectors = p_.reduce * DivideUp(p_.columns, lanes_);
    if (p_.cold_columns && tile.rows < p_.rows &&
        vectors * lanes_ * p_.dtype.bytes() > target_.l1_bytes / 2) {
      cost += n_.cold_column_cost * static_cast<double>(vectors);
    }
    ForParts(p_.outer_rows, tile.outer_rows, [&](int64_t outer, int64_t outer_count) {
      ForParts(p_.rows, tile.rows, [&](int64_t rows, int64_t row_count) {
        ForParts(p_.columns, tile.columns(), [&](int64_t columns, int64_t column_count) {
          const auto count = static_cast<double>(outer_count * row_count * column_count);
          cost += count * TileCost(outer, rows, DivideUp(columns, lanes_));
        });
      });
    });
    return cost;
  }

 private:
  // Calls f(size, count) for the whole tiles of an axis, and for the smaller last one.
  template <typename F>
  static void ForParts(int64_t extent, int64_t tile, const F& f) {
    if (extent >= tile) f(tile, extent / tile);
    if (extent % tile > 0) f(extent % tile, 1);
  }

  double TileCost(int64_t outer, int64_t rows, int64_t vectors) const {
    const int64_t accumulators = outer * DivideUp(rows, p_.vector_rows) * vectors;
    return static_cast<double>(p_.reduce) * StepCost(outer, rows, vectors) +
           n_.accumulator_cost * static_cast<double>(accumulators) + n_.tile_cost;
  }

  double StepCost(int64_t outer, int64_t rows, int64_t vectors) const {
    const int64_t all_rows = outer * rows;
    // As many loads are issued at once as multiply-adds. If lanes are broadcast, a vector of a row
    // holds the elements of several steps.
    const int64_t loads =
        vectors + (target_.broadcasts_lanes() ? DivideUp(all_rows, lanes_) : all_rows);
    // A broadcast from memory that is used once becomes an operand of its multiply-add.
    const bool folded = p_.folds_rows && vectors == 1 && target_.broadcasts_operands();
    const double products =
        p_.step_cost * static_cast<double>(outer * DivideUp(rows, p_.vector_rows) * vectors);
    double cost = std::max(products, static_cast<double>(std::max(loads, n_.min_chains))) +
                  n_.load_cost * static_cast<double>(folded ? vectors : loads) +
                  n_.operand_cost * static_cast<double>(folded ? all_rows : 0);
    const int64_t vector_bytes = lanes_ * p_.dtype.bytes();
    if (vectors * vector_bytes * p_.reduce > target_.l1_bytes / 2) {
      cost += n_.column_byte_cost * static_cast<double>(vectors * vector_bytes) *
              (p_.columns_outside(target_) ? 2 : 1);
    }
    const int64_t ways = std::max<int64_t>(target_.l1_bytes / n_.set_span, 1);
    if (LinesPerSet(p_, outer, rows, n_.set_span) > ways - 1) {
      cost += n_.conflict_cost * static_cast<double>(all_rows);
    }
    // Rows of a convolution overlap, and are in the cache the second time.
    const int64_t row_bytes = p_.reduce * p_.dtype.bytes();
    if (p_.columns_outside(target_) && p_.row_stride >= row_bytes &&
        p_.rows * row_bytes > target_.l1_bytes / 2) {
      cost += n_.cold_row_byte_cost * static_cast<double>(all_rows * p_.dtype.bytes());
    }
    return cost;
  }

  const TileProblem& p_;
  const Target& target_;
  const TileNumbers& n_;
  int64_t lanes_;
};

// Returns a tile of scalar sums. If the machine has vectors, the tile has one row, so that the
// epilogue can use vectors of columns.
TileShape ScalarTile(const TileProblem& p, const Target& target) {
  const int64_t sums = target.machine->tiles.scalar_sums;
  const bool columns_only = target.Lanes(p.dtype) > 1 && p.columns % sums == 0;
  const int64_t rows = columns_only ? 1 : std::min(p.rows, target.machine->tiles.scalar_rows);
  return {.rows = rows, .vectors = std::min<int64_t>(p.columns, sums / rows)};
}

// Bytes of the row factor. Rows that are closer than their length overlap, as windows do.
int64_t TileRowBytes(const TileProblem& p) {
  const int64_t length = p.reduce * p.dtype.bytes();
  const bool overlap = p.row_stride > p.dtype.bytes() && p.row_stride < length;
  return p.outer_rows * p.rows * (overlap ? p.row_stride : length);
}

int64_t MaxLanes(const TileProblem& p, const Target& target) {
  return p.lanes > 0 ? p.lanes : target.Lanes(p.dtype);
}

}  // namespace

bool TileProblem::columns_outside(const Target& target) const {
  if (keeps_rows) return false;
  return !KeepsColumns(column_bytes, target) ||
         (cold_columns && column_bytes > target.l1_bytes && column_bytes > TileRowBytes(*this));
}

int64_t TileLanes(const TileProblem& p, const Target& target) {
  int64_t lanes = MaxLanes(p, target);
  while (p.vector_rows == 1 && lanes / 2 >= p.columns) lanes /= 2;
  return lanes;
}

int64_t MaxAccumulators(const Target& target) {
  return std::max<int64_t>(target.vector_registers, 4 * target.machine->tiles.scalar_sums);
}

std::vector<TileShape> RankTiles(const TileProblem& p, const Target& target) {
  if (p.only.has_value()) return {*p.only};
  if (MaxLanes(p, target) == 1) return {ScalarTile(p, target)};
  const int64_t lanes = TileLanes(p, target);
  const TileNumbers& numbers = target.machine->tiles;
  const Model model(p, target, lanes);
  // Besides the column vectors, each vector of rows needs a register.
  const int64_t registers = target.vector_registers - numbers.scratch_registers * p.vector_rows;
  // Multiplying by the lanes of vectors takes a register for each row.
  const bool by_lane = target.broadcasts_lanes() && p.vector_rows == 1;
  std::vector<std::pair<double, TileShape>> costs;
  const auto consider = [&](const TileShape& tile) {
    const bool known = std::any_of(costs.begin(), costs.end(),
                                   [&](const auto& other) { return other.second == tile; });
    if (!known) costs.emplace_back(model.Cost(tile), tile);
  };
  // If vectors hold several rows, their number is such that each row has whole vectors.
  const int64_t unit = p.vector_rows;
  consider({.vectors = unit, .lanes = lanes});
  const int64_t max_vectors =
      std::min(AlignUp(DivideUp(p.columns, lanes), unit), numbers.max_vectors);
  for (int64_t vectors = unit; vectors <= max_vectors; vectors += unit) {
    const int64_t of_row = vectors + (by_lane ? 1 : 0);
    const int64_t spare =
        registers -
        (target.broadcasts_operands() && vectors > 1 ? numbers.early_column_registers : 0);
    const int64_t max_rows = std::max<int64_t>((spare - vectors) / of_row, 1) * p.vector_rows;
    // Rows are divided into even parts, so that the last tile is not a sliver.
    for (int64_t parts = DivideUp(p.rows, max_rows); parts <= p.rows; ++parts) {
      const int64_t rows = DivideUp(p.rows, parts);
      consider({.rows = rows, .vectors = vectors, .lanes = lanes});
      if (rows * 2 < std::min(max_rows, p.rows)) break;
    }
    // Tiles of several outer rows, each with all inner rows.
    for (int64_t outer = 2; outer <= std::min(max_rows / p.rows, p.outer_rows); ++outer) {
      consider({.outer_rows = outer, .rows = p.rows, .vectors = vectors, .lanes = lanes});
    }
  }
  std::stable_sort(costs.begin(), costs.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<TileShape> tiles;
  for (const auto& [cost, tile] : costs) tiles.push_back(tile);
  return tiles;
}

double TileCost(const TileProblem& p, const TileShape& tile, const Target& target) {
  return Model(p, target, tile.lanes).Cost(tile);
}

TileShape ChooseTile(const TileProblem& p, const Target& target) {
  return RankTiles(p, target).front();
}

std::string Text(const TileShape& tile) {
  const std::string outer = tile.outer_rows > 1 ? absl::StrCat(tile.outer_rows, "x") : "";
  return absl::StrCat(outer, tile.rows, "x", tile.vectors, "x", tile.lanes);
}

}  // namespace kiln::schedule
