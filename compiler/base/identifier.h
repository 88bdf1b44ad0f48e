// SPDX-License-Identifier: Apache-2.0
// Names in generated C.
#ifndef KILN_COMPILER_BASE_IDENTIFIER_H_
#define KILN_COMPILER_BASE_IDENTIFIER_H_

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"

namespace kiln {

// True if `text` is a C identifier: letters, digits and '_', not beginning with a digit.
inline bool IsIdentifier(absl::string_view text) {
  for (const char c : text) {
    if (c != '_' && !absl::ascii_isalnum(static_cast<unsigned char>(c))) return false;
  }
  return !text.empty() && !absl::ascii_isdigit(static_cast<unsigned char>(text[0]));
}

// Returns `text` with '_' in place of every character that is not a letter or digit. The result may
// begin with a digit, or be empty.
inline std::string WithIdentifierCharacters(absl::string_view text) {
  std::string name(text);
  for (char& c : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

}  // namespace kiln

#endif  // KILN_COMPILER_BASE_IDENTIFIER_H_
