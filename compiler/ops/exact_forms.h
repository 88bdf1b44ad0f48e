// SPDX-License-Identifier: Apache-2.0
// Expressions of several operators that lose digits of the result, each replaced by one operator:
// exp(x) - 1 near 0, and nn.relu(x) + log(1 + exp(-|x|)) for a negative x.
#ifndef KILN_COMPILER_OPS_EXACT_FORMS_H_
#define KILN_COMPILER_OPS_EXACT_FORMS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/graph/graph.h"

namespace kiln {

// Replaces `node` by expm1 if it is the subtraction exp(x) - 1 or the addition exp(x) + -1, in
// floats of 32 or 64 bits. Returns the output, or nothing (traits.h, CanonicalForm).
absl::StatusOr<std::vector<ValueId>> AsExpm1(Graph& graph, const Node& node,
                                             const std::vector<ValueId>& inputs);

// Replaces `node`, an addition, as AsExpm1 does. Replaces it by nn.softplus if it is the last
// operator of this expression, in floats of 32 or 64 bits:
//
//   nn.relu(x) + log(1 + exp(-|x|))      with the operands of sums in any order
//
// Returns the output, or nothing.
absl::StatusOr<std::vector<ValueId>> AsExactSum(Graph& graph, const Node& node,
                                                const std::vector<ValueId>& inputs);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_EXACT_FORMS_H_
