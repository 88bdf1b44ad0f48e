// SPDX-License-Identifier: Apache-2.0
// The AOT executor: the model's top-level function as a further loop Func, which calls the operator
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

// Returns the model as a function of plain pointers. Its parameters are, in this order:
// - the model's inputs and outputs, unless the plan has them in the pools;
// - the pools: those of the application, the plan's own if it is not empty, that of the state;
// - the contexts of `devices`.
// `program` holds the operator functions. Calls of functions in `profile_indices` pass their index
// to the program's profile hook. Functions that run on a device are called with its context, as
// DeclareDeviceFunctions has declared them.
absl::StatusOr<loop::Func> RunModel(const Plan& plan, const loop::LoopProgram& program,
                                    std::string name,
                                    const std::map<std::string, int32_t>& profile_indices = {},
                                    const std::vector<DeviceUse>& devices = {});

// Sets Func::in_place of the operator functions whose output overlaps an input in the plan.
void MarkOverlaps(const Plan& plan, loop::LoopProgram& program);

// Returns a further entry point to `model`, the result of RunModel. It may have another convention.
// Its first `num_static_pools` pools are static memory of the program, so that it is not reentrant.
loop::Func ModelEntry(const loop::Func& model, std::string name, loop::Convention convention,
                      int num_static_pools = 0);

}  // namespace kiln

#endif  // KILN_COMPILER_EXECUTOR_AOT_H_
