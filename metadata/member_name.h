// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_METADATA_MEMBER_NAME_H_
#define KILN_METADATA_MEMBER_NAME_H_

#include <string>

#include "absl/strings/string_view.h"

namespace kiln {

// Returns the name of a C struct member for a tensor:
//
// - Every character other than a letter, digit or '_' becomes '_', even if it has several bytes in
//   UTF-8: "input-x::2" is "input_x__2".
// - A leading digit gets a '_' in front: "0" is "_0".
// - A name that begins with "__" or with '_' and a capital letter is reserved in C and gets an 'x'
//   in front: "__x" is "x__x".
// - A keyword of C or C++, a predefined compiler macro or a C library macro gets a '_' at its end:
//   "int" is "int_", "errno" is "errno_".
std::string MemberName(absl::string_view name);

}  // namespace kiln

#endif  // KILN_METADATA_MEMBER_NAME_H_
