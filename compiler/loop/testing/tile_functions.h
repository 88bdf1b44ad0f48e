// SPDX-License-Identifier: Apache-2.0
// Functions with tiles of dots, for tests.
#ifndef KILN_COMPILER_LOOP_TESTING_TILE_FUNCTIONS_H_
#define KILN_COMPILER_LOOP_TESTING_TILE_FUNCTIONS_H_

#include <cstdint>
#include <string>

#include "compiler/loop/loop.h"

namespace kiln::loop {

struct TileTypes {
  DType a, b, sum;
};

// Returns a function of rows, columns and sums, in this order. It adds `repeats` consecutive tiles
// to the sums.
Func TileFunction(const std::string& name, const DotKind& kind, const TileTypes& types, int rows,
                  int columns, int64_t repeats = 1);

// Returns two such functions of one tile each: g, and f, which calls g between two tiles of its
// own.
LoopProgram TilesAroundCall(const DotKind& kind, const TileTypes& types, int rows, int columns);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_TESTING_TILE_FUNCTIONS_H_
