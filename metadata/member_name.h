// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_METADATA_MEMBER_NAME_H_
#define KILN_METADATA_MEMBER_NAME_H_

#include <string>

#include "absl/strings/string_view.h"

namespace kiln {

// The name of a tensor as a member of a C struct: every character but letters, digits and '_' is a
// '_', a leading digit gets a '_' in front, a keyword of C or C++ or a macro that compilers define
// by themselves one behind. "input-x::2" is "input_x__2", "0" is "_0", "int" is "int_".
std::string MemberName(absl::string_view name);

}  // namespace kiln

#endif  // KILN_METADATA_MEMBER_NAME_H_
