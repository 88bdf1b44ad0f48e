// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/slow_paths_option.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/lower/slow_paths.h"
#include "tools/kiln/standard_output.h"
#include "tools/terminal/text.h"

namespace kiln::tools {
namespace {

// Lines that one model takes at most.
constexpr size_t kMaxShown = 5;

std::string LineOf(const SlowPath& path, const Target& target) {
  // TFLite names a node by all that was fused into it.
  const std::string& names = path.source.empty() ? path.function : path.source;
  return absl::StrCat("node '", names.substr(0, names.find(';')), "' (", path.op_names,
                      ") is slow on ", target.name, ": ", TextOf(path.reason), "; about ",
                      path.operations, " operations");
}

// The most costly ones first.
std::vector<std::string> LinesOf(std::vector<SlowPath> paths, const Target& target) {
  std::stable_sort(paths.begin(), paths.end(), [](const SlowPath& a, const SlowPath& b) {
    return a.operations > b.operations;
  });
  std::vector<std::string> lines;
  int64_t rest = 0;
  for (const SlowPath& path : paths) {
    if (lines.size() < kMaxShown) {
      lines.push_back(LineOf(path, target));
    } else {
      rest += path.operations;
    }
  }
  if (paths.size() > kMaxShown) {
    lines.push_back(absl::StrCat(Counted(paths.size() - kMaxShown, "more function"), " slow on ",
                                 target.name, ": about ", rest, " operations"));
  }
  return lines;
}

}  // namespace

absl::Status ReportSlowPaths(const Lowered& lowered, const Target& target, bool fails) {
  const std::vector<std::string> lines = LinesOf(FindSlowPaths(lowered, target), target);
  if (lines.empty()) return absl::OkStatus();
  if (fails) {
    return absl::InvalidArgumentError(
        absl::StrCat("--fail-on-slow: wanted no operator that is slow on the target, found:\n  ",
                     absl::StrJoin(lines, "\n  "),
                     "\nquantise the model (kiln quantize), or choose a target that has the unit"));
  }
  for (const std::string& line : lines) {
    std::fprintf(stderr, "kiln: note: %s\n", Printable(line).c_str());
  }
  return absl::OkStatus();
}

}  // namespace kiln::tools
