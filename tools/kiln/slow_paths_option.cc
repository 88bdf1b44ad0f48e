// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/slow_paths_option.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "compiler/lower/slow_paths.h"
#include "tools/kiln/layer_report.h"
#include "tools/kiln/standard_output.h"
#include "tools/terminal/text.h"

namespace kiln::tools {
namespace {

constexpr size_t kMaxShown = 5;  // functions that an error names

// Returns "node 'conv1' (nn.conv2d nn.relu)".
std::string NodeOf(const SlowPath& path) {
  return absl::StrCat("node '", LayerName(path.source, path.function), "' (", path.op_names, ")");
}

std::string LineOf(const SlowPath& path, const Target& target) {
  return absl::StrCat(NodeOf(path), " is slow on ", target.name, ": ", TextOf(path.reason),
                      "; about ", path.operations, " operations");
}

int64_t OperationsOf(absl::Span<const SlowPath> paths) {
  int64_t operations = 0;
  for (const SlowPath& path : paths) operations += path.operations;
  return operations;
}

// Returns a line for each of the first kMaxShown functions, and one for the rest.
std::vector<std::string> LinesOf(absl::Span<const SlowPath> paths, const Target& target) {
  std::vector<std::string> lines;
  const size_t shown = std::min(paths.size(), kMaxShown);
  for (const SlowPath& path : paths.first(shown)) lines.push_back(LineOf(path, target));
  if (shown < paths.size()) {
    lines.push_back(absl::StrCat(Counted(paths.size() - shown, "more function"), " slow on ",
                                 target.name, ": about ", OperationsOf(paths.subspan(shown)),
                                 " operations"));
  }
  return lines;
}

// Returns a line for each reason. For several functions it names the most costly one.
std::vector<std::string> SummaryOf(absl::Span<const SlowPath> paths, const Target& target) {
  std::map<SlowReason, std::vector<SlowPath>> by_reason;
  for (const SlowPath& path : paths) by_reason[path.reason].push_back(path);
  std::vector<std::string> lines;
  for (const auto& [reason, group] : by_reason) {
    lines.push_back(group.size() == 1
                        ? LineOf(group[0], target)
                        : absl::StrCat(Counted(group.size(), "function"), " are slow on ",
                                       target.name, ": ", TextOf(reason), "; about ",
                                       OperationsOf(group), " operations, ", group[0].operations,
                                       " of them in ", NodeOf(group[0])));
  }
  return lines;
}

}  // namespace

absl::Status ReportSlowPaths(const Lowered& lowered, const Target& target, bool fails) {
  std::vector<SlowPath> paths = FindSlowPaths(lowered, target);
  if (paths.empty()) return absl::OkStatus();
  std::stable_sort(paths.begin(), paths.end(), [](const SlowPath& a, const SlowPath& b) {
    return a.operations > b.operations;
  });
  if (fails) {
    return absl::InvalidArgumentError(
        absl::StrCat("--fail-on-slow: wanted no operator that is slow on the target, found:\n  ",
                     absl::StrJoin(LinesOf(paths, target), "\n  "),
                     "\nquantize the model (kiln quantize), or choose a target that has the unit"));
  }
  for (const std::string& line : SummaryOf(paths, target)) {
    std::fprintf(stderr, "kiln: note: %s\n", Printable(line).c_str());
  }
  return absl::OkStatus();
}

}  // namespace kiln::tools
