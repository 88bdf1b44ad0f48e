// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/views.h"

#include "compiler/ops/op_queries.h"

namespace kiln {

ValueId Viewed(const Graph& graph, ValueId value) {
  while (graph.value(value).kind == ValueKind::kNodeOutput) {
    const Node& node = graph.node(graph.value(value).node);
    if (!IsView(graph, node)) break;
    value = node.inputs[0];
  }
  return value;
}

}  // namespace kiln
