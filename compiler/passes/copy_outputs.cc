// SPDX-License-Identifier: Apache-2.0
// CopyOutputs: every output of the model gets memory of its own to be written to. An output that is
// an input or a constant, a view of one, or the same value as another output, is copied.
#include <set>

#include "compiler/base/status.h"
#include "compiler/ops/make.h"
#include "compiler/ops/op_queries.h"
#include "compiler/passes/pass.h"

namespace kiln {
namespace {

// What `value` is a view of, through others.
ValueId Viewed(const Graph& graph, ValueId value) {
  while (graph.value(value).kind == ValueKind::kNodeOutput) {
    const Node& node = graph.node(graph.value(value).node);
    if (!IsView(graph, node)) break;
    value = node.inputs[0];
  }
  return value;
}

}  // namespace

absl::StatusOr<Graph> CopyOutputs(const Graph& graph, const PassContext&) {
  Graph copied = graph;
  std::set<ValueId> taken;
  for (ValueId& output : copied.outputs) {
    const ValueId root = Viewed(copied, output);
    if (copied.value(root).kind == ValueKind::kNodeOutput && taken.insert(root).second) continue;
    KILN_ASSIGN_OR_RETURN(output, MakeCopy(copied, output));
  }
  return copied;
}

}  // namespace kiln
