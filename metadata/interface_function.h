// SPDX-License-Identifier: Apache-2.0
// A function that a generated header declares. Objects define it under a name that ends with the
// version of the header. The plain name is a macro for the versioned name. With KILN_CHECKS, the
// plain name is an inline function that checks its arguments first.
#ifndef KILN_METADATA_INTERFACE_FUNCTION_H_
#define KILN_METADATA_INTERFACE_FUNCTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "metadata/model_names.h"

namespace kiln {

// A parameter of a declared function.
struct InterfaceParameter {
  std::string type, name;
  std::string meaning = {};     // "input image"; for a pool its name
  int64_t alignment_bytes = 0;  // required of the argument; 0: it may be NULL
};

// Returns the text that declares a function and defines its plain name. If `initializes` is true,
// the function resets a state, its only parameter, to the contents before the first run.
std::string InterfaceFunction(const ModelNames& names, absl::string_view version,
                              const std::string& name,
                              const std::vector<InterfaceParameter>& params,
                              bool initializes = false);

// Returns the macros and helpers, such as KILN_CAST and KILN_CHECK, that the texts of
// InterfaceFunction need once per translation unit.
std::string InterfaceMacros(const ModelNames& names);

// Returns the message of a failed check as a C string literal, which begins with the module's name.
std::string CheckText(const ModelNames& names, absl::string_view what);

// Returns the definition of `macro` as the number of bytes that a program provides for a pool. With
// KILN_CHECKS, a state has room for the mark that shows that it is initialized.
std::string SizeMacro(absl::string_view macro, const ModelNames& names, const proto::Pool& pool);

}  // namespace kiln

#endif  // KILN_METADATA_INTERFACE_FUNCTION_H_
