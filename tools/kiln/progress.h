// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TOOLS_KILN_PROGRESS_H_
#define KILN_TOOLS_KILN_PROGRESS_H_

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace kiln::tools {

// A line on the terminal's standard error that says what goes on and for how long, from two seconds
// on; gone when the object is. Where standard error is no terminal, the environment variable
// KILN_PROGRESS may say after how many seconds a line "kiln: progress: …" follows the other; without it
// there is nothing.
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
  double line_seconds_ = 0;  // 0: a line that changes
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_PROGRESS_H_
