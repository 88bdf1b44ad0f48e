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

// The C compiler and other children are in the group of this process.
void EndGroup(int) { kill(0, SIGKILL); }

}  // namespace

void EndWithParent() {
  const char* const variable = getenv(kVariable);
  if (variable == nullptr) return;
  const std::string parent = variable;
  unsetenv(kVariable);  // It is not the parent of this process's children.
  if (getpgrp() != getpid()) return;
  struct sigaction action = {};
  action.sa_handler = EndGroup;
  sigaction(SIGTERM, &action, nullptr);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  // The parent may have ended before the call.
  if (std::to_string(getppid()) != parent) EndGroup(SIGTERM);
}

}  // namespace kiln::tools
