// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/progress.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "absl/strings/numbers.h"

namespace kiln::tools {
namespace {

using Clock = std::chrono::steady_clock;

// Limits of the seconds between two lines.
constexpr double kMinSeconds = 0.01, kMaxSeconds = 3600;

}  // namespace

Progress::Progress(std::string what) : what_(std::move(what)) {
  if (!isatty(STDERR_FILENO)) {
    const char* const seconds = std::getenv("KILN_PROGRESS");
    const bool is_known = seconds != nullptr && absl::SimpleAtod(seconds, &line_seconds_);
    if (!is_known || !(line_seconds_ >= kMinSeconds && line_seconds_ <= kMaxSeconds)) return;
  }
  try {
    thread_ = std::thread([this] { line_seconds_ > 0 ? ShowLines() : Show(); });
  } catch (const std::system_error&) {
    // The system has no more threads. The work continues without the line.
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

void Progress::ShowLines() {
  const Clock::time_point begin = Clock::now();
  const std::chrono::duration<double> pause(line_seconds_);
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stopped_.wait_for(lock, pause, [this] { return stop_; })) {
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    std::fprintf(stderr, "kiln: progress: %s, %.0f s\n", what_.c_str(), seconds);
  }
}

void Progress::Show() {
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
