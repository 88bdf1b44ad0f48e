// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/dimension_symbols.h"

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace kiln {

bool IsSymbol(absl::string_view text) {
  return !text.empty() && text.find_first_of("+*()") == absl::string_view::npos;
}

std::optional<int64_t> ValueOfDimension(absl::string_view text, const SymbolValues& values) {
  if (const auto found = values.find(std::string(text)); found != values.end()) {
    return found->second;
  }
  if (IsSymbol(text)) return std::nullopt;
  int64_t sum = 0;
  for (const absl::string_view term : absl::StrSplit(text, '+')) {
    int64_t product = 1;
    for (const absl::string_view part : absl::StrSplit(term, '*')) {
      const absl::string_view factor = absl::StripAsciiWhitespace(part);
      int64_t value = 0;
      if (!absl::SimpleAtoi(factor, &value)) {
        const auto found = values.find(std::string(factor));
        if (found == values.end()) return std::nullopt;
        value = found->second;
      }
      if (__builtin_mul_overflow(product, value, &product)) return std::nullopt;
    }
    if (__builtin_add_overflow(sum, product, &sum)) return std::nullopt;
  }
  return sum;
}

}  // namespace kiln
