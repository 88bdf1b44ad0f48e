// SPDX-License-Identifier: Apache-2.0
// Stages that are computed one after another inside of loops over the axes that all of them walk
// alike ("compute at"), with small local buffers between them.
#ifndef KILN_COMPILER_SCHEDULE_SHARED_LOOPS_H_
#define KILN_COMPILER_SCHEDULE_SHARED_LOOPS_H_

#include <vector>

#include "compiler/schedule/nest.h"

namespace kiln::schedule {

// Returns the number of leading axes that all stages share. Every stage has them with the same
// extents, stores at them unless it stores an output, and reads other stages at them.
size_t SharedAxes(const loop::Kernel& kernel);

// Returns the part [begin, begin + extent) of the axis at `position`, which all stages share.
loop::Kernel TileOfAxis(const loop::Kernel& kernel, size_t position, const Expr& begin,
                        int64_t extent);

// Stages with their first axes renamed to `outer`, and small buffers of the remaining dimensions
// between them, of the given scope. The last stage that reads such a buffer writes over it if it
// reads it element by element.
struct Inner {
  std::vector<Stage> stages;
  std::vector<Buffer> buffers;
  int64_t bytes = 0;  // bytes of all buffers
};
Inner MakeInner(const loop::Kernel& kernel, const std::vector<Axis>& outer,
                loop::BufferScope scope = loop::BufferScope::kLocal);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_SHARED_LOOPS_H_
