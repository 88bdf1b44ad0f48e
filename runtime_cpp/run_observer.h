// SPDX-License-Identifier: Apache-2.0
//
// Metrics and logs of runs: a function of the program's that hears of each run of Model and Executor.
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
  absl::string_view model;  // the name of its module
  absl::Status status;
  double seconds = 0;  // from the call to its end, checks and copies of inputs included
  // Operators whose loops are shared among threads, and how many of them the caller computed alone,
  // because another run had the threads at that moment.
  int64_t parallel_operators = 0;
  int64_t without_threads = 0;
};

// Called on the thread of the run, at its end, by any number of threads at once. It must not throw.
using RunObserver = std::function<void(const RunEvent&)>;

// Runs that begin from now on are observed; an empty function ends that. Returns when no run calls the
// observer before any more, so that it must not be called from an observer. A run that is not observed
// costs one load of an atomic.
void SetRunObserver(RunObserver observer);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_RUN_OBSERVER_H_
