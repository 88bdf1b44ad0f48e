// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/nearest.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kiln {
namespace {

// Words that are longer are not compared.
constexpr size_t kMaxCompared = 64;
constexpr size_t kMaxNearest = 3;

// Levenshtein's distance.
size_t Distance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
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
