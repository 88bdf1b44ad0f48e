// SPDX-License-Identifier: Apache-2.0
// Elaboration of calls: operators become nodes, functions are inlined or become groups.
#include <algorithm>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"
#include "compiler/graph/elaborate.h"

namespace kiln::relay {
namespace {

// TVM writes this attribute for operators without attributes of their own: it names the C++ type of
// the attributes. Kiln ignores it, as schemas make it unnecessary.
constexpr absl::string_view kAttrsTypeKey = "attrs_type_key";

// Products of quantized numbers have six operands. In Kiln the two factors are followed by the
// scale and zero point of the first and then of the second. TVM has both zero points and then both
// scales; their types tell the two orders apart.
constexpr absl::string_view kQuantisedProducts[] = {"qnn.batch_matmul", "qnn.conv2d",
                                                    "qnn.conv2d_transpose", "qnn.dense"};

bool HasZeroPointsFirst(const OpSchema& op, const std::vector<ValueId>& inputs,
                        const Graph& graph) {
  if (inputs.size() != 6 || !absl::c_linear_search(kQuantisedProducts, op.name)) return false;
  const auto is = [&](size_t input, DType dtype) {
    const std::optional<TensorType>& type = graph.value(inputs[input]).type;
    return type.has_value() && type->dtype == dtype;
  };
  return is(2, DType::Int(32)) && is(3, DType::Int(32)) && is(4, DType::Float(32)) &&
         is(5, DType::Float(32));
}

// Returns `shape` with the leaves replaced by outputs[next], outputs[next + 1], …, in order.
Result ReplaceLeaves(const Result& shape, absl::Span<const ValueId> outputs, size_t& next) {
  const auto* tuple = std::get_if<std::shared_ptr<const Tuple>>(&shape);
  if (tuple == nullptr) return outputs[next++];
  auto replaced = std::make_shared<Tuple>();
  replaced->size = (*tuple)->size;
  replaced->depth = (*tuple)->depth;
  for (const Result& field : (*tuple)->fields) {
    replaced->fields.push_back(ReplaceLeaves(field, outputs, next));
  }
  return std::shared_ptr<const Tuple>(std::move(replaced));
}

}  // namespace

absl::StatusOr<Result> Elaborator::EvalCall(const CallExpr& call, Position position, Scope& scope) {
  const auto* op = std::get_if<OperatorExpr>(&call.callee->node);
  Result callee = kNoId;
  if (op == nullptr) {
    KILN_ASSIGN_OR_RETURN(callee, Eval(*call.callee, scope));
  }
  std::vector<Result> arguments;
  for (const ExprPtr& argument : call.arguments) {
    KILN_ASSIGN_OR_RETURN(Result result, Eval(*argument, scope));
    arguments.push_back(std::move(result));
  }
  Result result;
  if (op != nullptr) {
    KILN_ASSIGN_OR_RETURN(result,
                          CallOperator(op->name, std::move(arguments), call.attrs, position));
  } else {
    const Closure* closure = std::get_if<Closure>(&callee);
    if (closure == nullptr) {
      return Error(position,
                   absl::StrCat("found a call of ", DescribeResult(callee), ", wanted a function"));
    }
    if (!call.attrs.empty()) {
      return Error(call.attrs[0].position,
                   "a call of a function has no attributes; they stand on the function");
    }
    KILN_ASSIGN_OR_RETURN(result, CallFunction(*closure, std::move(arguments), position));
  }
  if (call.type) SuggestType(result, *call.type);
  return result;
}

absl::StatusOr<Result> Elaborator::CallOperator(absl::string_view name,
                                                std::vector<Result> arguments,
                                                absl::Span<const AttrSyntax> attrs,
                                                Position position) {
  const OpSchema* op = find_op_(name);
  if (op == nullptr) {
    return UnimplementedAt(file_name_, position, absl::StrCat("unknown operator '", name, "'"));
  }
  Node node;
  node.op = op;
  KILN_ASSIGN_OR_RETURN(node.inputs, OperatorInputs(*op, arguments, position));
  if (HasZeroPointsFirst(*op, node.inputs, graph())) {
    const std::vector<ValueId> in = node.inputs;
    node.inputs = {in[0], in[1], in[4], in[2], in[5], in[3]};
  }
  for (const AttrSyntax& attr : attrs) {
    if (attr.name == kAttrsTypeKey) continue;
    const AttrSchema* schema = op->FindAttr(attr.name);
    if (attr.is_reference && (schema == nullptr || schema->type != AttrType::kReference)) {
      return UnimplementedAt(file_name_, attr.position,
                             absl::StrCat("attribute '", attr.name,
                                          "' in the metadata section is not supported; write its "
                                          "value in the text"));
    }
    node.attrs.Set(attr.name, attr.value);
  }
  absl::StatusOr<Attrs> normal = NormalizeAttrs(*op, std::move(node.attrs));
  if (!normal.ok()) return Error(position, normal.status().message());
  node.attrs = *std::move(normal);
  const absl::StatusOr<int> num_outputs = op->NumOutputs(node.attrs, node.inputs.size());
  if (!num_outputs.ok()) return Error(position, num_outputs.status().message());
  if (*num_outputs < 0)
    return Error(position, absl::StrCat(name, ": found ", *num_outputs, " outputs"));
  const bool gives_tuple = op->GivesTuple(node.attrs);
  KILN_ASSIGN_OR_RETURN(const NodeId id, AddNode(std::move(node), *num_outputs, position));
  if (!gives_tuple) return Result(graph().node(id).outputs[0]);
  const std::vector<ValueId>& outputs = graph().node(id).outputs;
  return MakeTuple(std::vector<Result>(outputs.begin(), outputs.end()), position);
}

absl::StatusOr<std::vector<ValueId>> Elaborator::OperatorInputs(
    const OpSchema& op, const std::vector<Result>& arguments, Position position) const {
  std::vector<ValueId> inputs;
  if (op.tuple_input) {
    // If the schema has several inputs, as qnn.concatenate has, each argument may be a tuple or a
    // tensor. The node's inputs are all their tensors in order.
    const bool is_one_tuple =
        arguments.size() == 1 && std::holds_alternative<std::shared_ptr<const Tuple>>(arguments[0]);
    if (!is_one_tuple && (op.inputs.size() < 2 || arguments.size() != op.inputs.size())) {
      return Error(position,
                   absl::StrCat(op.name, ": found ",
                                arguments.size() == 1 ? DescribeResult(arguments[0])
                                                      : absl::StrCat(arguments.size(), " inputs"),
                                ", wanted one tuple: ", op.name, "((%a, %b))"));
    }
    for (const Result& argument : arguments) {
      KILN_RETURN_IF_ERROR(Flatten(argument, position, inputs));
    }
    if (inputs.empty()) return Error(position, absl::StrCat(op.name, ": found an empty tuple"));
    return inputs;
  }
  if (absl::Status arity = CheckNumInputs(op, arguments.size()); !arity.ok()) {
    return Error(position, absl::StrCat(op.name, ": ", arity.message()));
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ValueId* id = std::get_if<ValueId>(&arguments[i]);
    if (id == nullptr) {
      return Error(position, absl::StrCat(op.name, ": found ", DescribeResult(arguments[i]),
                                          " as '", op.inputs[i].name, "', wanted a tensor"));
    }
    inputs.push_back(*id);
  }
  return inputs;
}

absl::StatusOr<Result> Elaborator::CallFunction(const Closure& closure,
                                                std::vector<Result> arguments, Position position) {
  const Function& function = *closure.function;
  const std::string name =
      function.name.empty() ? "the function" : absl::StrCat("@", function.name);
  if (arguments.size() != function.parameters.size()) {
    return Error(position, absl::StrCat("found ", arguments.size(), " arguments, wanted ",
                                        function.parameters.size(), ", the parameters of ", name));
  }
  if (std::find(active_functions_.begin(), active_functions_.end(), &function) !=
      active_functions_.end()) {
    return UnimplementedAt(
        file_name_, position,
        absl::StrCat("recursion: ", name, " calls itself, and a graph has no loops; unroll it"));
  }
  active_functions_.push_back(&function);
  Attrs attrs = GraphAttrs(function);
  absl::StatusOr<Result> result;
  if (IsGroupAttrs(attrs)) {
    result = CallGroup(closure, arguments, std::move(attrs), position);
  } else {
    Scope& scope = *NewScope(closure.scope);
    for (size_t i = 0; i < arguments.size(); ++i) {
      const Parameter& parameter = function.parameters[i];
      if (parameter.type) KILN_RETURN_IF_ERROR(ApplyType(arguments[i], *parameter.type));
      KILN_RETURN_IF_ERROR(
          Define(scope, parameter.name, std::move(arguments[i]), parameter.position));
    }
    result = EvalBody(function.body, scope);
    if (result.ok() && function.result_type) {
      KILN_RETURN_IF_ERROR(ApplyType(*result, *function.result_type));
    }
  }
  active_functions_.pop_back();
  return result;
}

absl::StatusOr<Result> Elaborator::CallGroup(const Closure& closure,
                                             const std::vector<Result>& arguments, Attrs attrs,
                                             Position position) {
  const Function& function = *closure.function;
  Node node;
  node.attrs = std::move(attrs);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Parameter& parameter = function.parameters[i];
    if (parameter.type) KILN_RETURN_IF_ERROR(ApplyType(arguments[i], *parameter.type));
    KILN_RETURN_IF_ERROR(Flatten(arguments[i], position, node.inputs));
  }
  auto known = groups_.find(&function);
  GroupBody body;
  if (known != groups_.end()) {
    body = known->second;
  } else {
    KILN_ASSIGN_OR_RETURN(body, BuildGroup(closure, arguments));
    const bool depends_on_arguments =
        std::any_of(function.parameters.begin(), function.parameters.end(),
                    [](const Parameter& parameter) { return !parameter.type; });
    if (!depends_on_arguments) groups_[&function] = body;
  }
  node.body = body.graph;
  const std::vector<ValueId>& body_outputs = body.graph->outputs;
  KILN_ASSIGN_OR_RETURN(const NodeId id,
                        AddNode(std::move(node), static_cast<int>(body_outputs.size()), position));
  const std::vector<ValueId>& outputs = graph().node(id).outputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    graph().value(outputs[i]).type = body.graph->value(body_outputs[i]).type;
  }
  size_t next = 0;
  return ReplaceLeaves(body.result, outputs, next);
}

absl::StatusOr<Elaborator::GroupBody> Elaborator::BuildGroup(const Closure& closure,
                                                             const std::vector<Result>& arguments) {
  const Function& function = *closure.function;
  Scope& scope = *NewScope(closure.scope);
  scope.is_group = true;
  // The arguments belong to the caller's graph, so their types are read before the switch to the
  // new graph.
  std::vector<TypeSyntax> types;
  for (size_t i = 0; i < arguments.size(); ++i) {
    KILN_ASSIGN_OR_RETURN(TypeSyntax type,
                          GroupParameterType(function.parameters[i], arguments[i]));
    types.push_back(std::move(type));
  }
  Building* const caller = building_;
  Building building;
  building_ = &building;
  GroupBody body;
  absl::Status status = AddParameters(function, types, scope);
  if (status.ok()) {
    absl::StatusOr<Result> result = EvalBody(function.body, scope);
    status = result.status();
    if (result.ok()) {
      body.result = *std::move(result);
      status = SetOutputs(function, body.result);
    }
  }
  building_ = caller;
  KILN_RETURN_IF_ERROR(status);
  body.graph = std::make_shared<const Graph>(std::move(building.graph));
  return body;
}

absl::StatusOr<NodeId> Elaborator::AddNode(Node node, int num_outputs, Position position) {
  num_nodes_ += std::max(num_outputs, 1);
  num_steps_ += static_cast<int64_t>(node.inputs.size());
  if (num_nodes_ > kMaxGraphNodes) {
    return Error(position, absl::StrCat("found more than ", kMaxGraphNodes, " operations"));
  }
  node.source.file = std::string(file_name_);
  node.source.line = position.line;
  node.source.column = position.column;
  return graph().AddNode(std::move(node), num_outputs);
}

}  // namespace kiln::relay
