// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TOOLS_KILN_PROGRESS_H_
#define KILN_TOOLS_KILN_PROGRESS_H_

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace kiln::tools {

// A line on standard error with the current activity and its duration, on a terminal. It appears
// after two seconds and is removed with the object. If standard error is not a terminal, the
// environment variable KILN_PROGRESS may set the seconds between lines "kiln: progress: …". Without
// the variable nothing is printed.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void Stop();

 private:
  void Show();
  void ShowLines();

  std::string what_;
  double line_seconds_ = 0;  // 0: one line that is updated
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_PROGRESS_H_
