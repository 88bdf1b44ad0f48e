// SPDX-License-Identifier: Apache-2.0
//
// The runtime's own global functions, under the names that programs of this ABI look up:
//
//   runtime.SystemLib([name of the model]) -> Module::SystemLib.
//   runtime.ModuleLoadFromFile(path[, format]), runtime.module.loadfile_so(path[, format]).
//   runtime.ModuleGetTypeKey(module), runtime.ModuleImportsSize(module),
//   runtime.ModuleGetImport(module, index).
//   tvm.graph_executor.create(graph JSON, module[, lookup function], device type, device id) -> the
//     module of an executor. The lookup function, which finds linked parameters, is not used.
//   tvm.graph_executor_factory.create(graph JSON, module, name[, name of parameter, array]…) and
//   tvm.aot_executor_factory.create(module, name[, name of parameter, array]…) -> a factory.
#ifndef KILN_RUNTIME_CPP_GLOBAL_FUNCTIONS_H_
#define KILN_RUNTIME_CPP_GLOBAL_FUNCTIONS_H_

#include <functional>
#include <map>
#include <string>

#include "runtime_cpp/packed_func.h"

namespace kiln::runtime {

std::map<std::string, PackedFunc, std::less<>> BuiltInFunctions();

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_GLOBAL_FUNCTIONS_H_
