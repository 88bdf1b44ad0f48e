// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_COMPILER_LOOP_TILE_SLIDES_H_
#define KILN_COMPILER_LOOP_TILE_SLIDES_H_

#include <vector>

#include "compiler/loop/loop.h"

namespace kiln::loop {

// Returns DotTile::slide of each tile of the statement, in order. A loop over parts of a tile comes
// before the tile in it. The slide is part of the instructions of a tile and cannot be a scalar, so
// functions that differ in it share no body.
std::vector<int> SlidesOf(const Stmt& s);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_TILE_SLIDES_H_
