// SPDX-License-Identifier: Apache-2.0
// The workspace of a function: the buffers that its stages pass to each other.
#ifndef KILN_COMPILER_SCHEDULE_WORKSPACE_H_
#define KILN_COMPILER_SCHEDULE_WORKSPACE_H_

#include <vector>

#include "compiler/loop/loop.h"

namespace kiln::schedule {

// Allocates the workspace buffers that a function's body uses, around the body. They follow each
// other in a parameter, each aligned to `alignment` bytes. Buffers of one type share memory if the
// last statement that uses one of them comes before the first that uses the other.
void PlaceWorkspace(std::vector<loop::Buffer> buffers, int alignment, loop::Func& func);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_WORKSPACE_H_
