// SPDX-License-Identifier: Apache-2.0
//
// Functions that are known to the whole program by name, in every language. Those of
// global_functions.h are there from the beginning.
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

// AlreadyExists if the name is taken and `replace` is false.
absl::Status RegisterGlobalFunction(absl::string_view name, PackedFunc function,
                                    bool replace = false);

// NotFound if there is none.
absl::StatusOr<PackedFunc> GetGlobalFunction(absl::string_view name);

// NotFound if there is none.
absl::Status RemoveGlobalFunction(absl::string_view name);

// All names, sorted.
std::vector<std::string> GlobalFunctionNames();

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_REGISTRY_H_
