// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TOOLS_KILN_COMPILE_SUMMARY_H_
#define KILN_TOOLS_KILN_COMPILE_SUMMARY_H_

#include <chrono>
#include <vector>

#include "compiler/target/target.h"
#include "tools/kiln/files.h"

namespace kiln::tools {

// The last lines of a compilation: the files written, their sizes, the elapsed time, and the CPU
// that the target `host` denotes. They are printed on standard error, and only on a terminal, so
// that builds stay silent.
class CompileSummary {
 public:
  explicit CompileSummary(bool quiet) : quiet_(quiet) {}

  // The first file is the main one.
  void Print(const std::vector<OutputFile>& files, const Target& target) const;

 private:
  bool quiet_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_COMPILE_SUMMARY_H_
