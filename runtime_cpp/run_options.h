// SPDX-License-Identifier: Apache-2.0
//
// Options of one run: its deadline, its cancellation and its threads.
//
//   CancellationToken token;  // another thread calls token.Cancel()
//   model.Run(inputs, outputs,
//             RunOptions{.deadline = Clock::now() + 20ms, .cancellation = &token});
#ifndef KILN_RUNTIME_CPP_RUN_OPTIONS_H_
#define KILN_RUNTIME_CPP_RUN_OPTIONS_H_

#include <atomic>
#include <chrono>
#include <optional>

namespace kiln::runtime {

class ThreadPool;

// A flag that ends runs early. Any number of runs may use one token, which must outlive them.
class CancellationToken {
 public:
  // May be called from any thread and from a signal handler.
  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  // Makes the token usable for new runs.
  void Reset() { cancelled_.store(false, std::memory_order_relaxed); }
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> cancelled_{false};
};

// A run checks the deadline and the token before it begins, before each operator whose loops are
// shared among threads, and before each operator of a graph executor. If it ends early, its outputs
// are undefined, and its status is DeadlineExceeded or Cancelled.
struct RunOptions {
  std::optional<std::chrono::steady_clock::time_point> deadline = std::nullopt;
  const CancellationToken* cancellation = nullptr;
  // Threads of the run's operators. Null: those of the model, or ThreadPool::Global() if the model
  // has none. The pool must outlive the run.
  ThreadPool* pool = nullptr;
};

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_RUN_OPTIONS_H_
