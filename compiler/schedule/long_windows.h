// SPDX-License-Identifier: Apache-2.0
// Windows of floats that overlap along a row and are too long to be written out, as those of
// depthwise convolutions of 5x5 and more: the sums of several places stay in registers while the
// windows' elements are added, each of which is loaded once for all places.
#ifndef KILN_COMPILER_SCHEDULE_LONG_WINDOWS_H_
#define KILN_COMPILER_SCHEDULE_LONG_WINDOWS_H_

#include <cstddef>
#include <cstdint>

#include "compiler/schedule/nest.h"

namespace kiln::schedule {

// So many places along an axis of the space are computed together; none where the kernel has no such
// windows, or the target too few registers for what places share.
struct LongWindowTile {
  size_t axis = 0;
  int64_t places = 0;
  bool any() const { return places > 0; }
};
// All stages of the kernel have the axes of the last one.
LongWindowTile ChooseLongWindowTile(const loop::Kernel& kernel, const Target& target);

// A stage of such a kernel inside of loops over the axes before that of the places, which are as many
// as in the tile; the last axis is the lanes of one vector.
Stmt LongWindowStage(const Stage& stage, const Target& target);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_LONG_WINDOWS_H_
