// SPDX-License-Identifier: Apache-2.0
//
// Options of one run: when it has to end, and on which threads it computes.
//
//   CancellationToken token;  // another thread calls token.Cancel()
//   model.Run(inputs, outputs, RunOptions{.deadline = Clock::now() + 20ms, .cancellation = &token});
#ifndef KILN_RUNTIME_CPP_RUN_OPTIONS_H_
#define KILN_RUNTIME_CPP_RUN_OPTIONS_H_

#include <atomic>
#include <chrono>
#include <optional>

namespace kiln::runtime {

class ThreadPool;

// Tells runs to end. One token may be given to any number of runs, and outlives them.
class CancellationToken {
 public:
  // May be called from any thread and from a signal handler.
  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  // The token serves new runs.
  void Reset() { cancelled_.store(false, std::memory_order_relaxed); }
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> cancelled_{false};
};

// A run looks at the deadline and the token before it begins and before each operator whose loops are
// shared among threads, or each operator of a graph executor's. If it ends early, its outputs have no
// meaning, and its status is DeadlineExceeded or Cancelled.
struct RunOptions {
  std::optional<std::chrono::steady_clock::time_point> deadline = std::nullopt;
  const CancellationToken* cancellation = nullptr;
  // The threads of this run's operators; null: those of the model, which are ThreadPool::Global()'s if
  // it was given none. The pool outlives the run.
  ThreadPool* pool = nullptr;
};

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_RUN_OPTIONS_H_
