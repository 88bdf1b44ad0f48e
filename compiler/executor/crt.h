// SPDX-License-Identifier: Apache-2.0
// What a model brings along for the C runtime, as constant data: the registry of its functions and,
// for the graph executor, its table.
#ifndef KILN_COMPILER_EXECUTOR_CRT_H_
#define KILN_COMPILER_EXECUTOR_CRT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/loop/loop.h"
#include "compiler/plan/plan.h"

namespace kiln {

// Adds `tvmgen_<module>_module` (TVMModule of tvm/runtime/crt/module.h) over all exported packed
// functions and packed getters of the program and over `external_functions`, which the linker
// finds. With `system_lib`, TVMSystemLibEntryPoint returns it; of several models in one program,
// one of them, and the others are registered by TVMModCreateFromCModule.
void AddFunctionRegistry(const std::string& module_name, bool system_lib,
                         const std::vector<std::string>& external_functions,
                         loop::LoopProgram& program);

// Adds `tvmgen_<module>_graph` (struct GraphTable of kiln/graph_table.h). Intermediate tensors lie
// where the plan put them. Internal if the plan calls a function that is not packed.
absl::Status AddGraphTable(const std::string& module_name, const Plan& plan,
                           loop::LoopProgram& program);

}  // namespace kiln

#endif  // KILN_COMPILER_EXECUTOR_CRT_H_
