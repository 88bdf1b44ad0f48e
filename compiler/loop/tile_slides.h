// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_COMPILER_LOOP_TILE_SLIDES_H_
#define KILN_COMPILER_LOOP_TILE_SLIDES_H_

#include <vector>

#include "compiler/loop/loop.h"

namespace kiln::loop {

// The distance of the rows of each tile of dots of the statement (DotTile::slide), in the order of the
// tiles, a loop over parts of one before the tile within it. Statements that differ in it are not alike: no
// variable can stand for the distance, which is part of the instructions of a tile.
std::vector<int> SlidesOf(const Stmt& s);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_TILE_SLIDES_H_
