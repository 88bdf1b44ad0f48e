// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TOOLS_KILN_LACK_OF_MEMORY_H_
#define KILN_TOOLS_KILN_LACK_OF_MEMORY_H_

namespace kiln::tools {

// From this call on, the process ends if `new` finds no memory: with a line on standard error,
// status 1, and without temporary folders. Output files are complete or absent, because they appear
// only when complete (files.h). May be called before any initializer has run.
void EndOnLackOfMemory();

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_LACK_OF_MEMORY_H_
