// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/progress.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <system_error>

namespace kiln::tools {

Progress::Progress(std::string what) : what_(std::move(what)) {
  if (!isatty(STDERR_FILENO)) return;
  try {
    thread_ = std::thread([this] { Show(); });
  } catch (const std::system_error&) {
    // The system has no more threads; the work goes on without the line.
  }
}

Progress::~Progress() { Stop(); }

void Progress::Stop() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  stopped_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Progress::Show() {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  std::unique_lock<std::mutex> lock(mutex_);
  if (stopped_.wait_for(lock, std::chrono::seconds(2), [this] { return stop_; })) return;
  do {
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    std::fprintf(stderr, "\r%s … %.0f s", what_.c_str(), seconds);
  } while (!stopped_.wait_for(lock, std::chrono::milliseconds(500), [this] { return stop_; }));
  std::fprintf(stderr, "\r\033[K");
}

}  // namespace kiln::tools
