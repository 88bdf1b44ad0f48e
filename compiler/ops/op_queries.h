// SPDX-License-Identifier: Apache-2.0
// What passes and the lowering ask of a node, answered from its operator's traits. A group has
// none.
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

// The node that makes the value; null for an input or a constant.
const Node* ProducerOf(const Graph& graph, ValueId value);
// The same, null also if it is one of another operator.
const Node* ProducerIf(const Graph& graph, ValueId value, absl::string_view op);
// The value of a constant of one element.
std::optional<double> ScalarOf(const Graph& graph, ValueId value);

Parts PartsOf(const Node& node);
Arithmetic ArithmeticOf(const Node& node);

// Whether the node gives its input 0 in another shape.
bool Reshapes(const Node& node);
// Whether the node makes no code: it reshapes a value that has memory, which a constant has not.
bool IsView(const Graph& graph, const Node& node);

// Whether rows of the output are computed of rows of data (RowRule).
bool IsByRows(const Graph& graph, const Node& node);
// Whether the node is a transpose that leaves the last axis where it is.
bool MovesRows(const Graph& graph, const Node& node);

// Where the output channels of a product of data and weight are: an axis of the output, and one of
// the weight unless that has none with an entry per channel, as grouped weights may.
struct ChannelAxes {
  int64_t output = 0;
  std::optional<int64_t> weight;
};
// Nothing if the operator does not say (Channels).
std::optional<ChannelAxes> ChannelAxesOf(const Graph& graph, const Node& node);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_OP_QUERIES_H_
