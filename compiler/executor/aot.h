// SPDX-License-Identifier: Apache-2.0
// The AOT executor: the model's top-level function as one more loop Func, which calls the operator
// functions in the order of the plan.
#ifndef KILN_COMPILER_EXECUTOR_AOT_H_
#define KILN_COMPILER_EXECUTOR_AOT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/executor/device_hooks.h"
#include "compiler/loop/loop.h"
#include "compiler/plan/plan.h"

namespace kiln {

// The model as a function of plain pointers. Parameters: the model's inputs, its outputs (neither
// where the plan has them in the pools), then the pools: those that the application gives, the plan's
// own where it is not empty, and that of the state. `program` holds the operator functions. Calls that have a number in `profile_indices`, by function, tell it
// to the program's profile hook. The contexts of `devices` are the last parameters; functions that
// run on one are called with its context, as DeclareDeviceFunctions has declared them.
absl::StatusOr<loop::Func> RunModel(const Plan& plan, const loop::LoopProgram& program,
                                    std::string name,
                                    const std::map<std::string, int32_t>& profile_indices = {},
                                    const std::vector<DeviceUse>& devices = {});

// Sets Func::in_place of the operator functions whose output reaches into an input in the plan.
void MarkOverlaps(const Plan& plan, loop::LoopProgram& program);

// Another way into `model`, which RunModel has made: with another convention, or with the first
// `num_static_pools` pools in memory of the program's, so that the function must not run twice at
// once.
loop::Func ModelEntry(const loop::Func& model, std::string name, loop::Convention convention,
                      int num_static_pools = 0);

}  // namespace kiln

#endif  // KILN_COMPILER_EXECUTOR_AOT_H_
