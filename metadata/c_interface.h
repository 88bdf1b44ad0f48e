// SPDX-License-Identifier: Apache-2.0
// The part of a generated header that a program with the C interface calls.
#ifndef KILN_METADATA_C_INTERFACE_H_
#define KILN_METADATA_C_INTERFACE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "metadata/model_names.h"

namespace kiln {

// Structs of inputs, outputs and pools, the functions, and macros of the workspaces: C99, inside of
// `extern "C"`. Objects define the functions by VersionedName.
std::string CInterface(const ModelNames& names, absl::string_view version);

// The same model with tensors whose names and types the compiler checks: C++17, freestanding, in
// the namespace `tvmgen_<module>`; after CInterface.
std::string CppInterface(const ModelNames& names);

}  // namespace kiln

#endif  // KILN_METADATA_C_INTERFACE_H_
