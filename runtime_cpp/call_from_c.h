// SPDX-License-Identifier: Apache-2.0
//
// The body of a function that C code calls. Its code is 0, or -1 with the text of the error in
// TVMGetLastError. That memory is lacking is an error like any other: no exception passes through
// C code.
//
//   int TVMModImport(TVMModuleHandle mod, TVMModuleHandle dep) {
//     return CallFromC([&] { return Module(ModuleOf(mod)).Import(Module(ModuleOf(dep))); });
//   }
#ifndef KILN_RUNTIME_CPP_CALL_FROM_C_H_
#define KILN_RUNTIME_CPP_CALL_FROM_C_H_

#include <new>
#include <string>

#include "absl/status/status.h"
#include "tvm/runtime/c_runtime_api.h"

namespace kiln::runtime {

// `function` returns an absl::Status.
template <typename Function>
int CallFromC(const Function& function) {
  try {
    const absl::Status status = function();
    if (status.ok()) return 0;
    TVMAPISetLastError(std::string(status.message()).c_str());
  } catch (const std::bad_alloc&) {
    TVMAPISetLastError("out of memory");
  }
  return -1;
}

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_CALL_FROM_C_H_
