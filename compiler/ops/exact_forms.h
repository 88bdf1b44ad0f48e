// SPDX-License-Identifier: Apache-2.0
// Spellings in several operators in which digits of the result are lost: exp(x) - 1 near 0, and
// nn.relu(x) + log(1 + exp(-|x|)) for a negative x. Each becomes one operator.
#ifndef KILN_COMPILER_OPS_EXACT_FORMS_H_
#define KILN_COMPILER_OPS_EXACT_FORMS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/graph/graph.h"

namespace kiln {

// `node`, the subtraction exp(x) - 1 or the addition exp(x) + -1 in floats of 32 or 64 bits, as expm1.
// Returns its output, or nothing (traits.h, CanonicalForm).
absl::StatusOr<std::vector<ValueId>> AsExpm1(Graph& graph, const Node& node,
                                             const std::vector<ValueId>& inputs);

// `node`, an addition, as expm1, or as nn.softplus if it ends
//
//   nn.relu(x) + log(1 + exp(-|x|))      with the operands of sums in any order
//
// in floats of 32 or 64 bits.
absl::StatusOr<std::vector<ValueId>> AsExactSum(Graph& graph, const Node& node,
                                                const std::vector<ValueId>& inputs);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_EXACT_FORMS_H_
