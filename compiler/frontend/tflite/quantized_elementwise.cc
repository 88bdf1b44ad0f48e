// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/tflite/quantized_elementwise.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/tflite/quantized.h"

namespace kiln::tflite_frontend {
namespace {

constexpr int64_t kLargest8 = 255;  // largest 8-bit number minus its zero point

// Input i, quantized with a single scale, as int32 minus its zero point.
struct CentredInput {
  ValueId value;
  double scale;
};
absl::StatusOr<CentredInput> Centred(Converter& c, int i) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(i));
  KILN_ASSIGN_OR_RETURN(const Quantization q, QuantizationOfInput(c, i));
  if (q.per_channel()) return absl::UnimplementedError("operands with several scales");
  if (c.type(x).dtype.bits > 16) {
    return Wrong(absl::StrCat("input ", i), c.type(x).ToString(), "integers of up to 16 bits");
  }
  KILN_ASSIGN_OR_RETURN(const ValueId centred, CentredAs(c, {x, q}, kI32));
  return CentredInput{centred, static_cast<double>(q.scales[0])};
}

// Sets output 0 to value * factor in the scale of the output.
absl::Status SetRescaled(Converter& c, ValueId value, double factor) {
  KILN_ASSIGN_OR_RETURN(const Quantization out, QuantizationOfOutput(c, 0));
  KILN_ASSIGN_OR_RETURN(const DType dtype, c.OutputDType(0));
  return c.Output(0, Rescaled(c, value, {factor}, out.zero_points[0], dtype));
}

absl::StatusOr<double> OutScale(const Converter& c) {
  KILN_ASSIGN_OR_RETURN(const Quantization out, QuantizationOfOutput(c, 0));
  return static_cast<double>(out.scales[0]);
}

absl::StatusOr<ValueId> TimesPowerOfTwo(Converter& c, ValueId x, int exponent) {
  if (exponent == 0) return x;
  return c.Op("multiply", {x, c.Scalar(x, static_cast<double>(int64_t{1} << exponent))});
}

// Sets output 0 to `sum`, which has the scale of input 0 and a magnitude of at most `largest`.
// TFLite Micro computes such sums with 19 additional bits, which works only for sums below 4,096.
// Larger sums are rescaled without these bits.
absl::Status SetSum(Converter& c, ValueId sum, int64_t largest) {
  constexpr int kShift = 20;
  constexpr int64_t kEnd = int64_t{1} << (32 - kShift);
  KILN_ASSIGN_OR_RETURN(const Quantization in, QuantizationOfInput(c, 0));
  KILN_ASSIGN_OR_RETURN(const Quantization out, QuantizationOfOutput(c, 0));
  KILN_ASSIGN_OR_RETURN(const DType dtype, c.OutputDType(0));
  const auto rescaled = [&](ValueId value, int shift) -> absl::StatusOr<ValueId> {
    KILN_ASSIGN_OR_RETURN(value, TimesPowerOfTwo(c, value, shift));
    const double factor = static_cast<double>(in.scales[0]) / static_cast<double>(out.scales[0]);
    return Rescaled(c, value, {std::ldexp(factor, -shift)}, out.zero_points[0], dtype);
  };
  if (largest < kEnd) return c.Output(0, rescaled(sum, kShift - 1));
  const double most = kEnd - 1;
  KILN_ASSIGN_OR_RETURN(const ValueId small,
                        c.Op("clip", {sum}, {{"a_min", -most}, {"a_max", most}}));
  KILN_ASSIGN_OR_RETURN(const ValueId fine, rescaled(small, kShift - 1));
  KILN_ASSIGN_OR_RETURN(const ValueId coarse, rescaled(sum, 0));
  KILN_ASSIGN_OR_RETURN(const ValueId is_small, c.Op("equal", {small, sum}));
  return c.Output(0, c.Op("where", {is_small, fine, coarse}));
}

}  // namespace

// If the scales are equal, the factor is 1 and changes nothing.
absl::Status QuantizedAbs(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const CentredInput x, Centred(c, 0));
  KILN_ASSIGN_OR_RETURN(const ValueId y, c.Op("abs", {x.value}));
  KILN_ASSIGN_OR_RETURN(const double out, OutScale(c));
  return SetRescaled(c, y, x.scale / out);
}

// The inputs have the same scale, so their sum has it too. (TFLite Micro adds the zero point once
// more.)
absl::Status QuantizedAddN(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const CentredInput first, Centred(c, 0));
  KILN_ASSIGN_OR_RETURN(const Quantization wanted, QuantizationOfInput(c, 0));
  ValueId sum = first.value;
  for (int i = 1; i < c.num_inputs(); ++i) {
    KILN_ASSIGN_OR_RETURN(const Quantization q, QuantizationOfInput(c, i));
    if (q != wanted) return absl::UnimplementedError("inputs whose scales or zero points differ");
    KILN_ASSIGN_OR_RETURN(const CentredInput next, Centred(c, i));
    KILN_ASSIGN_OR_RETURN(sum, c.Op("add", {sum, next.value}));
  }
  return SetSum(c, sum, c.num_inputs() * kLargest8);
}

// The sums start with 0. (TFLite Micro's start with the zero point.)
absl::Status QuantizedCumsum(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const CentredInput x, Centred(c, 0));
  KILN_ASSIGN_OR_RETURN(const ValueId sums, CumulativeSum(c, x.value));
  KILN_ASSIGN_OR_RETURN(const int64_t given, c.IntInput(1, "the axis"));
  KILN_ASSIGN_OR_RETURN(const int64_t axis, NormalAxis(given, c.type(sums).rank()));
  return SetSum(c, sums, c.type(sums).shape[static_cast<size_t>(axis)] * kLargest8);
}

// Both operands are multiplied by their scales with 8 additional bits, so small differences at
// small scales vanish. Scales of 1 and more, which TFLite Micro refuses, are divided by a common
// power of 2.
absl::Status QuantizedCompare(Converter& c, absl::string_view op) {
  KILN_ASSIGN_OR_RETURN(const CentredInput a, Centred(c, 0));
  KILN_ASSIGN_OR_RETURN(const CentredInput b, Centred(c, 1));
  int exponent = 0;
  std::frexp(std::max(a.scale, b.scale), &exponent);
  const auto scaled = [&](const CentredInput& x) -> absl::StatusOr<ValueId> {
    KILN_ASSIGN_OR_RETURN(const ValueId shifted, TimesPowerOfTwo(c, x.value, 8));
    return Rescaled(c, shifted, {std::ldexp(x.scale, -std::max(exponent, 0))}, 0, kI32);
  };
  KILN_ASSIGN_OR_RETURN(const ValueId scaled_a, scaled(a));
  KILN_ASSIGN_OR_RETURN(const ValueId scaled_b, scaled(b));
  return c.Output(0, c.Op(op, {scaled_a, scaled_b}));
}

// Numbers on each side of the zero point have their own factor. If the slope is negative, the
// product with its magnitude is rounded before the sign is changed.
absl::Status QuantizedLeakyRelu(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const CentredInput x, Centred(c, 0));
  KILN_ASSIGN_OR_RETURN(const Quantization out, QuantizationOfOutput(c, 0));
  KILN_ASSIGN_OR_RETURN(const DType dtype, c.OutputDType(0));
  const float alpha = c.Options<tflite_schema::LeakyReluOptions>().alpha();
  if (!std::isfinite(alpha)) return Wrong("alpha", absl::StrCat(alpha), "a number");
  const float in_scale = static_cast<float>(x.scale), out_scale = out.scales[0];
  const float identity = in_scale / out_scale, slope = in_scale * std::abs(alpha) / out_scale;
  KILN_ASSIGN_OR_RETURN(const ValueId above, Rescaled(c, x.value, {static_cast<double>(identity)},
                                                      out.zero_points[0], dtype));
  ValueId below = c.Constant(Tensor::Scalar(dtype, out.zero_points[0]));
  if (slope > 0 && alpha > 0) {
    KILN_ASSIGN_OR_RETURN(
        below, Rescaled(c, x.value, {static_cast<double>(slope)}, out.zero_points[0], dtype));
  } else if (slope > 0) {
    KILN_ASSIGN_OR_RETURN(below, Rescaled(c, x.value, {static_cast<double>(slope)}, 0, kI32));
    const auto bound = [&](int64_t end) { return static_cast<double>(out.zero_points[0] - end); };
    KILN_ASSIGN_OR_RETURN(
        below, c.Op("clip", {below},
                    {{"a_min", bound(dtype.MaxInt())}, {"a_max", bound(dtype.MinInt())}}));
    KILN_ASSIGN_OR_RETURN(below, c.Op("subtract", {c.Scalar(below, out.zero_points[0]), below}));
    KILN_ASSIGN_OR_RETURN(below, c.Op("cast", {below}, {{"dtype", dtype.ToString()}}));
  }
  KILN_ASSIGN_OR_RETURN(const ValueId negative, c.Op("less", {x.value, c.Scalar(x.value, 0)}));
  return c.Output(0, c.Op("where", {negative, below, above}));
}

// Multiplies x by one factor if it is not negative, otherwise x * slope by another.
absl::Status QuantizedPrelu(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const CentredInput x, Centred(c, 0));
  KILN_ASSIGN_OR_RETURN(const CentredInput slope, Centred(c, 1));
  KILN_ASSIGN_OR_RETURN(const Quantization out, QuantizationOfOutput(c, 0));
  KILN_ASSIGN_OR_RETURN(const DType dtype, c.OutputDType(0));
  const auto rescaled = [&](ValueId value, double scale) {
    return Rescaled(c, value, {scale / static_cast<double>(out.scales[0])}, out.zero_points[0],
                    dtype);
  };
  KILN_ASSIGN_OR_RETURN(const ValueId product, c.Op("multiply", {x.value, slope.value}));
  KILN_ASSIGN_OR_RETURN(const ValueId below, rescaled(product, x.scale * slope.scale));
  KILN_ASSIGN_OR_RETURN(const ValueId above, rescaled(x.value, x.scale));
  KILN_ASSIGN_OR_RETURN(const ValueId negative, c.Op("less", {x.value, c.Scalar(x.value, 0)}));
  return c.Output(0, c.Op("where", {negative, below, above}));
}

// Rescales both operands to twice the larger scale, with 7 additional bits for int8.
absl::Status QuantizedSquaredDifference(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const CentredInput a, Centred(c, 0));
  KILN_ASSIGN_OR_RETURN(const CentredInput b, Centred(c, 1));
  KILN_ASSIGN_OR_RETURN(const double out, OutScale(c));
  KILN_ASSIGN_OR_RETURN(const DType dtype, c.OutputDType(0));
  const int shift = dtype.bits == 8 ? 7 : 0;
  const double common = 2 * std::max(a.scale, b.scale);
  const auto scaled = [&](const CentredInput& x) -> absl::StatusOr<ValueId> {
    KILN_ASSIGN_OR_RETURN(const ValueId shifted, TimesPowerOfTwo(c, x.value, shift));
    return Rescaled(c, shifted, {x.scale / common}, 0, kI32);
  };
  KILN_ASSIGN_OR_RETURN(const ValueId scaled_a, scaled(a));
  KILN_ASSIGN_OR_RETURN(const ValueId scaled_b, scaled(b));
  KILN_ASSIGN_OR_RETURN(ValueId y, c.Op("subtract", {scaled_a, scaled_b}));
  KILN_ASSIGN_OR_RETURN(y, c.Op("multiply", {y, y}));
  return SetRescaled(c, y, common * common / ((1 << 2 * shift) * out));
}

}  // namespace kiln::tflite_frontend
