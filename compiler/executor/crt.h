// SPDX-License-Identifier: Apache-2.0
// The constant data of a model for the C runtime: the registry of its functions and, for the graph
// executor, its table.
#ifndef KILN_COMPILER_EXECUTOR_CRT_H_
#define KILN_COMPILER_EXECUTOR_CRT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/loop/loop.h"
#include "compiler/plan/plan.h"

namespace kiln {

// Adds `tvmgen_<module>_module` (TVMModule of tvm/runtime/crt/module.h). It registers all exported
// packed functions and packed getters of the program, and `external_functions`, which the linker
// resolves. With `system_lib`, TVMSystemLibEntryPoint returns the module. If a program links
// several models, it returns one of them, and TVMModCreateFromCModule registers the others.
void AddFunctionRegistry(const std::string& module_name, bool system_lib,
                         const std::vector<std::string>& external_functions,
                         loop::LoopProgram& program);

// Adds `tvmgen_<module>_graph` (struct GraphTable of kiln/graph_table.h), with intermediate tensors
// at the offsets of the plan. Internal if the plan calls a function that is not packed.
absl::Status AddGraphTable(const std::string& module_name, const Plan& plan,
                           loop::LoopProgram& program);

}  // namespace kiln

#endif  // KILN_COMPILER_EXECUTOR_CRT_H_
