// SPDX-License-Identifier: Apache-2.0
// The part of a generated header that programs use with the C interface.
#ifndef KILN_METADATA_C_INTERFACE_H_
#define KILN_METADATA_C_INTERFACE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "metadata/model_names.h"

namespace kiln {

// Returns structs for inputs, outputs and pools, the functions, and macros of the workspaces. The
// text is C99 and belongs inside `extern "C"`. Objects define the functions under the names that
// VersionedName returns.
std::string CInterface(const ModelNames& names, absl::string_view version);

// Returns a typed interface to the same model: the compiler checks names and types of tensors. The
// text is freestanding C++17 in the namespace `tvmgen_<module>` and follows the text of CInterface.
std::string CppInterface(const ModelNames& names);

}  // namespace kiln

#endif  // KILN_METADATA_C_INTERFACE_H_
