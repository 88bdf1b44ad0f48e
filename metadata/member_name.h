// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_METADATA_MEMBER_NAME_H_
#define KILN_METADATA_MEMBER_NAME_H_

#include <string>

#include "absl/strings/string_view.h"

namespace kiln {

// The name of a tensor as a member of a C struct. Every character but letters, digits and '_' becomes a '_', also
// one that has several bytes in UTF-8. A leading digit gets a '_' in front. A name that C reserves, which begins
// with "__" or with '_' and a capital, gets an 'x' in front. A keyword of C or C++, a macro that compilers
// predefine, or a macro of the C library gets a '_' at its end. "input-x::2" is "input_x__2", "0" is "_0",
// "__x" is "x__x", "int" is "int_", "errno" is "errno_".
std::string MemberName(absl::string_view name);

}  // namespace kiln

#endif  // KILN_METADATA_MEMBER_NAME_H_
