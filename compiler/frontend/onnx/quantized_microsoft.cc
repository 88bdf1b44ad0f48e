// SPDX-License-Identifier: Apache-2.0
// Quantized operators of the domain com.microsoft, which ONNX Runtime's quantizer and optimizer
// generate.
#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/onnx/operands.h"
#include "compiler/frontend/onnx/quantized.h"

namespace kiln::onnx_frontend {
namespace {

// Without a scale for the result, the result is float32.
absl::Status QGemm(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId a, Dequantized(c, 0));
  KILN_ASSIGN_OR_RETURN(const ValueId b, Dequantized(c, 3, c.Int("transB", 0) != 0 ? 0 : 1));
  std::vector<Item> inputs = {a, b};
  if (c.HasInput(6)) {
    KILN_ASSIGN_OR_RETURN(const ValueId value, ProductBias(c, 6, 1, 4));
    inputs.push_back(value);
  }
  KILN_ASSIGN_OR_RETURN(ValueId y, c.Apply("Gemm", inputs));
  if (c.HasInput(7)) {
    KILN_ASSIGN_OR_RETURN(y, Quantized(c, y, 7));
  }
  return c.Output(0, y);
}

// Converts an operator on one or two quantized tensors. The inputs are each tensor with its scale
// and zero point, then scale and zero point of the result.
absl::Status OnDequantized(Converter& c, absl::string_view onnx_op, int operands) {
  std::vector<Item> inputs;
  for (int i = 0; i < operands; ++i) {
    KILN_ASSIGN_OR_RETURN(const ValueId value, Dequantized(c, 3 * i));
    inputs.push_back(value);
  }
  KILN_ASSIGN_OR_RETURN(const ValueId y, c.Apply(onnx_op, inputs));
  return c.Output(0, Quantized(c, y, 3 * operands));
}

absl::Status QLinearAdd(Converter& c) { return OnDequantized(c, "Add", 2); }
absl::Status QLinearMul(Converter& c) { return OnDequantized(c, "Mul", 2); }
absl::Status QLinearSigmoid(Converter& c) { return OnDequantized(c, "Sigmoid", 1); }
absl::Status QLinearLeakyRelu(Converter& c) { return OnDequantized(c, "LeakyRelu", 1); }
absl::Status QLinearSoftmax(Converter& c) { return OnDequantized(c, "Softmax", 1); }

absl::Status Pool(Converter& c, absl::string_view onnx_op) {
  if (c.Int("channels_last", 0) != 0) {
    return absl::UnimplementedError("channels_last = 1; export the model with channels first");
  }
  return OnDequantized(c, onnx_op, 1);
}
absl::Status QLinearAveragePool(Converter& c) { return Pool(c, "AveragePool"); }
absl::Status QLinearGlobalAveragePool(Converter& c) { return Pool(c, "GlobalAveragePool"); }

// The scale and zero point of the result are the first inputs.
absl::Status QLinearConcat(Converter& c) {
  std::vector<Item> inputs;
  for (int i = 2; i + 2 < c.num_inputs(); i += 3) {
    KILN_ASSIGN_OR_RETURN(const ValueId value, Dequantized(c, i));
    inputs.push_back(value);
  }
  KILN_ASSIGN_OR_RETURN(const ValueId y, c.Apply("Concat", inputs));
  return c.Output(0, Quantized(c, y, 0));
}

// Selects between two quantized tensors by input 0.
absl::Status QLinearWhere(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId condition, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId x, Dequantized(c, 1));
  KILN_ASSIGN_OR_RETURN(const ValueId y, Dequantized(c, 4));
  KILN_ASSIGN_OR_RETURN(const ValueId z, c.Op("where", {condition, x, y}));
  return c.Output(0, Quantized(c, z, 7));
}

// Sets output 0 to the product of two tensors of numbers, plus an optional bias.
absl::Status QuantizedProduct(Converter& c, ValueId a, ValueId b, int bias_input) {
  KILN_ASSIGN_OR_RETURN(ValueId y, c.Apply("MatMul", {a, b}));
  if (c.HasInput(bias_input)) {
    KILN_ASSIGN_OR_RETURN(const ValueId bias, c.Input(bias_input));
    KILN_RETURN_IF_ERROR(CheckBroadcasts(c, bias, "bias", c.type(y).shape));
    KILN_ASSIGN_OR_RETURN(y, c.Op("add", {y, bias}));
  }
  return c.Output(0, y);
}

absl::Status MatMulIntegerToFloat(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId a,
                        Dequantized(c, {.data = 0, .scale = 2, .zero_point = 4}, -2));
  KILN_ASSIGN_OR_RETURN(const ValueId b, Dequantized(c, {.data = 1, .scale = 3, .zero_point = 5}));
  return QuantizedProduct(c, a, b, 6);
}

absl::Status DynamicQuantizeMatMul(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId a, ThroughBytes(c, x));
  KILN_ASSIGN_OR_RETURN(const ValueId b, Dequantized(c, {.data = 1, .scale = 2, .zero_point = 3}));
  return QuantizedProduct(c, a, b, 4);
}

constexpr OnnxOperator kQuantizedMicrosoftRows[] = {
    {"DynamicQuantizeMatMul", DynamicQuantizeMatMul, nullptr, kMicrosoftDomain},
    {"MatMulIntegerToFloat", MatMulIntegerToFloat, nullptr, kMicrosoftDomain},
    {"QGemm", QGemm, nullptr, kMicrosoftDomain},
    {"QLinearAdd", QLinearAdd, nullptr, kMicrosoftDomain},
    {"QLinearAveragePool", QLinearAveragePool, nullptr, kMicrosoftDomain},
    {"QLinearConcat", QLinearConcat, nullptr, kMicrosoftDomain},
    {"QLinearGlobalAveragePool", QLinearGlobalAveragePool, nullptr, kMicrosoftDomain},
    {"QLinearLeakyRelu", QLinearLeakyRelu, nullptr, kMicrosoftDomain},
    {"QLinearMul", QLinearMul, nullptr, kMicrosoftDomain},
    {"QLinearSigmoid", QLinearSigmoid, nullptr, kMicrosoftDomain},
    {"QLinearSoftmax", QLinearSoftmax, nullptr, kMicrosoftDomain},
    {"QLinearWhere", QLinearWhere, nullptr, kMicrosoftDomain},
};

}  // namespace

absl::Span<const OnnxOperator> QuantizedMicrosoftOperators() { return kQuantizedMicrosoftRows; }

}  // namespace kiln::onnx_frontend
