// SPDX-License-Identifier: Apache-2.0
// A function that a generated header declares: by the name that ends with the version of the header, which
// objects define, and by its plain name, which stands for the former or, with KILN_CHECKS, for a function that
// checks its arguments.
#ifndef KILN_METADATA_INTERFACE_FUNCTION_H_
#define KILN_METADATA_INTERFACE_FUNCTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "metadata/model_names.h"

namespace kiln {

// A parameter of such a function.
struct InterfaceParameter {
  std::string type, name;
  std::string meaning = {};     // "input image"; of a pool its name
  int64_t alignment_bytes = 0;  // of its memory; 0: it may be NULL
};

// With `initializes`, the function gives the state, its only parameter, the state from before the first run.
std::string InterfaceFunction(const ModelNames& names, absl::string_view version,
                              const std::string& name,
                              const std::vector<InterfaceParameter>& params,
                              bool initializes = false);

// Macros that the text of InterfaceFunction needs, once per translation unit: KILN_CAST, KILN_CHECK
// and their kind.
std::string InterfaceMacros(const ModelNames& names);

// A text of a failed check, as a literal of C.
std::string CheckText(const ModelNames& names, absl::string_view what);

// The bytes that a program gives to a pool, as a macro: of a state with room for the mark that it is
// initialized, where this is checked.
std::string SizeMacro(absl::string_view macro, const ModelNames& names, const proto::Pool& pool);

}  // namespace kiln

#endif  // KILN_METADATA_INTERFACE_FUNCTION_H_
