// SPDX-License-Identifier: Apache-2.0
// Runs functions in separate processes, so that a crash or a hang affects only one of them.
//
//   RunInProcesses(cases.size(), {.jobs = 2}, [&](size_t i) { return Check(cases[i]); },
//                  [&](size_t i, const ProcessEnd& end) { Report(cases[i], end); });
#ifndef KILN_TOOLS_KILN_PROCESSES_H_
#define KILN_TOOLS_KILN_PROCESSES_H_

#include <cstddef>
#include <functional>
#include <string>

#include "absl/status/status.h"

namespace kiln::tools {

struct ProcessOptions {
  int jobs = 1;             // maximum number at a time
  int timeout_seconds = 0;  // 0: no limit
};

struct ProcessEnd {
  std::string output;   // the function's result
  std::string failure;  // empty, or the reason of an abnormal end: "crashed (Segmentation fault)"
};

// Calls `task(i)` for all i below `count`, each in a copy of this process. Calls `done(i, …)` in
// this process as they end. This process must have only one thread. Internal if the system cannot
// create more processes.
absl::Status RunInProcesses(size_t count, const ProcessOptions& options,
                            const std::function<std::string(size_t)>& task,
                            const std::function<void(size_t, const ProcessEnd&)>& done);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_PROCESSES_H_
