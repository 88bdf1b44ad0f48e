// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TOOLS_KILN_LACK_OF_MEMORY_H_
#define KILN_TOOLS_KILN_LACK_OF_MEMORY_H_

namespace kiln::tools {

// From here on the process ends with a line on standard error and status 1, and without its
// temporary folders, where `new` finds no memory. Files are complete or not there: what is written
// appears when it is whole (files.h). It may be called before any initializer has run.
void EndOnLackOfMemory();

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_LACK_OF_MEMORY_H_
