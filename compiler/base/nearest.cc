// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/nearest.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kiln {
namespace {

// Longer words are not compared.
constexpr size_t kMaxCompared = 64;
constexpr size_t kMaxNearest = 3;

// Optimal string alignment distance: the number of letters inserted, removed, changed or swapped
// with a neighbor.
size_t Distance(absl::string_view a, absl::string_view b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      const size_t changed = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({changed, d[i - 1][j] + 1, d[i][j - 1] + 1});
      const bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (exchanged) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::vector<std::string> Nearest(absl::string_view word, const std::vector<std::string>& names) {
  if (word.size() > kMaxCompared) return {};
  const std::string lower = absl::AsciiStrToLower(word);
  std::vector<std::string> nearest, longer;
  size_t least = std::max<size_t>(1, word.size() / 3);
  for (const std::string& name : names) {
    const std::string lower_name = absl::AsciiStrToLower(name);
    const size_t distance = Distance(lower, lower_name);
    if (distance > least) continue;
    if (distance < least) {
      nearest.clear();
      longer.clear();
    }
    least = distance;
    nearest.push_back(name);
    if (absl::StartsWith(lower_name, lower)) longer.push_back(name);
  }
  if (!longer.empty()) nearest = longer;
  nearest.resize(std::min(nearest.size(), kMaxNearest));
  return nearest;
}

std::string Perhaps(absl::string_view word, const std::vector<std::string>& names) {
  const std::vector<std::string> nearest = Nearest(word, names);
  return nearest.empty() ? "" : absl::StrCat(", perhaps '", absl::StrJoin(nearest, "' or '"), "'");
}

}  // namespace kiln
