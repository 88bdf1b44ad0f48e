// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/tflite/quantized.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/tflite/wide_sums.h"

namespace kiln::tflite_frontend {
namespace {

using tflite_schema::Activation;

// Returns a constant of one scale, or of one per channel.
ValueId Scales(Converter& c, const std::vector<double>& scales) {
  Shape shape;
  if (scales.size() > 1) shape.push_back(static_cast<int64_t>(scales.size()));
  return c.Constant(Tensor::From<double>(std::move(shape), kF64, scales));
}

absl::StatusOr<Quantization> Wanted(const std::optional<Quantization>& q, absl::string_view what) {
  if (q.has_value()) return *q;
  return Wrong(what, "no scale", "a quantized tensor, as the others are");
}

// Adds a bias with one element per channel of the result.
absl::StatusOr<ValueId> WithBias(Converter& c, ValueId y, int input) {
  if (!c.HasInput(input)) return y;
  KILN_ASSIGN_OR_RETURN(ValueId bias, c.Input(input));
  KILN_ASSIGN_OR_RETURN(bias, c.Reshape(bias, {c.type(y).shape.back()}));
  const DType dtype = c.type(y).dtype;
  if (c.type(bias).dtype != dtype) {
    KILN_ASSIGN_OR_RETURN(bias, c.Op("cast", {bias}, {{"dtype", dtype.ToString()}}));
  }
  return c.Op("nn.bias_add", {y, bias}, {{"axis", -1}});
}

// Returns the product of float operands with bias and activation.
absl::StatusOr<ValueId> FloatProduct(Converter& c, absl::string_view op, const ProductOperands& p,
                                     Attrs attrs, Activation activation) {
  KILN_ASSIGN_OR_RETURN(ValueId y,
                        c.Op(absl::StrCat("nn.", op), {p.x, p.weight}, std::move(attrs)));
  KILN_ASSIGN_OR_RETURN(y, WithBias(c, y, p.bias_input));
  return c.Activated(y, activation);
}

}  // namespace

absl::StatusOr<std::optional<Quantization>> InputQuantization(const Converter& c, int i) {
  KILN_ASSIGN_OR_RETURN(const TensorInfo* const info, c.InputInfo(i));
  return info->ToQuantization();
}

absl::StatusOr<std::optional<Quantization>> OutputQuantization(const Converter& c, int i) {
  KILN_ASSIGN_OR_RETURN(const TensorInfo* const info, c.OutputInfo(i));
  return info->ToQuantization();
}

absl::StatusOr<Quantization> QuantizationOfInput(const Converter& c, int i) {
  KILN_ASSIGN_OR_RETURN(const std::optional<Quantization> q, InputQuantization(c, i));
  return Wanted(q, absl::StrCat("input ", i));
}

absl::StatusOr<Quantization> QuantizationOfOutput(const Converter& c, int i) {
  KILN_ASSIGN_OR_RETURN(const std::optional<Quantization> q, OutputQuantization(c, i));
  return Wanted(q, absl::StrCat("output ", i));
}

ValueId ScaleOf(Converter& c, const Quantization& q) {
  return Scales(c, {q.scales.begin(), q.scales.end()});
}

ValueId ZeroPointOf(Converter& c, const Quantization& q) {
  // Zero points of several channels are all 0, except in models that TFLite's kernels refuse.
  Shape shape;
  if (q.zero_points.size() > 1) shape.push_back(static_cast<int64_t>(q.zero_points.size()));
  return c.Constant(Tensor::From<int32_t>(std::move(shape), kI32, q.zero_points));
}

absl::StatusOr<ValueId> ActivatedQuantized(Converter& c, ValueId value, const Quantization& q,
                                           Activation activation) {
  const DType dtype = c.type(value).dtype;
  auto least = static_cast<double>(dtype.MinInt()), most = static_cast<double>(dtype.MaxInt());
  const auto quantized = [&](float real) {
    return q.zero_points[0] + static_cast<double>(std::round(real / q.scales[0]));
  };
  switch (activation) {
    case Activation::NONE:
      return value;
    case Activation::RELU:
      least = std::max(least, quantized(0));
      break;
    case Activation::RELU_N1_TO_1:
      least = std::max(least, quantized(-1));
      most = std::min(most, quantized(1));
      break;
    case Activation::RELU6:
      least = std::max(least, quantized(0));
      most = std::min(most, quantized(6));
      break;
    default:
      return absl::UnimplementedError(absl::StrCat("the fused activation ",
                                                   tflite_schema::EnumNameActivation(activation),
                                                   " of quantized numbers"));
  }
  if (least == static_cast<double>(dtype.MinInt()) && most == static_cast<double>(dtype.MaxInt())) {
    return value;
  }
  return c.Op("clip", {value}, {{"a_min", least}, {"a_max", std::max(least, most)}});
}

absl::StatusOr<ValueId> Product(Converter& c, absl::string_view op, const ProductOperands& p,
                                Attrs attrs, Activation activation) {
  KILN_ASSIGN_OR_RETURN(const std::optional<Quantization> x_q, InputQuantization(c, p.x_input));
  KILN_ASSIGN_OR_RETURN(const std::optional<Quantization> w_q,
                        InputQuantization(c, p.weight_input));
  if (!x_q.has_value() && w_q.has_value()) {
    // The weights are integers and the data is float.
    KILN_ASSIGN_OR_RETURN(const Tensor weight, c.ConstantInput(p.weight_input, "the weight"));
    ProductOperands floats = p;
    if (op == "dense") {
      // Passes decide whether the library stores the integers.
      KILN_ASSIGN_OR_RETURN(
          floats.weight, c.Op("qnn.dequantize", {p.weight, ScaleOf(c, *w_q), ZeroPointOf(c, *w_q)},
                              {{"axis", w_q->per_channel() ? w_q->axis : -1}}));
    } else {
      const ValueId dequantized = c.Constant(Dequantized(weight, *w_q));
      KILN_ASSIGN_OR_RETURN(floats.weight, c.Reshape(dequantized, c.type(p.weight).shape));
    }
    return FloatProduct(c, op, floats, std::move(attrs), activation);
  }
  if (!x_q.has_value()) return FloatProduct(c, op, p, std::move(attrs), activation);
  KILN_ASSIGN_OR_RETURN(const Quantization weight, QuantizationOfInput(c, p.weight_input));
  KILN_ASSIGN_OR_RETURN(const Quantization out, QuantizationOfOutput(c, 0));

  DType sums = c.type(p.x).dtype.bits == 16 && p.wide_sums ? kI64 : kI32;
  if (c.HasInput(p.bias_input)) {
    KILN_ASSIGN_OR_RETURN(const ValueId bias, c.Input(p.bias_input));
    sums = c.type(bias).dtype;
  }
  bool beyond_int32 = false;
  if (sums == kI32) {
    KILN_ASSIGN_OR_RETURN(const double largest, LargestSum(c, p, *x_q, weight));
    beyond_int32 = BeyondInt32(largest);
  }
  KILN_ASSIGN_OR_RETURN(ValueId y, QnnSums(c, op, {p.x, *x_q}, {p.weight, weight},
                                           beyond_int32 ? kI64 : sums, std::move(attrs)));
  KILN_ASSIGN_OR_RETURN(y, WithBias(c, y, p.bias_input));
  const bool single_scale = p.single_scale || c.type(p.x).dtype == DType::UInt(8);
  std::vector<double> factors;
  for (float scale : weight.scales) {
    const float single = x_q->scales[0] * scale;
    const double product =
        single_scale ? static_cast<double>(single) : static_cast<double>(x_q->scales[0]) * scale;
    factors.push_back(product / static_cast<double>(out.scales[0]));
  }
  KILN_ASSIGN_OR_RETURN(const DType dtype, c.OutputDType(0));
  KILN_ASSIGN_OR_RETURN(y, RescaledSums(c, y, beyond_int32, factors, out.zero_points[0], dtype));
  return ActivatedQuantized(c, y, out, activation);
}

absl::StatusOr<ValueId> QnnSums(Converter& c, absl::string_view op, const QuantizedOperand& x,
                                const QuantizedOperand& weight, DType sums, Attrs attrs) {
  attrs.Set("out_dtype", sums.ToString());
  return c.Op(absl::StrCat("qnn.", op),
              {x.value, weight.value, ScaleOf(c, x.quantization), ZeroPointOf(c, x.quantization),
               ScaleOf(c, weight.quantization), ZeroPointOf(c, weight.quantization)},
              std::move(attrs));
}

absl::StatusOr<ValueId> Rescaled(Converter& c, ValueId value, const std::vector<double>& factors,
                                 int64_t zero_point, DType dtype) {
  const auto integer = [&](int64_t i) {
    return c.Constant(Tensor::Scalar(kI32, static_cast<double>(i)));
  };
  return c.Op("qnn.requantize",
              {value, Scales(c, factors), integer(0), Scales(c, {1}), integer(zero_point)},
              {{"rounding", "TFLITE"}, {"out_dtype", dtype.ToString()}});
}

absl::StatusOr<ValueId> CentredAs(Converter& c, const QuantizedOperand& x, DType dtype) {
  KILN_ASSIGN_OR_RETURN(const ValueId wide, c.Op("cast", {x.value}, {{"dtype", dtype.ToString()}}));
  if (x.quantization.zero_points[0] == 0) return wide;
  return c.Op("subtract", {wide, c.Scalar(wide, x.quantization.zero_points[0])});
}

absl::StatusOr<ValueId> QnnUnary(Converter& c, absl::string_view op, ValueId x, Attrs attrs) {
  KILN_ASSIGN_OR_RETURN(const Quantization in, QuantizationOfInput(c, 0));
  KILN_ASSIGN_OR_RETURN(const Quantization out, QuantizationOfOutput(c, 0));
  return c.Op(op, {x, ScaleOf(c, in), ZeroPointOf(c, in), ScaleOf(c, out), ZeroPointOf(c, out)},
              std::move(attrs));
}

absl::StatusOr<ValueId> Requantized(Converter& c, ValueId x, double factor) {
  KILN_ASSIGN_OR_RETURN(const Quantization in, QuantizationOfInput(c, 0));
  KILN_ASSIGN_OR_RETURN(const Quantization out, QuantizationOfOutput(c, 0));
  KILN_ASSIGN_OR_RETURN(const DType dtype, c.OutputDType(0));
  return c.Op("qnn.requantize",
              {x, Scales(c, {factor}), ZeroPointOf(c, in), Scales(c, {1}), ZeroPointOf(c, out)},
              {{"rounding", "TFLITE"}, {"out_dtype", dtype.ToString()}});
}

}  // namespace kiln::tflite_frontend
