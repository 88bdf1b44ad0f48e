// SPDX-License-Identifier: Apache-2.0
// InferTypes: gives every value its type by the operators' `infer`, and checks the types that the
// model states. All errors of a model, up to kMaxErrors, are reported at once.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"
#include "compiler/ops/op_def.h"
#include "compiler/passes/pass.h"

namespace kiln {
namespace {

constexpr size_t kMaxErrors = 20;

absl::StatusOr<std::vector<TensorType>> OutputTypes(const Graph& graph, const Node& node) {
  const OpDef* op = FindOp(node.op->name);
  if (op == nullptr) {
    return absl::UnimplementedError("no definition of this operator");
  }
  std::vector<TensorType> types;
  std::vector<const Tensor*> constants;
  for (ValueId input : node.inputs) {
    types.push_back(graph.type(input));
    constants.push_back(graph.is_constant(input) ? &graph.value(input).constant : nullptr);
  }
  KILN_ASSIGN_OR_RETURN(std::vector<TensorType> outputs,
                        op->infer({.attrs = node.attrs, .inputs = types, .constants = constants}));
  for (const TensorType& type : outputs) KILN_RETURN_IF_ERROR(CheckTensorType(type));
  return outputs;
}

// The body of a group with inferred types, given the types of the group's inputs.
absl::StatusOr<Graph> InferBody(const Graph& graph, const Node& node, const PassContext& context) {
  Graph body = *node.body;
  for (size_t i = 0; i < body.inputs.size() && i < node.inputs.size(); ++i) {
    Value& input = body.value(body.inputs[i]);
    const TensorType& type = graph.type(node.inputs[i]);
    if (input.type.has_value() && *input.type != type) {
      return absl::InvalidArgumentError(absl::StrCat("parameter '", input.name, "': found ",
                                                     type.ToString(), ", wanted ",
                                                     input.type->ToString()));
    }
    input.type = type;
  }
  return InferTypes(body, context);
}

absl::Status InferNode(Graph& graph, NodeId id, const PassContext& context) {
  Node& node = graph.nodes[static_cast<size_t>(id)];
  std::vector<TensorType> types;
  if (node.is_group()) {
    KILN_ASSIGN_OR_RETURN(Graph body, InferBody(graph, node, context));
    for (ValueId output : body.outputs) types.push_back(body.type(output));
    node.body = std::make_shared<const Graph>(std::move(body));
  } else {
    KILN_ASSIGN_OR_RETURN(types, OutputTypes(graph, node));
  }
  if (types.size() != node.outputs.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("found ", node.outputs.size(), " outputs, wanted ", types.size()));
  }
  for (size_t i = 0; i < types.size(); ++i) {
    Value& output = graph.value(node.outputs[i]);
    if (output.type.has_value() && *output.type != types[i]) {
      return absl::InvalidArgumentError(absl::StrCat("output ", i, " is ", types[i].ToString(),
                                                     ", but the model says ",
                                                     output.type->ToString()));
    }
    output.type = types[i];
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Graph> InferTypes(const Graph& original, const PassContext& context) {
  Graph graph = original;
  std::vector<std::string> errors;
  absl::StatusCode code = absl::StatusCode::kOk;
  for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
    const Node& node = graph.node(id);
    const bool known = std::all_of(node.inputs.begin(), node.inputs.end(),
                                   [&](ValueId v) { return graph.value(v).type.has_value(); });
    if (!known) continue;  // follows from an earlier error
    if (absl::Status status = InferNode(graph, id, context); !status.ok()) {
      code = code == absl::StatusCode::kOk ? status.code() : code;
      errors.push_back(absl::StrCat(graph.node(id).source.ToString(), graph.node(id).op_name(),
                                    ": ", status.message()));
      if (errors.size() >= kMaxErrors) break;
    }
  }
  if (!errors.empty()) return absl::Status(code, absl::StrJoin(errors, "\n"));
  return graph;
}

}  // namespace kiln
