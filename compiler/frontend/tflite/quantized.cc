// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/tflite/quantized.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"

namespace kiln::tflite_frontend {
namespace {

using tflite_schema::Activation;

const DType kF64 = DType::Float(64), kI32 = DType::Int(32);

// One scale, or one per channel.
ValueId Scales(Converter& c, const std::vector<double>& scales) {
  Shape shape;
  if (scales.size() > 1) shape.push_back(static_cast<int64_t>(scales.size()));
  return c.Constant(Tensor::From<double>(std::move(shape), kF64, scales));
}

absl::StatusOr<Quantization> Wanted(const std::optional<Quantization>& q, absl::string_view what) {
  if (q.has_value()) return *q;
  return Wrong(what, "no scale", "a quantised tensor, as the others are");
}

// A bias of integers, as long as the result has channels.
absl::StatusOr<ValueId> WithBias(Converter& c, ValueId y, int input) {
  if (!c.HasInput(input)) return y;
  KILN_ASSIGN_OR_RETURN(ValueId bias, c.Input(input));
  KILN_ASSIGN_OR_RETURN(bias, c.Reshape(bias, {c.type(y).shape.back()}));
  return c.Op("nn.bias_add", {y, bias}, {{"axis", -1}});
}

// float32 sums of what the operands say.
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

ValueId ScaleOf(Converter& c, const Quantization& q) {
  return Scales(c, {q.scales.begin(), q.scales.end()});
}

ValueId ZeroPointOf(Converter& c, const Quantization& q) {
  // Those of several channels are all 0 but in models that no kernel of TFLite takes.
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
                                                   " of quantised numbers"));
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
    // Weights of integers for data of floats.
    KILN_ASSIGN_OR_RETURN(const Tensor weight, c.ConstantInput(p.weight_input, "the weight"));
    ProductOperands floats = p;
    const ValueId dequantized = c.Constant(Dequantized(weight, *w_q));
    KILN_ASSIGN_OR_RETURN(floats.weight, c.Reshape(dequantized, c.type(p.weight).shape));
    return FloatProduct(c, op, floats, std::move(attrs), activation);
  }
  if (!x_q.has_value()) return FloatProduct(c, op, p, std::move(attrs), activation);
  KILN_ASSIGN_OR_RETURN(const Quantization weight, Wanted(w_q, "weight"));
  KILN_ASSIGN_OR_RETURN(const std::optional<Quantization> out_q, OutputQuantization(c, 0));
  KILN_ASSIGN_OR_RETURN(const Quantization out, Wanted(out_q, "output"));

  DType sums = kI32;
  if (c.type(p.x).dtype.bits == 16 && p.wide_sums) sums = DType::Int(64);
  if (c.HasInput(p.bias_input)) {
    KILN_ASSIGN_OR_RETURN(const ValueId bias, c.Input(p.bias_input));
    sums = c.type(bias).dtype;
  }
  attrs.Set("out_dtype", sums.ToString());
  KILN_ASSIGN_OR_RETURN(ValueId y, c.Op(absl::StrCat("qnn.", op),
                                        {p.x, p.weight, ScaleOf(c, *x_q), ZeroPointOf(c, *x_q),
                                         ScaleOf(c, weight), ZeroPointOf(c, weight)},
                                        std::move(attrs)));
  KILN_ASSIGN_OR_RETURN(y, WithBias(c, y, p.bias_input));
  std::vector<double> scales;
  for (float scale : weight.scales) {
    const float product = x_q->scales[0] * scale;
    scales.push_back(p.single_scale ? static_cast<double>(product)
                                    : static_cast<double>(x_q->scales[0]) * scale);
  }
  KILN_ASSIGN_OR_RETURN(const DType dtype, c.OutputDType(0));
  KILN_ASSIGN_OR_RETURN(y, c.Op("qnn.requantize",
                                {y, Scales(c, scales), c.Constant(Tensor::Scalar(kI32, 0)),
                                 ScaleOf(c, out), ZeroPointOf(c, out)},
                                {{"rounding", "TFLITE"}, {"out_dtype", dtype.ToString()}}));
  return ActivatedQuantized(c, y, out, activation);
}

absl::StatusOr<ValueId> QnnUnary(Converter& c, absl::string_view op, ValueId x, Attrs attrs) {
  KILN_ASSIGN_OR_RETURN(const std::optional<Quantization> in_q, InputQuantization(c, 0));
  KILN_ASSIGN_OR_RETURN(const std::optional<Quantization> out_q, OutputQuantization(c, 0));
  KILN_ASSIGN_OR_RETURN(const Quantization in, Wanted(in_q, "data"));
  KILN_ASSIGN_OR_RETURN(const Quantization out, Wanted(out_q, "output"));
  return c.Op(op, {x, ScaleOf(c, in), ZeroPointOf(c, in), ScaleOf(c, out), ZeroPointOf(c, out)},
              std::move(attrs));
}

absl::StatusOr<ValueId> Requantized(Converter& c, ValueId x, double factor) {
  KILN_ASSIGN_OR_RETURN(const std::optional<Quantization> in_q, InputQuantization(c, 0));
  KILN_ASSIGN_OR_RETURN(const std::optional<Quantization> out_q, OutputQuantization(c, 0));
  KILN_ASSIGN_OR_RETURN(const Quantization in, Wanted(in_q, "data"));
  KILN_ASSIGN_OR_RETURN(const Quantization out, Wanted(out_q, "output"));
  KILN_ASSIGN_OR_RETURN(const DType dtype, c.OutputDType(0));
  return c.Op("qnn.requantize",
              {x, Scales(c, {factor}), ZeroPointOf(c, in), Scales(c, {1}), ZeroPointOf(c, out)},
              {{"rounding", "TFLITE"}, {"out_dtype", dtype.ToString()}});
}

}  // namespace kiln::tflite_frontend
