// SPDX-License-Identifier: Apache-2.0
// Tiles of small windows that overlap, as in pooling and depthwise convolutions. Several windows
// are computed one after another without a loop, so that elements that they share are loaded once.
#ifndef KILN_COMPILER_SCHEDULE_WINDOW_TILES_H_
#define KILN_COMPILER_SCHEDULE_WINDOW_TILES_H_

#include <vector>

#include "compiler/schedule/nest.h"

namespace kiln::schedule {

// Number of windows in a tile, and of vectors in each window. `places` counts windows along the
// last axis but one, and `rows` along the axis before it.
struct WindowTile {
  int64_t rows = 0, places = 0;
  int vectors = 0;
  bool any() const { return places > 0; }
};
// Chooses the tile of a kernel. There is none if not all reductions of the kernel are small
// windows, or if threads have nothing to share outside of a tile. All stages have the axes of the
// last one.
WindowTile ChooseWindowTile(const loop::Kernel& kernel, const Target& target);

// Returns `body` in tiles of windows at all of `place`. Each tile covers all of `count`, which are
// the vectors. `rows` is the axis of a tile's rows.
Stmt TileWindows(const WindowTile& tile, const Axis& rows, const Axis& place, const Axis& count,
                 const Stmt& body);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_WINDOW_TILES_H_
