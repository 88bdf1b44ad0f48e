// SPDX-License-Identifier: Apache-2.0
// Operators that run subgraphs. Conditions must be known when the model is compiled. The graph
// contains the operators of the subgraphs that run, one run after the other.
#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/tflite/converter.h"
#include "compiler/frontend/tflite/importer.h"

namespace kiln::tflite_frontend {
namespace {

constexpr int kMaxDepth = 32;
// Number of tensors that a call sets up in the time of one operator.
constexpr int64_t kTensorsPerOperator = 64;

}  // namespace

absl::StatusOr<Importer::Argument> Importer::ResolveArgument(Frame& frame, int tensor) {
  if (tensor == kAbsent) return Wrong("inputs", "one that is absent", "all of them");
  const auto handle = frame.handles.find(tensor);
  if (handle != frame.handles.end()) return Argument{.handle = handle->second};
  KILN_ASSIGN_OR_RETURN(const ValueId value, Resolve(frame, tensor));
  return Argument{.value = value};
}

absl::Status Importer::SetArgument(Frame& frame, int tensor, const Argument& argument) {
  if (argument.value != kNoId) return SetTensor(frame, tensor, argument.value);
  frame.handles[tensor] = argument.handle;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Importer::Argument>> Importer::Call(
    const Frame& from, int subgraph, const std::vector<Argument>& arguments) {
  if (subgraph < 0 || static_cast<size_t>(subgraph) >= file_.subgraphs().size()) {
    return Wrong("the subgraph", absl::StrCat(subgraph),
                 absl::StrCat("0 to ", file_.subgraphs().size() - 1));
  }
  if (from.depth + 1 > kMaxDepth) {
    return absl::InvalidArgumentError(
        absl::StrCat("calls of subgraphs are nested more than ", kMaxDepth, " deep"));
  }
  // A call costs something even if the subgraph has no operators.
  KILN_RETURN_IF_ERROR(CountWork(
      1 + static_cast<int64_t>(file_.subgraphs()[static_cast<size_t>(subgraph)].tensors.size()) /
              kTensorsPerOperator));
  Frame frame = MakeFrame(subgraph, from.depth + 1);
  if (frame.subgraph.inputs.size() != arguments.size()) {
    return Wrong("operands", absl::StrCat(arguments.size()),
                 absl::StrCat(frame.subgraph.inputs.size(), ", as the subgraph has inputs"));
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    KILN_RETURN_IF_ERROR(SetArgument(frame, frame.subgraph.inputs[i], arguments[i]));
  }
  KILN_RETURN_IF_ERROR(AddOperators(frame));
  std::vector<Argument> results;
  for (int output : frame.subgraph.outputs) {
    KILN_ASSIGN_OR_RETURN(results.emplace_back(), ResolveArgument(frame, output));
  }
  return results;
}

absl::StatusOr<bool> Importer::Condition(const Argument& argument) const {
  if (argument.value == kNoId || !graph_.is_constant(argument.value)) {
    return absl::UnimplementedError(
        "the condition is computed from the model's inputs; it must be known when the model is "
        "compiled");
  }
  const Tensor& value = graph_.value(argument.value).constant;
  if (!value.type().dtype.is_bool() || value.type().num_elements() != 1) {
    return Wrong("the condition", value.type().ToString(), "one bool");
  }
  return value.AsInt(0) != 0;
}

absl::Status Importer::If(Frame& frame, const OperatorInfo& op) {
  const auto* options = op.raw->builtin_options_as_IfOptions();
  if (options == nullptr || op.inputs.empty()) return Wrong("options", "none", "subgraphs");
  KILN_ASSIGN_OR_RETURN(const Argument condition, ResolveArgument(frame, op.inputs[0]));
  KILN_ASSIGN_OR_RETURN(const bool is_true, Condition(condition));
  std::vector<Argument> arguments;
  for (size_t i = 1; i < op.inputs.size(); ++i) {
    KILN_ASSIGN_OR_RETURN(arguments.emplace_back(), ResolveArgument(frame, op.inputs[i]));
  }
  KILN_ASSIGN_OR_RETURN(
      const std::vector<Argument> results,
      Call(frame, is_true ? options->then_subgraph_index() : options->else_subgraph_index(),
           arguments));
  if (results.size() != op.outputs.size()) {
    return Wrong("outputs", absl::StrCat(op.outputs.size()),
                 absl::StrCat(results.size(), ", as the subgraph has"));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    KILN_RETURN_IF_ERROR(SetArgument(frame, op.outputs[i], results[i]));
  }
  return absl::OkStatus();
}

absl::Status Importer::While(Frame& frame, const OperatorInfo& op) {
  const auto* options = op.raw->builtin_options_as_WhileOptions();
  if (options == nullptr) return Wrong("options", "none", "subgraphs");
  std::vector<Argument> state;
  for (int input : op.inputs) {
    KILN_ASSIGN_OR_RETURN(state.emplace_back(), ResolveArgument(frame, input));
  }
  if (state.size() != op.outputs.size()) {
    return Wrong("outputs", absl::StrCat(op.outputs.size()),
                 absl::StrCat(state.size(), ", as inputs"));
  }
  // The limit on operators also bounds the number of iterations.
  for (;;) {
    KILN_ASSIGN_OR_RETURN(const std::vector<Argument> condition,
                          Call(frame, options->cond_subgraph_index(), state));
    if (condition.size() != 1) {
      return Wrong("outputs of the condition", absl::StrCat(condition.size()), "1");
    }
    KILN_ASSIGN_OR_RETURN(const bool is_true, Condition(condition[0]));
    if (!is_true) break;
    KILN_ASSIGN_OR_RETURN(std::vector<Argument> next,
                          Call(frame, options->body_subgraph_index(), state));
    if (next.size() != state.size()) {
      return Wrong("outputs of the body", absl::StrCat(next.size()), absl::StrCat(state.size()));
    }
    state = std::move(next);
  }
  for (size_t i = 0; i < state.size(); ++i) {
    KILN_RETURN_IF_ERROR(SetArgument(frame, op.outputs[i], state[i]));
  }
  return absl::OkStatus();
}

absl::Status Importer::CallOnce(Frame& frame, const OperatorInfo& op) {
  const auto* options = op.raw->builtin_options_as_CallOnceOptions();
  if (options == nullptr) return Wrong("options", "none", "a subgraph");
  if (initialising_) return absl::UnimplementedError("CALL_ONCE inside of CALL_ONCE");
  initialising_ = true;
  const absl::Status status = Call(frame, options->init_subgraph_index(), {}).status();
  initialising_ = false;
  return status;
}

}  // namespace kiln::tflite_frontend
