// SPDX-License-Identifier: Apache-2.0
// EvaluateConstants: the values of a graph without inputs, computed by the compiler itself. Front
// ends and passes fold constants with it.
//
//   KILN_ASSIGN_OR_RETURN(std::vector<Tensor> values, EvaluateAllConstants(constants));
#ifndef KILN_COMPILER_EVALUATE_EVALUATE_H_
#define KILN_COMPILER_EVALUATE_EVALUATE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/base/tensor.h"
#include "compiler/graph/graph.h"

namespace kiln {

// Runs constants through the compiler itself: front ends' Evaluator. `work` is how many operations
// may be executed (loop::Interpreter), and becomes less by those that were; ResourceExhausted where
// they do not suffice.
absl::StatusOr<std::vector<Tensor>> EvaluateConstants(const Graph& graph, int64_t* work);

// The same in any number of operations: passes' Evaluator.
absl::StatusOr<std::vector<Tensor>> EvaluateAllConstants(const Graph& graph);

}  // namespace kiln

#endif  // KILN_COMPILER_EVALUATE_EVALUATE_H_
