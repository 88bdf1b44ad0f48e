// SPDX-License-Identifier: Apache-2.0
// The texts in the place of open dimensions: a symbol, such as "batch", or a sum of products of symbols
// and numbers, such as "past_length + 2*length", as exporters write it.
#ifndef KILN_COMPILER_IMPORT_DIMENSION_SYMBOLS_H_
#define KILN_COMPILER_IMPORT_DIMENSION_SYMBOLS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace kiln {

using SymbolValues = std::map<std::string, int64_t>;

// The value of a dimension's text; none if a symbol of it has no value, if it is another kind of text,
// or if the value is not within int64. A text that is itself in `values` has that value.
std::optional<int64_t> ValueOfDimension(absl::string_view text, const SymbolValues& values);

// True if the text is a symbol, whose value a user may choose, and not a sum or product.
bool IsSymbol(absl::string_view text);

}  // namespace kiln

#endif  // KILN_COMPILER_IMPORT_DIMENSION_SYMBOLS_H_
