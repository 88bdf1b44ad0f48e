// SPDX-License-Identifier: Apache-2.0
//
// Metrics and logs of runs: a function of the program that is called for each run of a Model or
// Executor.
//
//   SetRunObserver([](const RunEvent& run) {
//     run_seconds.Observe(run.seconds);
//     if (!run.status.ok()) LOG(ERROR) << run.model << ": " << run.status;
//   });
#ifndef KILN_RUNTIME_CPP_RUN_OBSERVER_H_
#define KILN_RUNTIME_CPP_RUN_OBSERVER_H_

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace kiln::runtime {

struct RunEvent {
  absl::string_view model;  // Name of the model's module.
  absl::Status status;
  double seconds = 0;  // Duration from the call to its end, with checks and copies of inputs.
  // Number of operators whose loops are shared among threads, and of those among them that ran on
  // the calling thread only because another run had the threads.
  int64_t parallel_operators = 0;
  int64_t without_threads = 0;
};

// Called on the thread of the run at its end, and by several threads at the same time. It must not
// throw.
using RunObserver = std::function<void(const RunEvent&)>;

// Sets the observer of runs that begin after this call. An empty function removes it. When the
// function returns, no run calls the previous observer any more. It must therefore not be called
// from an observer. A run without an observer costs one load of an atomic.
void SetRunObserver(RunObserver observer);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_RUN_OBSERVER_H_
