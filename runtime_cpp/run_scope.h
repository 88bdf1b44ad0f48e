// SPDX-License-Identifier: Apache-2.0
//
// RunScope: the current run of a thread. Functions of the runtime that compiled code calls find the
// options of the run in it.
#ifndef KILN_RUNTIME_CPP_RUN_SCOPE_H_
#define KILN_RUNTIME_CPP_RUN_SCOPE_H_

#include <chrono>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "runtime_cpp/run_options.h"

namespace kiln::runtime {

class RunScope {
 public:
  // Marks the thread as being in a run of `model` until Finish. `model` and `options` must outlive
  // the scope. A run inside of a run, of a model that an operator's function calls, has its own
  // scope.
  RunScope(absl::string_view model, const RunOptions& options);
  ~RunScope();
  RunScope(const RunScope&) = delete;
  RunScope& operator=(const RunScope&) = delete;

  // Returns the innermost run of this thread that has options or an observer; null if none.
  static RunScope* Current();

  // Returns Cancelled or DeadlineExceeded if the run has to end, and the same on all later calls.
  absl::Status Check();

  // Returns the status of the run: that of Check if it ended the run, else `status`. Calls the
  // observer.
  absl::Status Finish(absl::Status status);

  ThreadPool* pool() const { return options_.pool; }
  void CountParallelOperator() { ++parallel_operators_; }
  void CountWithoutThreads() { ++without_threads_; }

 private:
  const absl::string_view model_;
  const RunOptions& options_;
  const bool is_observed_;
  const bool is_current_;  // If false, the scope does nothing.
  RunScope* const outer_;
  std::chrono::steady_clock::time_point begin_;
  absl::Status end_;  // Reason why the run had to end.
  int64_t parallel_operators_ = 0;
  int64_t without_threads_ = 0;
};

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_RUN_SCOPE_H_
