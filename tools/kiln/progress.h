// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TOOLS_KILN_PROGRESS_H_
#define KILN_TOOLS_KILN_PROGRESS_H_

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace kiln::tools {

// A line on the terminal's standard error that says what goes on and for how long, from two seconds
// on; nothing where standard error is no terminal. Gone when the object is.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void Stop();

 private:
  void Show();

  std::string what_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_PROGRESS_H_
