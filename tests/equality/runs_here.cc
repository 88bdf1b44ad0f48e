// SPDX-License-Identifier: Apache-2.0
#include "tests/equality/runs_here.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace kiln::equality {

bool RunsHere(const Target& target) {
  const Target host = Target::Host();
  if (target.triple != host.triple) return false;
  for (const absl::string_view feature : absl::StrSplit(target.features, ',', absl::SkipEmpty())) {
    if (feature[0] == '+' && !host.HasFeature(feature.substr(1))) return false;
  }
  // The levels of x86-64 are sorted, lowest first. Other machines have one level.
  const std::vector<std::string> names = ListTargets();
  const auto level = [&](const Target& t) { return std::find(names.begin(), names.end(), t.cpu); };
  return level(target) <= level(host);
}

}  // namespace kiln::equality
