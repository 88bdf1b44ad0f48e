// SPDX-License-Identifier: Apache-2.0
// Windows of floats that overlap along a row and are too long to be unrolled, as in depthwise
// convolutions of 5x5 and more. The sums of several places stay in registers while the elements of
// the windows are added. Each element is loaded once for all places.
#ifndef KILN_COMPILER_SCHEDULE_LONG_WINDOWS_H_
#define KILN_COMPILER_SCHEDULE_LONG_WINDOWS_H_

#include <cstddef>
#include <cstdint>

#include "compiler/schedule/nest.h"

namespace kiln::schedule {

// Number of places along an axis of the space that are computed together. It is 0 if the kernel has
// no such windows, or if the target has too few registers for the elements that places share.
struct LongWindowTile {
  size_t axis = 0;
  int64_t places = 0;
  bool any() const { return places > 0; }
};
// All stages of the kernel have the axes of the last one.
LongWindowTile ChooseLongWindowTile(const loop::Kernel& kernel, const Target& target);

// Returns a stage of such a kernel inside of loops over the axes before that of the places. The
// stage's first axis has the places of one tile, and its last axis has the lanes of one vector.
Stmt LongWindowStage(const Stage& stage, const Target& target);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_LONG_WINDOWS_H_
