// SPDX-License-Identifier: Apache-2.0
//
// Functions that the whole program and all languages find by name. The functions of
// global_functions.h are registered from the beginning.
//
//   RegisterGlobalFunction("my.add", PackedFunc(...)).ok();
//   PackedFunc add = GetGlobalFunction("my.add").value();
#ifndef KILN_RUNTIME_CPP_REGISTRY_H_
#define KILN_RUNTIME_CPP_REGISTRY_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime_cpp/packed_func.h"

namespace kiln::runtime {

// Registers a function. Returns AlreadyExists if the name is taken and `replace` is false.
absl::Status RegisterGlobalFunction(absl::string_view name, PackedFunc function,
                                    bool replace = false);

// Returns NotFound if there is no such function.
absl::StatusOr<PackedFunc> GetGlobalFunction(absl::string_view name);

// Returns NotFound if there is no such function.
absl::Status RemoveGlobalFunction(absl::string_view name);

// Returns all names, sorted.
std::vector<std::string> GlobalFunctionNames();

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_REGISTRY_H_
