// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/compile_summary.h"

#include <unistd.h>

#include <cstdio>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "compiler/target/cpu_variants.h"
#include "runtime_cpp/cpu/this_cpu.h"
#include "runtime_cpp/cpu/x86_features.h"
#include "tools/kiln/standard_output.h"
#include "tools/terminal/terminal.h"
#include "tools/terminal/text.h"

namespace kiln::tools {
namespace {

std::string Sized(size_t bytes) {
  const double kib = static_cast<double>(bytes) / 1024;
  if (bytes < 1024) return Counted(bytes, "byte");
  return kib < 1024 ? absl::StrFormat("%.1f KiB", kib) : absl::StrFormat("%.1f MiB", kib / 1024);
}

// Returns the features that a library for this machine needs, and a target that needs fewer. Empty
// if the target is not the host.
std::string HostText(const Target& target) {
  const std::vector<std::string> features = RequiredFeatures(target);
  if (target.name != "host" || features.empty()) return "";
  std::string text = absl::StrCat("target host = ", CpuText(target.cpu, features));
  const std::vector<absl::string_view> levels = X86Levels();
  const auto level = absl::c_find(levels, target.cpu);
  if (level == levels.end() || level == levels.begin()) return text;
  // Most servers and desktops have x86-64-v3.
  const absl::string_view lower = *level == "x86-64-v4" ? "x86-64-v3" : *(level - 1);
  return absl::StrCat(text, "; --target ", lower, " runs on other machines");
}

}  // namespace

void CompileSummary::Print(const std::vector<OutputFile>& files, const Target& target) const {
  if (quiet_ || isatty(STDERR_FILENO) == 0 || files.empty()) return;
  size_t rest_bytes = 0;
  for (const OutputFile& file : files) rest_bytes += file.bytes.size();
  rest_bytes -= files.front().bytes.size();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin_;
  std::string text =
      absl::StrFormat("%s, %s", files.front().path, Sized(files.front().bytes.size()));
  if (files.size() > 1) {
    absl::StrAppendFormat(&text, ", and %s, %s", Counted(files.size() - 1, "more file"),
                          Sized(rest_bytes));
  }
  absl::StrAppendFormat(&text, ": %.2f s", seconds.count());
  std::fprintf(stderr, "kiln: %s %s\n",
               Styled("wrote", Style::kGreen, ShowsColours(STDERR_FILENO)).c_str(),
               Printable(text).c_str());
  if (const std::string host = HostText(target); !host.empty()) {
    std::fprintf(stderr, "kiln: %s\n", host.c_str());
  }
}

}  // namespace kiln::tools
