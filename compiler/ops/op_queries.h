// SPDX-License-Identifier: Apache-2.0
// Queries of passes and the lowering about a node, answered from its operator's
// traits. A group has no traits.
#ifndef KILN_COMPILER_OPS_OP_QUERIES_H_
#define KILN_COMPILER_OPS_OP_QUERIES_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "compiler/graph/graph.h"
#include "compiler/ops/op_def.h"

namespace kiln {

// The traits of the node's operator; null for a group.
const OpTraits* TraitsOf(const Node& node);

// The node that computes the value; null for an input or a constant.
const Node* ProducerOf(const Graph& graph, ValueId value);
// The same, but null also if the node's operator is not `op`.
const Node* ProducerIf(const Graph& graph, ValueId value, absl::string_view op);
// The value of a constant of one element; nothing for any other value.
std::optional<double> ScalarOf(const Graph& graph, ValueId value);

Parts PartsOf(const Node& node);
Arithmetic ArithmeticOf(const Node& node);

// True if the node's output is its input 0 in another shape.
bool Reshapes(const Node& node);
// True if the node needs no code: it reshapes a value that has memory. A constant has none.
bool IsView(const Graph& graph, const Node& node);

// True if each output row is computed from one row of data (RowRule).
bool IsByRows(const Graph& graph, const Node& node);
// True if the node is a transpose that keeps the last axis in place.
bool MovesRows(const Graph& graph, const Node& node);

// Axes of the output channels of a product of data and weight. `weight` is empty if no axis of the
// weight has one entry per output channel, as in some grouped weights.
struct ChannelAxes {
  int64_t output = 0;
  std::optional<int64_t> weight;
};
// Nothing if the operator's trait `channels` does not tell.
std::optional<ChannelAxes> ChannelAxesOf(const Graph& graph, const Node& node);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_OP_QUERIES_H_
