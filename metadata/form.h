// SPDX-License-Identifier: Apache-2.0
// The form of a module in words, for reports and pages: the programs that can call it, and the
// options that make it so.
//
//   absl::StrCat("called from ", CallersOf(metadata))  // "called from C, C++ and Python"
#ifndef KILN_METADATA_FORM_H_
#define KILN_METADATA_FORM_H_

#include <string>

#include "metadata/metadata.pb.h"

namespace kiln {

// Returns the languages of the programs that can call a module: "C, C++ and Python" for a library
// of the C++ runtime, "C and C++" for plain functions, and "C, by name" for packed functions of the
// C runtime.
std::string CallersOf(const proto::Metadata& metadata);

// Returns the options that a module was compiled with: "executor aot, runtime cpp, interface
// packed".
std::string FormOf(const proto::Metadata& metadata);

}  // namespace kiln

#endif  // KILN_METADATA_FORM_H_
