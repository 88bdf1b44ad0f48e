// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/onnx/model_inputs.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/status.h"
#include "compiler/frontend/common/errors.h"
#include "compiler/frontend/onnx/input_readers.h"
#include "compiler/frontend/onnx/tensor_proto.h"

namespace kiln::onnx_frontend {
namespace {

const char* KindOf(const onnx::TypeProto& type) {
  switch (type.value_case()) {
    case onnx::TypeProto::kSequenceType:
      return "sequence";
    case onnx::TypeProto::kMapType:
      return "map";
    case onnx::TypeProto::kOptionalType:
      return "optional";
    case onnx::TypeProto::kSparseTensorType:
      return "sparse tensor";
    default:
      return "tensor";
  }
}

// Merges the model's shape with that of the pin, which replaces dynamic dimensions. `option` is the
// origin of the pin, for errors.
absl::Status MergeShape(const onnx::TensorShapeProto& proto, const InputPin* pin,
                        const char* option, const std::string& name, const std::string& where,
                        Shape& shape) {
  if (pin != nullptr && pin->shape.size() != static_cast<size_t>(proto.dim_size())) {
    return absl::InvalidArgumentError(absl::StrCat(
        where, option, ": found rank ", pin->shape.size(), ", wanted ", proto.dim_size()));
  }
  Shape merged;
  std::string dynamic, wanted;
  for (int i = 0; i < proto.dim_size(); ++i) {
    const auto& dim = proto.dim(i);
    const bool fixed = dim.has_dim_value() && dim.dim_value() > 0;
    absl::StrAppend(&wanted, i == 0 ? "" : "x");
    if (pin != nullptr) {
      if (fixed && dim.dim_value() != pin->shape[static_cast<size_t>(i)]) {
        return absl::InvalidArgumentError(
            absl::StrCat(where, option, ": found ", pin->shape[static_cast<size_t>(i)],
                         " as dimension ", i, ", wanted ", dim.dim_value()));
      }
      merged.push_back(pin->shape[static_cast<size_t>(i)]);
    } else if (fixed || (dim.has_dim_value() && dim.dim_value() == 0)) {
      merged.push_back(dim.dim_value());
      absl::StrAppend(&wanted, dim.dim_value());
    } else {
      absl::StrAppend(&dynamic, dynamic.empty() ? "" : ", ", i,
                      dim.dim_param().empty() ? "" : " ('" + dim.dim_param() + "')");
      absl::StrAppend(&wanted, "?");
    }
  }
  if (!dynamic.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(where, "dimension ", dynamic,
                                                   " is dynamic; give the shape with --input ",
                                                   name, ":", wanted));
  }
  shape = std::move(merged);
  return absl::OkStatus();
}

std::set<std::string> InitialisersOf(const onnx::GraphProto& graph) {
  std::set<std::string> names;
  for (const onnx::TensorProto& tensor : graph.initializer()) names.insert(tensor.name());
  return names;
}

ModelPort PortOf(const onnx::ValueInfoProto& value) {
  ModelPort port = {.name = value.name(), .kind = KindOf(value.type())};
  if (port.kind != "tensor") return port;
  const onnx::TypeProto::Tensor& type = value.type().tensor_type();
  const absl::StatusOr<DType> dtype = DTypeOf(type.elem_type());
  if (dtype.ok()) port.dtype = *dtype;
  if (!type.has_shape()) return port;
  port.rank = type.shape().dim_size();
  for (const onnx::TensorShapeProto::Dimension& dim : type.shape().dim()) {
    frontend::Extent& extent = port.extents.emplace_back();
    if (dim.has_dim_value() && dim.dim_value() >= 0) extent.value = dim.dim_value();
    if (dim.has_dim_param()) extent.symbol = dim.dim_param();
  }
  return port;
}

}  // namespace

absl::Status CheckOptions(const onnx::GraphProto& graph, const ImportOptions& options) {
  const std::set<std::string> initialisers = InitialisersOf(graph);
  std::set<std::string> names;
  for (const onnx::ValueInfoProto& input : graph.input()) {
    if (!initialisers.contains(input.name())) names.insert(input.name());
  }
  const auto check = [&](const char* option, const std::string& name) -> absl::Status {
    if (names.contains(name)) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(option, ": the model has no input '", name,
                                                   "'; its inputs are ",
                                                   absl::StrJoin(names, ", ")));
  };
  for (const InputPin& pin : options.pins) KILN_RETURN_IF_ERROR(check("--input", pin.name));
  for (const auto& [name, tensor] : options.constants) {
    KILN_RETURN_IF_ERROR(check("--constant", name));
  }
  return absl::OkStatus();
}

absl::Status CheckDimensions(const onnx::TensorShapeProto& shape) {
  for (int i = 0; i < shape.dim_size(); ++i) {
    if (shape.dim(i).dim_value() >= -1) continue;
    return frontend::Wrong(absl::StrCat("dimension ", i), absl::StrCat(shape.dim(i).dim_value()),
                           "an extent, a symbol, or -1 if it is open");
  }
  return absl::OkStatus();
}

absl::StatusOr<TensorType> InputType(const onnx::ValueInfoProto& input,
                                     const ImportOptions& options) {
  const std::string where = absl::StrCat("input '", input.name(), "': ");
  const std::string kind = KindOf(input.type());
  if (kind != "tensor") {
    return absl::UnimplementedError(
        absl::StrCat(where, "is ", kind == "optional" ? "an " : "a ", kind, ", not a tensor"));
  }
  if (!input.type().has_tensor_type()) return absl::UnimplementedError(where + "not a tensor");
  const onnx::TypeProto::Tensor& proto = input.type().tensor_type();
  absl::StatusOr<DType> dtype = DTypeOf(proto.elem_type());
  if (!dtype.ok()) return Annotate(dtype.status(), where);
  TensorType type{{}, *dtype};
  const InputPin* pin = nullptr;
  for (const InputPin& candidate : options.pins) {
    if (candidate.name == input.name()) pin = &candidate;
  }
  InputPin of_constant;
  const char* option = "--input";
  if (const auto fixed = options.constants.find(input.name()); fixed != options.constants.end()) {
    const TensorType& found = fixed->second.type();
    of_constant = {input.name(), found.shape, found.dtype};
    pin = &of_constant;
    option = "--constant";
  }
  if (pin != nullptr) {
    if (pin->dtype.has_value() && *pin->dtype != *dtype) {
      return absl::InvalidArgumentError(absl::StrCat(
          where, option, ": found ", pin->dtype->ToString(), ", wanted ", dtype->ToString()));
    }
    type.shape = pin->shape;
  }
  if (proto.has_shape()) {
    KILN_RETURN_IF_ERROR(Annotate(CheckDimensions(proto.shape()), where));
    KILN_RETURN_IF_ERROR(MergeShape(proto.shape(), pin, option, input.name(), where, type.shape));
  }
  if (!proto.has_shape() && pin == nullptr) {
    return absl::InvalidArgumentError(where + "has no shape; give one with --input " +
                                      input.name() + ":1x3x224x224");
  }
  KILN_RETURN_IF_ERROR(Annotate(CheckTensorType(type), where));
  return type;
}

ModelInterface InterfaceOf(const onnx::GraphProto& graph) {
  const std::set<std::string> initialisers = InitialisersOf(graph);
  ModelInterface interface;
  for (const onnx::ValueInfoProto& input : graph.input()) {
    if (!initialisers.contains(input.name())) interface.inputs.push_back(PortOf(input));
  }
  AddFactsOfReaders(graph, interface.inputs);
  for (const onnx::ValueInfoProto& output : graph.output()) {
    interface.outputs.push_back(PortOf(output));
  }
  return interface;
}

}  // namespace kiln::onnx_frontend
