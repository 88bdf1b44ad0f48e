// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/external_cost.h"

#include "absl/status/statusor.h"
#include "compiler/lower/kernel.h"

namespace kiln {
namespace {

loop::Cost OfBytes(const TensorType& type) { return {.accessed_bytes = type.num_bytes()}; }

// Adds the operations and the constants of the nodes. Returns false if Kiln has no code for one of
// them.
bool AddNodes(const Graph& body, loop::Cost& cost) {
  for (const Value& value : body.values) {
    if (value.kind == ValueKind::kConstant) cost = cost + OfBytes(*value.type);
  }
  for (const Node& node : body.nodes) {
    if (node.is_group()) {
      if (!AddNodes(*node.body, cost)) return false;
      continue;
    }
    const absl::StatusOr<loop::Kernel> kernel =
        MakeKernel("external", BodyOfNode(body, node), Target());
    if (!kernel.ok()) return false;
    cost = cost + loop::Cost{.operations = loop::CostOf(*kernel).operations};
  }
  return true;
}

}  // namespace

std::optional<loop::Cost> CostOfExternal(const Graph& body) {
  loop::Cost cost;
  if (!AddNodes(body, cost)) return std::nullopt;
  for (const auto* ids : {&body.inputs, &body.outputs}) {
    for (ValueId id : *ids) cost = cost + OfBytes(body.type(id));
  }
  return cost;
}

}  // namespace kiln
