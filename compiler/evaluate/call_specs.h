// SPDX-License-Identifier: Apache-2.0
// From what lowering makes to what the plan is made of: the two do not know each other.
#ifndef KILN_COMPILER_EVALUATE_CALL_SPECS_H_
#define KILN_COMPILER_EVALUATE_CALL_SPECS_H_

#include <vector>

#include "compiler/lower/lower.h"
#include "compiler/plan/plan.h"

namespace kiln {

inline std::vector<CallSpec> CallsOf(const Lowered& lowered) {
  std::vector<CallSpec> calls;
  for (const LoweredCall& call : lowered.calls) {
    calls.push_back({.function = call.function,
                     .inputs = call.inputs,
                     .outputs = call.outputs,
                     .scratch_bytes = call.workspace_bytes,
                     .in_place = call.in_place,
                     .op_names = call.op_names,
                     .source = call.source,
                     .schedule = call.schedule,
                     .cost = call.cost});
  }
  return calls;
}

}  // namespace kiln

#endif  // KILN_COMPILER_EVALUATE_CALL_SPECS_H_
