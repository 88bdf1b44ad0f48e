// SPDX-License-Identifier: Apache-2.0
// An analytic model that selects the convolutions that Winograd's filtering computes, and divides
// their tiles.
#ifndef KILN_COMPILER_SCHEDULE_WINOGRAD_PLAN_H_
#define KILN_COMPILER_SCHEDULE_WINOGRAD_PLAN_H_

#include <optional>
#include <vector>

#include "compiler/schedule/families.h"
#include "compiler/schedule/tile_shape.h"

namespace kiln::schedule {

// A 3 × 3 convolution with stride 1:
// out[n, h, w, o] = sum x[n, h + i, w + j, c] * y[i, j, c, o].
struct WinogradProblem {
  const loop::Load* x = nullptr;
  Buffer weights = nullptr;       // a constant
  loop::LinearForm weights_form;  // in i, j, c, o
  int64_t batch = 1, height = 0, width = 0, channels = 0, columns = 0;
  // Properties of the direct sum: products in the time of one vector multiply-add (0: the number of
  // lanes), and bytes of a weight.
  double direct_products = 0, direct_weight_bytes = sizeof(float);
};

// Returns the problem that a stage computes; nothing if it is another one, or has too few channels.
std::optional<WinogradProblem> AsWinogradProblem(const Stage& stage, const Context& context);

// Division of the tiles.
struct WinogradDivision {
  int64_t outputs = 4;       // m: a tile has m × m outputs
  int64_t tile_rows = 0;     // rows of tiles
  int64_t tile_columns = 0;  // tiles in a row
  int64_t block_rows = 0;    // rows of tiles in a block
  TileShape tile = {};       // register tile of the products
  double cost = 0;           // in vector multiply-adds

  int64_t blocks() const { return DivideUp(tile_rows, block_rows); }
  int64_t block_tiles() const { return block_rows * tile_columns; }
  int64_t column_blocks(const WinogradProblem& problem) const {
    return DivideUp(problem.columns, tile.columns());
  }
  // True if threads share blocks of columns instead of blocks of tiles.
  bool shares_columns() const { return blocks() == 1; }
};

// Returns the division into blocks of `block_rows` rows of tiles, with m = `outputs`. It includes
// the register tile that the model chooses, and the cost.
WinogradDivision DivideWinograd(const WinogradProblem& problem, int64_t outputs, int64_t block_rows,
                                const Target& target);
// Returns the inputs of the choice of the products' register tile for blocks of `tiles` tiles.
TileProblem ProductProblem(const WinogradProblem& problem, int64_t tiles, const Target& target);

// True if transformed weights of `bytes` stay in the L2 cache from one block of tiles to the next.
bool KeepsWeights(double bytes, const Target& target);

// Returns the divisions that the model compares, the best first.
std::vector<WinogradDivision> RankWinogradDivisions(const WinogradProblem& problem,
                                                    const Target& target);
// Returns the best division; nothing if the direct sum is better.
std::optional<WinogradDivision> ChooseWinogradDivision(const WinogradProblem& problem,
                                                       const Target& target);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_WINOGRAD_PLAN_H_
