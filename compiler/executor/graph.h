// SPDX-License-Identifier: Apache-2.0
// The graph executor: the plan as the JSON table that the C++ runtime's GraphExecutor walks.
// Format: docs/abi.md.
#ifndef KILN_COMPILER_EXECUTOR_GRAPH_H_
#define KILN_COMPILER_EXECUTOR_GRAPH_H_

#include <string>

#include "compiler/plan/plan.h"

namespace kiln {

// Returns one line without spaces, with keys in the order of the format.
std::string GraphJson(const Plan& plan);

}  // namespace kiln

#endif  // KILN_COMPILER_EXECUTOR_GRAPH_H_
