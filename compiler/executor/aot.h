// SPDX-License-Identifier: Apache-2.0
// The AOT executor: the model's top-level function as one more loop Func, which calls the operator
// functions in the order of the plan.
#ifndef KILN_COMPILER_EXECUTOR_AOT_H_
#define KILN_COMPILER_EXECUTOR_AOT_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/loop/loop.h"
#include "compiler/plan/plan.h"

namespace kiln {

// Parameters: the model's inputs, its outputs, then the workspace if the plan has one. `program`
// holds the operator functions. Calls that have a number in `profile_indices`, by function, tell it
// to the program's profile hook.
absl::StatusOr<loop::Func> RunModel(const Plan& plan, const loop::LoopProgram& program,
                                    std::string name, loop::Convention convention,
                                    const std::map<std::string, int32_t>& profile_indices = {});

}  // namespace kiln

#endif  // KILN_COMPILER_EXECUTOR_AOT_H_
