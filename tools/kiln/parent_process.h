// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TOOLS_KILN_PARENT_PROCESS_H_
#define KILN_TOOLS_KILN_PARENT_PROCESS_H_

namespace kiln::tools {

// If the variable KILN_PARENT_PROCESS of the environment names a process: lets this process, and its
// whole process group, end with it, however it ends. The caller must lead its group. The Python
// package starts the command line that way: a process that is ended by a signal cannot end its
// children. From then on SIGTERM ends the whole group by SIGKILL, without clean-up. To be called once,
// before there are other threads.
void EndWithParent();

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_PARENT_PROCESS_H_
