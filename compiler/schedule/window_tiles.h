// SPDX-License-Identifier: Apache-2.0
// Small windows that overlap, as those of pooling and of depthwise convolutions: several are
// computed one after the other without a loop, so that what more than one of them reads is loaded
// once.
#ifndef KILN_COMPILER_SCHEDULE_WINDOW_TILES_H_
#define KILN_COMPILER_SCHEDULE_WINDOW_TILES_H_

#include <vector>

#include "compiler/schedule/nest.h"

namespace kiln::schedule {

// Of a window that is written out.
inline constexpr int64_t kMaxWindowTerms = 16;

// Of vector registers, so that windows of two rows, or long ones, keep what they share.
inline constexpr int kManyRegisters = 32;

// So many windows of so many vectors each: along the last axis but one (places) and along the axis
// outside of it (rows).
struct WindowTile {
  int64_t rows = 0, places = 0;
  int vectors = 0;
  bool any() const { return places > 0; }
};
// No windows where not all reductions of the kernel are small ones, or threads have nothing to share
// outside of a tile. All stages have the axes of the last one.
WindowTile ChooseWindowTile(const loop::Kernel& kernel, const Target& target);

// `body` in tiles of windows at all of `place`; each tile for all of `count`, the vectors. `rows`
// is the axis of a tile's rows.
Stmt TileWindows(const WindowTile& tile, const Axis& rows, const Axis& place, const Axis& count,
                 const Stmt& body);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_WINDOW_TILES_H_
