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

// Computes the outputs of a graph of constants; the Evaluator of the front ends. `work` is the
// number of operations that may be executed (loop::Interpreter); each byte of the workspace
// counts too, as a part of one. `work` is reduced by the number that was used.
// ResourceExhausted if it does not suffice.
absl::StatusOr<std::vector<Tensor>> EvaluateConstants(const Graph& graph, int64_t* work);

// The same without a limit on operations; the Evaluator of the passes.
absl::StatusOr<std::vector<Tensor>> EvaluateAllConstants(const Graph& graph);

}  // namespace kiln

#endif  // KILN_COMPILER_EVALUATE_EVALUATE_H_
