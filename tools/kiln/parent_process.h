// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TOOLS_KILN_PARENT_PROCESS_H_
#define KILN_TOOLS_KILN_PARENT_PROCESS_H_

namespace kiln::tools {

// If the environment variable KILN_PARENT_PROCESS names a process, this process and its group end
// with that process, however it ends. The caller must lead its group. The Python package starts the
// command line in this way, because a process that is killed by a signal cannot end its children.
// After the call, SIGTERM kills the whole group with SIGKILL, without clean-up. Must be called
// once, before there are other threads.
void EndWithParent();

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_PARENT_PROCESS_H_
