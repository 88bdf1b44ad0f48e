// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/add_op.h"

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/ops/op_def.h"

namespace kiln {

absl::StatusOr<std::vector<ValueId>> AddOpOutputs(Graph& graph, absl::string_view name,
                                                  std::vector<ValueId> inputs, Attrs attrs,
                                                  SourceLocation source) {
  const OpDef* op = FindOp(name);
  if (op == nullptr) return absl::InternalError(absl::StrCat("no operator '", name, "'"));
  const absl::Status arity = CheckNumInputs(*op, inputs.size());
  if (!arity.ok()) return Annotate(arity, absl::StrCat(name, ": "));
  KILN_ASSIGN_OR_RETURN(attrs, NormalizeAttrs(*op, std::move(attrs)));
  std::vector<TensorType> types;
  std::vector<const Tensor*> constants;
  for (ValueId input : inputs) {
    types.push_back(graph.type(input));
    constants.push_back(graph.is_constant(input) ? &graph.value(input).constant : nullptr);
  }
  absl::StatusOr<std::vector<TensorType>> outputs =
      op->infer({.attrs = attrs, .inputs = types, .constants = constants});
  if (!outputs.ok()) return Annotate(outputs.status(), absl::StrCat(name, ": "));
  Node node;
  node.op = op;
  node.attrs = std::move(attrs);
  node.inputs = std::move(inputs);
  node.source = std::move(source);
  const NodeId id = graph.AddNode(std::move(node), *outputs);
  return graph.node(id).outputs;
}

absl::StatusOr<ValueId> AddOp(Graph& graph, absl::string_view name, std::vector<ValueId> inputs,
                              Attrs attrs, SourceLocation source) {
  KILN_ASSIGN_OR_RETURN(
      const std::vector<ValueId> outputs,
      AddOpOutputs(graph, name, std::move(inputs), std::move(attrs), std::move(source)));
  return outputs[0];
}

}  // namespace kiln
