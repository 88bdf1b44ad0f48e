// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/run_scope.h"

#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime_cpp/run_observer.h"

namespace kiln::runtime {
namespace {

using Clock = std::chrono::steady_clock;

// Never destroyed, because threads may run models while the program exits.
struct Observers {
  std::atomic<bool> is_set{false};
  std::shared_mutex mutex;
  RunObserver observer;  // Guarded by `mutex`.
};

Observers& TheObservers() {
  static auto& observers = *new Observers;
  return observers;
}

thread_local RunScope* current = nullptr;

}  // namespace

void SetRunObserver(RunObserver observer) {
  Observers& observers = TheObservers();
  const std::unique_lock<std::shared_mutex> lock(observers.mutex);
  observers.is_set.store(observer != nullptr, std::memory_order_release);
  observers.observer = std::move(observer);
}

RunScope::RunScope(absl::string_view model, const RunOptions& options)
    : model_(model),
      options_(options),
      is_observed_(TheObservers().is_set.load(std::memory_order_acquire)),
      is_current_(is_observed_ || options.deadline.has_value() || options.cancellation != nullptr ||
                  options.pool != nullptr),
      outer_(current) {
  if (is_current_) current = this;
  if (is_observed_) begin_ = Clock::now();
}

RunScope::~RunScope() {
  if (is_current_) current = outer_;
}

RunScope* RunScope::Current() { return current; }

absl::Status RunScope::Check() {
  if (!end_.ok()) return end_;
  if (options_.cancellation != nullptr && options_.cancellation->cancelled()) {
    end_ = absl::CancelledError(absl::StrCat("the run of model '", model_, "' was cancelled"));
  } else if (options_.deadline.has_value() && Clock::now() >= *options_.deadline) {
    end_ = absl::DeadlineExceededError(
        absl::StrCat("the run of model '", model_, "' did not end before its deadline"));
  }
  return end_;
}

absl::Status RunScope::Finish(absl::Status status) {
  if (!end_.ok()) status = end_;
  if (!is_observed_) return status;
  const RunEvent event = {.model = model_,
                          .status = status,
                          .seconds = std::chrono::duration<double>(Clock::now() - begin_).count(),
                          .parallel_operators = parallel_operators_,
                          .without_threads = without_threads_};
  Observers& observers = TheObservers();
  const std::shared_lock<std::shared_mutex> lock(observers.mutex);
  if (observers.observer != nullptr) observers.observer(event);
  return status;
}

}  // namespace kiln::runtime
