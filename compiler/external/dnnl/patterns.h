// SPDX-License-Identifier: Apache-2.0
// Chains of operators that oneDNN computes as one primitive.
#ifndef KILN_COMPILER_EXTERNAL_DNNL_PATTERNS_H_
#define KILN_COMPILER_EXTERNAL_DNNL_PATTERNS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/external/external_codegen.h"
#include "compiler/graph/graph.h"

namespace kiln::dnnl {

// The patterns dnnl.conv2d and dnnl.dense.
std::vector<ExternalPattern> Patterns();

// The operators of a match as one layer: relu(product(data, weight) + bias + residual). Values
// belong to the graph of the match.
struct Layer {
  const Node* product = nullptr;  // nn.conv2d or nn.dense
  ValueId bias = kNoId;
  ValueId residual = kNoId;
  bool relu = false;
};

// Reads a match. Unimplemented, with the reason, if the nodes are not such a layer.
absl::StatusOr<Layer> ReadLayer(const Graph& graph, const std::vector<const Node*>& nodes);

// Returns top, left, bottom and right padding.
std::vector<int64_t> Padding(const Node& conv2d);

}  // namespace kiln::dnnl

#endif  // KILN_COMPILER_EXTERNAL_DNNL_PATTERNS_H_
