// SPDX-License-Identifier: Apache-2.0
// Recognizes a GELU that a model expresses with several operators.
#ifndef KILN_COMPILER_OPS_GELU_H_
#define KILN_COMPILER_OPS_GELU_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/graph/graph.h"

namespace kiln {

// Replaces `node`, a multiplication of `inputs`, by one nn.gelu if the node and the operators that
// compute its inputs are a GELU in floats of 32 or 64 bits:
//
//   x * (1 + erf(x / sqrt(2))) * 0.5      with the factors in any order
//   x * (0.5 + 0.5 * erf(x * sqrt(0.5)))
//
// Returns its output, or nothing (traits.h, CanonicalForm).
absl::StatusOr<std::vector<ValueId>> AsGelu(Graph& graph, const Node& node,
                                            const std::vector<ValueId>& inputs);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_GELU_H_
