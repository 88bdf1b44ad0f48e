// SPDX-License-Identifier: Apache-2.0
// State that a model keeps between runs. A variable that a run reads before it writes it is an
// input and an output of the graph. A variable that no run writes is a constant. A variable that
// every run writes before it reads it is neither.
#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/tflite/converter.h"
#include "compiler/frontend/tflite/importer.h"
#include "compiler/ops/add_op.h"

namespace kiln::tflite_frontend {
namespace {

using tflite_schema::BuiltinOperator;

constexpr int kResource = -1;

std::string ResourceName(const OperatorInfo& op) {
  const auto* options = op.raw->builtin_options_as_VarHandleOptions();
  if (options == nullptr) return "";
  std::string name;
  if (options->container() != nullptr) name = options->container()->str();
  if (!name.empty()) name += "/";
  if (options->shared_name() != nullptr) name += options->shared_name()->str();
  return name;
}

// True if all elements are equal, as the initial value of a variable must be a single number.
bool IsUniform(const Tensor& tensor) {
  const size_t width = static_cast<size_t>(tensor.type().dtype.bytes());
  const absl::string_view bytes = tensor.bytes();
  for (size_t i = width; i < bytes.size(); i += width) {
    if (bytes.substr(i, width) != bytes.substr(0, width)) return false;
  }
  return true;
}

}  // namespace

void Importer::FindWrites() {
  std::set<int> initial;  // subgraphs of CALL_ONCE
  const std::vector<int> reachable = ReachableSubgraphs();
  for (int index : reachable) {
    for (const OperatorInfo& op : file_.subgraphs()[static_cast<size_t>(index)].operators) {
      const auto* options = op.raw->builtin_options_as_CallOnceOptions();
      if (options != nullptr) initial.insert(options->init_subgraph_index());
    }
  }
  for (int index : reachable) {
    if (initial.contains(index)) continue;
    std::map<int, std::string> handles;
    for (const OperatorInfo& op : file_.subgraphs()[static_cast<size_t>(index)].operators) {
      if (op.code == BuiltinOperator::VAR_HANDLE && !op.outputs.empty()) {
        handles[op.outputs[0]] = ResourceName(op);
      }
      if (op.code != BuiltinOperator::ASSIGN_VARIABLE || op.inputs.empty()) continue;
      const auto it = handles.find(op.inputs[0]);
      if (it == handles.end()) {
        all_written_ = true;
      } else {
        written_.insert(it->second);
      }
    }
  }
}

Importer::Variable& Importer::ResourceVariable(const std::string& name) {
  Variable& variable = variables_[{kResource, name}];
  if (variable.input == kNoId) variable.name = name;
  variable.written = all_written_ || written_.contains(name);
  return variable;
}

Importer::Variable& Importer::TensorVariable(const Frame& frame, int tensor) {
  const std::string& name = frame.subgraph.tensors[static_cast<size_t>(tensor)].name;
  Variable& variable = variables_[{frame.index, absl::StrCat(tensor)}];
  if (variable.input == kNoId) variable.name = name;
  return variable;
}

absl::StatusOr<ValueId> Importer::ReadTensorVariable(const Frame& frame, int tensor) {
  const TensorInfo& info = frame.subgraph.tensors[static_cast<size_t>(tensor)];
  KILN_ASSIGN_OR_RETURN(const TensorType type, info.ToTensorType());
  KILN_ASSIGN_OR_RETURN(const std::optional<Quantization> q, info.ToQuantization());
  Variable& variable = TensorVariable(frame, tensor);
  variable.written = true;
  variable.quantization = OfWholeTensor(q);
  // As in TFLite, int8 state starts with the number for 0. int16 always has the zero point 0.
  if (q.has_value() && type.dtype == DType::Int(8)) variable.fill = q->zero_points[0];
  return Read(variable, type);
}

Importer::Variable& Importer::OperatorState(const Frame& frame, const OperatorInfo& op) {
  const int tensor = op.outputs.empty() ? kAbsent : op.outputs[0];
  Variable& variable = variables_[{frame.index, absl::StrCat("state of ", tensor)}];
  if (variable.input == kNoId) variable.name = op.name + ".state";
  return variable;
}

absl::StatusOr<ValueId> Importer::ReadOperatorState(const Frame& frame, const OperatorInfo& op,
                                                    const TensorType& type) {
  Variable& variable = OperatorState(frame, op);
  variable.written = true;
  return Read(variable, type);
}

absl::Status Importer::VarHandle(Frame& frame, const OperatorInfo& op) {
  if (op.outputs.size() != 1) return Wrong("outputs", absl::StrCat(op.outputs.size()), "1");
  const std::string name = ResourceName(op);
  if (name.empty()) return Wrong("options", "no name of a variable", "one");
  frame.handles[op.outputs[0]] = name;
  return absl::OkStatus();
}

absl::StatusOr<std::string> Importer::HandleOf(const Frame& frame, const OperatorInfo& op) const {
  if (op.inputs.empty()) return Wrong("inputs", "none", "a variable");
  const auto it = frame.handles.find(op.inputs[0]);
  if (it != frame.handles.end()) return it->second;
  return Wrong("input 0", "no variable", "the result of VAR_HANDLE");
}

absl::StatusOr<ValueId> Importer::Initial(const Variable& variable, const TensorType& type) {
  if (variable.initial.has_value()) return graph_.AddConstant(*variable.initial, variable.name);
  // Not a constant of that shape, as the file may declare any shape.
  const ValueId fill = graph_.AddConstant(Tensor::Scalar(type.dtype, variable.fill));
  return AddOp(graph_, "full", {fill},
               {{"shape", AttrValue::Ints(type.shape)}, {"dtype", type.dtype.ToString()}});
}

absl::StatusOr<ValueId> Importer::Read(Variable& variable, const TensorType& type) {
  if (variable.current != kNoId) return variable.current;
  if (initialising_) return Initial(variable, type);
  if (!variable.written) {
    KILN_ASSIGN_OR_RETURN(variable.current, Initial(variable, type));
    return variable.current;
  }
  if (variable.initial.has_value() && !IsUniform(*variable.initial)) {
    return absl::UnimplementedError(absl::StrCat(
        "the variable '", variable.name,
        "' holds different numbers at first; one number for all elements is supported"));
  }
  variable.name = names_.Make(variable.name.empty() ? "state" : variable.name);
  variable.input = graph_.AddInput(variable.name,
                                   variable.initial.has_value() ? variable.initial->type() : type);
  variable.current = variable.input;
  input_quantization_.push_back(variable.quantization);
  return variable.current;
}

absl::Status Importer::ReadVariable(Frame& frame, const OperatorInfo& op) {
  KILN_ASSIGN_OR_RETURN(const std::string name, HandleOf(frame, op));
  if (op.outputs.size() != 1) return Wrong("outputs", absl::StrCat(op.outputs.size()), "1");
  const TensorInfo& info = frame.subgraph.tensors[static_cast<size_t>(op.outputs[0])];
  KILN_ASSIGN_OR_RETURN(const TensorType type, info.ToTensorType());
  KILN_ASSIGN_OR_RETURN(const std::optional<Quantization> q, info.ToQuantization());
  Variable& variable = ResourceVariable(name);
  variable.quantization = OfWholeTensor(q);
  KILN_ASSIGN_OR_RETURN(const ValueId value, Read(variable, type));
  if (graph_.type(value).dtype != type.dtype) {
    return Wrong(absl::StrCat("the variable '", name, "'"), graph_.type(value).ToString(),
                 type.ToString());
  }
  return SetTensor(frame, op.outputs[0], value);
}

absl::Status Importer::AssignVariable(Frame& frame, const OperatorInfo& op) {
  KILN_ASSIGN_OR_RETURN(const std::string name, HandleOf(frame, op));
  if (op.inputs.size() != 2 || op.inputs[1] == kAbsent) {
    return Wrong("inputs", absl::StrCat(op.inputs.size()), "2");
  }
  KILN_ASSIGN_OR_RETURN(const ValueId value, Resolve(frame, op.inputs[1]));
  Variable& variable = ResourceVariable(name);
  if (!initialising_) {
    variable.current = value;
    return absl::OkStatus();
  }
  if (!graph_.is_constant(value) || variable.current != kNoId) {
    return absl::UnimplementedError(
        absl::StrCat("what the variable '", name, "' holds at first is not known"));
  }
  variable.initial = graph_.value(value).constant;
  return absl::OkStatus();
}

absl::Status Importer::AddStateOutputs() {
  std::vector<AttrValue> inputs, outputs, initial;
  std::map<ValueId, const Variable*> states;  // in the order of the inputs
  for (const auto& [key, variable] : variables_) {
    if (variable.input != kNoId) states[variable.input] = &variable;
  }
  for (const auto& [input, state] : states) {
    const Variable& variable = *state;
    if (graph_.type(variable.current) != graph_.type(input)) {
      return Annotate(Wrong(absl::StrCat("the variable '", variable.name, "'"),
                            graph_.type(variable.current).ToString() + " at the end of a run",
                            graph_.type(input).ToString()),
                      path_ + ": ");
    }
    graph_.outputs.push_back(variable.current);
    output_quantization_.push_back(variable.quantization);
    graph_.output_names.push_back(names_.Make(variable.name + ".next"));
    const bool has_tensor =
        variable.initial.has_value() && variable.initial->type().num_elements() > 0;
    inputs.emplace_back(variable.name);
    outputs.emplace_back(graph_.output_names.back());
    initial.emplace_back(has_tensor ? variable.initial->AsDouble(0) : variable.fill);
  }
  if (!inputs.empty()) {
    graph_.attrs.Set("state_inputs", AttrValue(inputs));
    graph_.attrs.Set("state_outputs", AttrValue(outputs));
    graph_.attrs.Set("state_initial", AttrValue(initial));
  }
  return absl::OkStatus();
}

}  // namespace kiln::tflite_frontend
