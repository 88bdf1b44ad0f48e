// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/processes.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"

namespace kiln::tools {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPollMilliseconds = 100;

// A running process that sends its output through a pipe.
struct Running {
  size_t index = 0;
  pid_t pid = 0;
  int pipe = -1;
  Clock::time_point end;
  std::string output;
};

void WriteAll(int file, const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const ssize_t written = write(file, text.data() + at, text.size() - at);
    if (written < 0 && errno != EINTR) return;
    if (written > 0) at += static_cast<size_t>(written);
  }
}

absl::StatusOr<Running> Start(size_t index, const ProcessOptions& options,
                              const std::function<std::string(size_t)>& task) {
  int ends[2];
  if (pipe(ends) != 0) {
    return absl::InternalError(absl::StrCat("no pipe to a process: ", strerror(errno)));
  }
  const pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    WriteAll(ends[1], task(index));
    _exit(0);  // no clean-up, because everything open belongs to the parent
  }
  close(ends[1]);
  if (pid < 0) {
    close(ends[0]);
    return absl::InternalError(absl::StrCat("no process: ", strerror(errno)));
  }
  return Running{.index = index,
                 .pid = pid,
                 .pipe = ends[0],
                 .end = Clock::now() + std::chrono::seconds(options.timeout_seconds),
                 .output = {}};
}

// Reads available output. Returns false at the end.
bool Read(Running& running) {
  char buffer[4096];
  const ssize_t count = read(running.pipe, buffer, sizeof buffer);
  if (count > 0) running.output.append(buffer, static_cast<size_t>(count));
  return count > 0 || (count < 0 && errno == EINTR);
}

ProcessEnd End(Running& running) {
  close(running.pipe);
  int status = 0;
  while (waitpid(running.pid, &status, 0) < 0 && errno == EINTR) {
  }
  ProcessEnd end = {.output = std::move(running.output), .failure = {}};
  if (WIFSIGNALED(status)) {
    end.failure = absl::StrCat("crashed (", strsignal(WTERMSIG(status)), ")");
  } else if (WEXITSTATUS(status) != 0) {
    end.failure = absl::StrCat("ended with status ", WEXITSTATUS(status));
  }
  return end;
}

}  // namespace

absl::Status RunInProcesses(size_t count, const ProcessOptions& options,
                            const std::function<std::string(size_t)>& task,
                            const std::function<void(size_t, const ProcessEnd&)>& done) {
  std::vector<Running> running;
  for (size_t next = 0; next < count || !running.empty();) {
    while (next < count && running.size() < static_cast<size_t>(std::max(1, options.jobs))) {
      KILN_ASSIGN_OR_RETURN(running.emplace_back(), Start(next, options, task));
      ++next;
    }
    std::vector<pollfd> files;
    for (const Running& r : running) files.push_back({.fd = r.pipe, .events = POLLIN});
    poll(files.data(), files.size(), kPollMilliseconds);
    // Iterates in reverse, so that erasing keeps the remaining indices valid.
    for (size_t i = running.size(); i-- > 0;) {
      Running& r = running[i];
      const bool late = options.timeout_seconds > 0 && Clock::now() > r.end;
      if (!late && (files[i].revents == 0 || Read(r))) continue;
      if (late) kill(r.pid, SIGKILL);
      const size_t index = r.index;
      ProcessEnd end = End(r);
      if (late) end.failure = absl::StrCat("took longer than ", options.timeout_seconds, " s");
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
      done(index, end);
    }
  }
  return absl::OkStatus();
}

}  // namespace kiln::tools
