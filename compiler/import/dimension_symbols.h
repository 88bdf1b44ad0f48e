// SPDX-License-Identifier: Apache-2.0
// Texts of open dimensions: a symbol such as "batch", or a sum of products of symbols and numbers
// such as "past_length + 2*length", as exporters write them.
#ifndef KILN_COMPILER_IMPORT_DIMENSION_SYMBOLS_H_
#define KILN_COMPILER_IMPORT_DIMENSION_SYMBOLS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace kiln {

using SymbolValues = std::map<std::string, int64_t>;

// Returns the value of a dimension's text. Absent if one of its symbols has no value, if the text
// has another form, or if the value does not fit int64. A text that is a key of `values` has that
// value.
std::optional<int64_t> ValueOfDimension(absl::string_view text, const SymbolValues& values);

// True if the text is a symbol, whose value a user may choose, and not a sum or product.
bool IsSymbol(absl::string_view text);

}  // namespace kiln

#endif  // KILN_COMPILER_IMPORT_DIMENSION_SYMBOLS_H_
