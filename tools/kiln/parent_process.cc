// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/parent_process.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <string>

namespace kiln::tools {
namespace {

constexpr char kVariable[] = "KILN_PARENT_PROCESS";

// Ends the group of this process, which includes the C compiler and other children.
void EndGroup(int) { kill(0, SIGKILL); }

}  // namespace

void EndWithParent() {
  const char* const variable = getenv(kVariable);
  if (variable == nullptr) return;
  const std::string parent = variable;
  unsetenv(kVariable);  // does not apply to children of this process
  if (getpgrp() != getpid()) return;
  struct sigaction action = {};
  action.sa_handler = EndGroup;
  sigaction(SIGTERM, &action, nullptr);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  // The parent may have ended before the call of prctl.
  if (std::to_string(getppid()) != parent) EndGroup(SIGTERM);
}

}  // namespace kiln::tools
