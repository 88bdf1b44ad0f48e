// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/tflite/import.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"
#include "compiler/frontend/tflite/constant.h"
#include "compiler/frontend/tflite/converter.h"
#include "compiler/frontend/tflite/importer.h"
#include "compiler/graph/rewrite.h"

namespace kiln::tflite_frontend {
namespace {

using tflite_schema::BuiltinOperator;

// Limit on operators, including those in all repetitions of a subgraph by loops or calls.
constexpr int64_t kMaxOperators = 200'000;
// Tensors of several types may share a constant. Each has its own copy, which counts.
constexpr int64_t kMaxConstantBytes = kMaxModelFileBytes;

// Returns the quantization of an input or output of the model. Its shape may differ from the
// file's.
absl::StatusOr<std::optional<frontend::PortQuantization>> QuantizationOfPort(
    const TensorInfo& info, const TensorType& type) {
  KILN_ASSIGN_OR_RETURN(const std::optional<Quantization> q,
                        ReadQuantization(info.quantization, type));
  return OfWholeTensor(q);
}

}  // namespace

absl::StatusOr<Graph> Importer::Run() && {
  KILN_RETURN_IF_ERROR(CheckOperators());
  KILN_RETURN_IF_ERROR(CheckOptions());
  FindWrites();
  Frame frame = MakeFrame(0, 0);
  KILN_RETURN_IF_ERROR(AddInputs(frame));
  for (int output : frame.subgraph.outputs) {
    names_.Add(frame.subgraph.tensors[static_cast<size_t>(output)].name);
  }
  KILN_RETURN_IF_ERROR(AddOperators(frame));
  KILN_RETURN_IF_ERROR(AddOutputs(frame));
  KILN_RETURN_IF_ERROR(AddStateOutputs());
  frontend::SetPortQuantization(input_quantization_, output_quantization_, graph_);
  return RemoveDeadNodes(graph_);
}

Importer::Frame Importer::MakeFrame(int index, int depth) const {
  const Subgraph& subgraph = file_.subgraphs()[static_cast<size_t>(index)];
  return {.index = index,
          .subgraph = subgraph,
          .values = std::vector<ValueId>(subgraph.tensors.size(), kNoId),
          .complex = {},
          .handles = {},
          .depth = depth};
}

// Checks that the user's options are about existing inputs.
absl::Status Importer::CheckOptions() const {
  const Subgraph& main = file_.subgraphs()[0];
  std::set<std::string> names;
  for (int input : main.inputs) names.insert(main.tensors[static_cast<size_t>(input)].name);
  const auto check = [&](const char* option, const std::string& name) -> absl::Status {
    if (names.contains(name)) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(path_, ": ", option, ": the model has no input '", name, "'; its inputs are ",
                     absl::StrJoin(names, ", ")));
  };
  for (const InputPin& pin : options_.pins) KILN_RETURN_IF_ERROR(check("--input", pin.name));
  for (const auto& [name, tensor] : options_.constants) {
    KILN_RETURN_IF_ERROR(check("--constant", name));
  }
  return absl::OkStatus();
}

absl::StatusOr<TensorType> Importer::InputType(const TensorInfo& info,
                                               const std::string& name) const {
  KILN_ASSIGN_OR_RETURN(const DType dtype, info.ToDType());
  TensorType type{info.shape, dtype};
  const auto pin = std::find_if(options_.pins.begin(), options_.pins.end(),
                                [&](const InputPin& p) { return p.name == name; });
  if (pin != options_.pins.end()) {
    if (pin->dtype.has_value() && *pin->dtype != dtype) {
      return Wrong("--input", pin->dtype->ToString(), dtype.ToString());
    }
    if (pin->shape.size() != info.shape.size()) {
      return Wrong("--input", absl::StrCat("rank ", pin->shape.size()),
                   absl::StrCat(info.shape.size()));
    }
    for (size_t d = 0; d < info.shape.size(); ++d) {
      const bool dynamic =
          info.shape[d] < 0 || (d < info.signature.size() && info.signature[d] < 0);
      if (!dynamic && pin->shape[d] != info.shape[d]) {
        return Wrong("--input", absl::StrCat(pin->shape[d], " as dimension ", d),
                     absl::StrCat(info.shape[d]));
      }
    }
    type.shape = pin->shape;
  }
  for (size_t d = 0; d < type.shape.size(); ++d) {
    if (type.shape[d] < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("dimension ", d, " is dynamic; give the shape with --input ", name, ":…"));
    }
  }
  KILN_RETURN_IF_ERROR(CheckTensorType(type));
  return type;
}

absl::Status Importer::AddInputs(Frame& frame) {
  for (size_t i = 0; i < frame.subgraph.inputs.size(); ++i) {
    const int tensor = frame.subgraph.inputs[i];
    const TensorInfo& info = frame.subgraph.tensors[static_cast<size_t>(tensor)];
    const std::string where = absl::StrCat(path_, ": input '", info.name, "': ");
    absl::StatusOr<TensorType> type = InputType(info, info.name);
    if (!type.ok()) return Annotate(type.status(), where);
    ValueId value = kNoId;
    const auto fixed = options_.constants.find(info.name);
    if (fixed != options_.constants.end()) {
      if (fixed->second.type() != *type) {
        return Annotate(Wrong("--constant", fixed->second.type().ToString(), type->ToString()),
                        where);
      }
      value = graph_.AddConstant(fixed->second, info.name);
    } else {
      value = graph_.AddInput(names_.Make(info.name.empty() ? absl::StrCat("input", i) : info.name),
                              *type);
      absl::StatusOr<std::optional<frontend::PortQuantization>> quantization =
          QuantizationOfPort(info, *type);
      if (!quantization.ok()) return Annotate(quantization.status(), where);
      input_quantization_.push_back(*std::move(quantization));
    }
    KILN_RETURN_IF_ERROR(Annotate(SetTensor(frame, tensor, value), where));
  }
  return absl::OkStatus();
}

absl::Status Importer::AddOutputs(Frame& frame) {
  std::vector<std::string> names;
  for (int output : frame.subgraph.outputs) {
    const TensorInfo& info = frame.subgraph.tensors[static_cast<size_t>(output)];
    absl::StatusOr<ValueId> value = Resolve(frame, output);
    if (!value.ok()) return Annotate(value.status(), absl::StrCat(path_, ": output: "));
    absl::StatusOr<std::optional<frontend::PortQuantization>> quantization =
        QuantizationOfPort(info, graph_.type(*value));
    if (!quantization.ok()) {
      return Annotate(quantization.status(), absl::StrCat(path_, ": output '", info.name, "': "));
    }
    graph_.outputs.push_back(*value);
    output_quantization_.push_back(*std::move(quantization));
    names.push_back(info.name.empty() ? absl::StrCat("output", names.size()) : info.name);
  }
  graph_.output_names = frontend::UniqueNames::MakeAll(names);
  if (!graph_.outputs.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(path_, ": the model has no outputs"));
}

absl::Status Importer::SetTensor(Frame& frame, int tensor, ValueId value) {
  ValueId& place = frame.values[static_cast<size_t>(tensor)];
  const std::string& name = frame.subgraph.tensors[static_cast<size_t>(tensor)].name;
  if (place == kNoId) {
    place = value;
    Value& named = graph_.value(value);
    if (named.kind == ValueKind::kNodeOutput && named.name.empty()) named.name = name;
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("tensor '", name, "' is defined twice"));
}

absl::StatusOr<ValueId> Importer::Resolve(Frame& frame, int tensor) {
  ValueId& place = frame.values[static_cast<size_t>(tensor)];
  if (place != kNoId) return place;
  const TensorInfo& info = frame.subgraph.tensors[static_cast<size_t>(tensor)];
  if (frame.complex.contains(tensor)) {
    return absl::UnimplementedError(absl::StrCat(
        "tensor '", info.name, "' holds complex numbers; take them apart by REAL and IMAG"));
  }
  if (info.is_variable) return ReadTensorVariable(frame, tensor);
  const bool is_empty = std::find(info.shape.begin(), info.shape.end(), 0) != info.shape.end();
  if (info.data.empty() && !is_empty) {
    return absl::InvalidArgumentError(
        absl::StrCat("tensor '", info.name, "' is made by no operator before it"));
  }
  const bool shared = info.sparsity == nullptr && !info.data.empty();
  const auto key = std::make_pair(info.data.data(), info.TypeText());
  if (shared) {
    const auto it = constants_.find(key);
    if (it != constants_.end()) return place = it->second;
  }
  // Counted before the memory is allocated, as sparse data may be small.
  KILN_ASSIGN_OR_RETURN(const TensorType type, info.ToTensorType());
  constant_bytes_ += type.num_bytes();
  if (constant_bytes_ > kMaxConstantBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the constants have more than ", kMaxConstantBytes, " bytes"));
  }
  KILN_ASSIGN_OR_RETURN(Tensor value, DecodeConstant(info));
  place = graph_.AddConstant(std::move(value), info.name);
  if (shared) constants_.emplace(key, place);
  return place;
}

absl::Status Importer::CountWork(int64_t operators) {
  operators_added_ += operators;
  if (operators_added_ <= kMaxOperators) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "all calls of subgraphs together come to more than ", kMaxOperators, " operators"));
}

absl::Status Importer::AddOperators(Frame& frame) {
  for (const OperatorInfo& op : frame.subgraph.operators) {
    absl::Status status = CountWork(1);
    if (status.ok()) status = AddOperator(frame, op);
    if (status.ok()) continue;
    // An error of a called subgraph already contains its location.
    if (absl::StrContains(status.message(), path_ + ": ")) return status;
    return Annotate(status, absl::StrCat(path_, ": node '", op.name, "' (", op.code_name, "): "));
  }
  return absl::OkStatus();
}

absl::Status Importer::AddOperator(Frame& frame, const OperatorInfo& op) {
  switch (op.code) {
    case BuiltinOperator::IF:
      return If(frame, op);
    case BuiltinOperator::WHILE:
      return While(frame, op);
    case BuiltinOperator::CALL_ONCE:
      return CallOnce(frame, op);
    case BuiltinOperator::VAR_HANDLE:
      return VarHandle(frame, op);
    case BuiltinOperator::READ_VARIABLE:
      return ReadVariable(frame, op);
    case BuiltinOperator::ASSIGN_VARIABLE:
      return AssignVariable(frame, op);
    default:
      return ConvertOperator(frame, op);
  }
}

bool IsTflite(absl::string_view bytes) { return bytes.size() >= 8 && bytes.substr(4, 4) == "TFL3"; }

absl::StatusOr<Graph> ImportTflite(absl::string_view bytes, const std::string& path,
                                   const ImportOptions& options, const Evaluator& evaluate) {
  KILN_ASSIGN_OR_RETURN(ModelFile file, ModelFile::Parse(bytes, path));
  if (!options.outputs.empty()) {
    KILN_RETURN_IF_ERROR(Annotate(file.EndAt(options.outputs), path + ": "));
  }
  return Importer(file, path, options, evaluate).Run();
}

absl::StatusOr<std::vector<ModelPort>> ReadInputs(absl::string_view bytes,
                                                  const std::string& path) {
  KILN_ASSIGN_OR_RETURN(const ModelFile file, ModelFile::Parse(bytes, path));
  const Subgraph& main = file.subgraphs()[0];
  std::vector<ModelPort> inputs;
  for (int input : main.inputs) {
    const TensorInfo& info = main.tensors[static_cast<size_t>(input)];
    ModelPort& port = inputs.emplace_back();
    port = {.name = info.name, .kind = "tensor"};
    const absl::StatusOr<DType> dtype = info.ToDType();
    if (dtype.ok()) port.dtype = *dtype;
    port.rank = static_cast<int>(info.shape.size());
    for (const int64_t extent : info.shape) {
      port.extents.emplace_back();
      if (extent >= 0) port.extents.back().value = extent;
    }
  }
  return inputs;
}

}  // namespace kiln::tflite_frontend
