// SPDX-License-Identifier: Apache-2.0
// For tests: functions with tiles of dots.
#ifndef KILN_COMPILER_LOOP_TESTING_TILE_FUNCTIONS_H_
#define KILN_COMPILER_LOOP_TESTING_TILE_FUNCTIONS_H_

#include <cstdint>
#include <string>

#include "compiler/loop/loop.h"

namespace kiln::loop {

struct TileTypes {
  DType a, b, sum;
};

// A function of rows, columns and sums, in this order, that adds `repeats` tiles, one behind the other, to
// the sums.
Func TileFunction(const std::string& name, const DotKind& kind, const TileTypes& types, int rows,
                  int columns, int64_t repeats = 1);

// Two such functions of one tile: g, and f, which calls g between two tiles of its own.
LoopProgram TilesAroundCall(const DotKind& kind, const TileTypes& types, int rows, int columns);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_TESTING_TILE_FUNCTIONS_H_
