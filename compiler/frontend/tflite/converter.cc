// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/tflite/converter.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"

namespace kiln::tflite_frontend {

const void* Converter::EmptyTable() {
  // A table of the wire format: the offset back to its table of fields, which is empty.
  struct Bytes {
    uint16_t fields_bytes = 4, table_bytes = 4;
    int32_t back_to_fields = 4;
  };
  static constexpr Bytes kEmpty;
  return &kEmpty.back_to_fields;
}

absl::StatusOr<CustomOptions> Converter::ReadCustomOptions() const {
  const auto* options = op_.raw->custom_options();
  if (options == nullptr) return CustomOptions::Parse("");
  return CustomOptions::Parse({reinterpret_cast<const char*>(options->data()), options->size()});
}

absl::StatusOr<ValueId> Converter::Input(int i) const {
  if (HasInput(i)) return inputs_[static_cast<size_t>(i)];
  return Wrong("inputs", absl::StrCat("input ", i, " is missing"),
               absl::StrCat("at least ", i + 1));
}

absl::StatusOr<std::vector<ValueId>> Converter::Inputs() const {
  std::vector<ValueId> values;
  for (int i = 0; i < num_inputs(); ++i) {
    KILN_ASSIGN_OR_RETURN(values.emplace_back(), Input(i));
  }
  if (values.empty()) return Wrong("inputs", "none", "at least 1");
  return values;
}

absl::StatusOr<const TensorInfo*> Converter::OutputInfo(int i) const {
  if (i < num_outputs()) {
    return &subgraph_.tensors[static_cast<size_t>(op_.outputs[static_cast<size_t>(i)])];
  }
  return Wrong("outputs", absl::StrCat(num_outputs()), absl::StrCat("at least ", i + 1));
}

absl::StatusOr<const TensorInfo*> Converter::InputInfo(int i) const {
  KILN_RETURN_IF_ERROR(Input(i).status());
  return &subgraph_.tensors[static_cast<size_t>(op_.inputs[static_cast<size_t>(i)])];
}

absl::StatusOr<DType> Converter::OutputDType(int i) const {
  KILN_ASSIGN_OR_RETURN(const TensorInfo* const info, OutputInfo(i));
  return info->ToDType();
}

absl::StatusOr<Tensor> Converter::ConstantInput(int i, absl::string_view what) const {
  KILN_ASSIGN_OR_RETURN(const ValueId input, Input(i));
  if (graph().is_constant(input)) return graph().value(input).constant;
  KILN_ASSIGN_OR_RETURN(const TensorInfo* const info, InputInfo(i));
  return absl::UnimplementedError(
      absl::StrCat(what, " (input '", info->name,
                   "') is computed from the model's inputs; it must be known when the model is "
                   "compiled"));
}

absl::StatusOr<std::vector<int64_t>> Converter::IntsInput(int i, absl::string_view what) const {
  KILN_ASSIGN_OR_RETURN(const Tensor tensor, ConstantInput(i, what));
  if (tensor.type().rank() > 1 || !tensor.type().dtype.is_integral()) {
    return Wrong(what, tensor.type().ToString(), "a vector of integers");
  }
  return tensor.ToInts();
}

absl::StatusOr<int64_t> Converter::IntInput(int i, absl::string_view what) const {
  KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> ints, IntsInput(i, what));
  if (ints.size() != 1) return Wrong(what, absl::StrCat(ints.size(), " numbers"), "one");
  return ints[0];
}

ValueId Converter::Ints(const std::vector<int64_t>& values, DType dtype) {
  const Shape shape = {static_cast<int64_t>(values.size())};
  if (dtype == DType::Int(64)) return Constant(Tensor::From<int64_t>(shape, dtype, values));
  const std::vector<int32_t> narrow(values.begin(), values.end());
  return Constant(Tensor::From<int32_t>(shape, DType::Int(32), narrow));
}

absl::StatusOr<ValueId> Converter::Activated(ValueId value, tflite_schema::Activation activation) {
  const auto clip = [&](double least, double most) {
    return Op("clip", {value}, {{"a_min", least}, {"a_max", most}});
  };
  switch (activation) {
    case tflite_schema::Activation::NONE:
      return value;
    case tflite_schema::Activation::RELU:
      return Op("nn.relu", {value});
    case tflite_schema::Activation::RELU_N1_TO_1:
      return clip(-1, 1);
    case tflite_schema::Activation::RELU6:
      return clip(0, 6);
    case tflite_schema::Activation::TANH:
      return Op("tanh", {value});
    default:
      return absl::UnimplementedError(absl::StrCat("the fused activation ",
                                                   tflite_schema::EnumNameActivation(activation),
                                                   " (", static_cast<int>(activation), ")"));
  }
}

void Converter::SetOutput(int i, ValueId value) {
  if (outputs_.size() <= static_cast<size_t>(i)) outputs_.resize(static_cast<size_t>(i) + 1, kNoId);
  outputs_[static_cast<size_t>(i)] = value;
}

absl::Status Converter::Output(int i, absl::StatusOr<ValueId> value) {
  if (value.ok()) SetOutput(i, *value);
  return value.status();
}

}  // namespace kiln::tflite_frontend
