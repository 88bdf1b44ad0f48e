// SPDX-License-Identifier: Apache-2.0
// Functions in processes of their own: one that crashes or hangs takes nothing else along.
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
  int jobs = 1;             // at a time
  int timeout_seconds = 0;  // 0: no limit
};

struct ProcessEnd {
  std::string output;   // what the function returned
  std::string failure;  // empty, or how it ended instead: "crashed (Segmentation fault)"
};

// Calls `task(i)` for all i below `count`, each in a copy of this process, and here `done(i, …)` as
// they end. To be called while this process has one thread. Internal if the system has no more
// processes.
absl::Status RunInProcesses(size_t count, const ProcessOptions& options,
                            const std::function<std::string(size_t)>& task,
                            const std::function<void(size_t, const ProcessEnd&)>& done);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_PROCESSES_H_
