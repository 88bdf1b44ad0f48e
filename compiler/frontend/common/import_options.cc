// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/common/import_options.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace kiln::frontend {

absl::StatusOr<InputPin> ParseInputPin(absl::string_view text) {
  const auto wrong = [&] {
    return absl::InvalidArgumentError(absl::StrCat(
        "--input: found '", text, "', wanted name:1x3x224x224 or name:1x3x224x224:float32"));
  };
  InputPin pin;
  std::vector<std::string> parts = absl::StrSplit(text, ':');
  if (parts.size() > 2) {
    if (absl::StatusOr<DType> dtype = DType::Parse(parts.back()); dtype.ok()) {
      pin.dtype = *dtype;
      parts.pop_back();
    }
  }
  if (parts.size() < 2) return wrong();
  std::vector<std::string> extents;
  if (!parts.back().empty()) extents = absl::StrSplit(parts.back(), 'x');
  for (const std::string& extent : extents) {
    int64_t value = 0;
    if (!std::all_of(extent.begin(), extent.end(), absl::ascii_isdigit) ||
        !absl::SimpleAtoi(extent, &value)) {
      return wrong();
    }
    pin.shape.push_back(value);
  }
  parts.pop_back();
  pin.name = absl::StrJoin(parts, ":");
  if (pin.name.empty()) return wrong();
  return pin;
}

}  // namespace kiln::frontend
