// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "compiler/loop/math.h"
#include "compiler/ops/axes.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/fixed_point.h"
#include "compiler/ops/quantized.h"
#include "compiler/ops/quantized_softmax.h"

namespace kiln {
namespace {

constexpr int kInterpolatedSteps = 512;  // steps of a table for int16 data
// exp(-10) is as good as 0: all differences of 10 and more count as 10.
constexpr double kFarBelow = 10;

DType SoftmaxOutDType(const Attrs& attrs, DType data) { return attrs.DTypeOr("out_dtype", data); }

// Scale and zero point of the result of a softmax.
struct SoftmaxResult {
  double scale;
  int64_t zero_point;
};
SoftmaxResult ResultOf(DType data, DType out) {
  if (out.bits == 8) return {0x1p-8, out.MinInt()};
  return data.bits == 8 ? SoftmaxResult{0x1p-16, out.MinInt()} : SoftmaxResult{0x1p-15, 0};
}

absl::Status CheckResult(const InferContext& c, DType out) {
  const DType data = c.inputs[kData].dtype;
  KILN_CONSTRAINT(5, out == data || (data.bits == 8 && out == DType::Int(16)), out.ToString(),
                  "as data, or int16");
  const SoftmaxResult wanted = ResultOf(data, out);
  const double scale = c.constants[kOutScale]->AsDouble(0);
  // TFLite accepts inexact scales of int16.
  const double error = out.bits == 8 ? 0 : 0.001;
  KILN_CONSTRAINT(6, std::abs(scale / wanted.scale - 1) <= error,
                  absl::StrCat("output_scale ", scale), absl::StrCat(wanted.scale));
  const Tensor* zero = c.constants[kOutZero];
  KILN_CONSTRAINT(
      6, zero != nullptr && zero->type().num_elements() == 1 && zero->AsInt(0) == wanted.zero_point,
      zero == nullptr ? "an output_zero_point that is computed" : "output_zero_point",
      absl::StrCat("the constant ", wanted.zero_point));
  return absl::OkStatus();
}

// The factor that rescales differences of int16 numbers to units of 10 / 65535.
double FactorOf16(double scale) { return scale / (kFarBelow / 65535.0); }

InferResult InferQnnSoftmax(const InferContext& c) {
  const TensorType& data = c.inputs[kData];
  const bool wide = data.dtype == DType::Int(16);
  KILN_CONSTRAINT(1, wide || data.dtype == DType::Int(8) || data.dtype == DType::UInt(8),
                  data.dtype.ToString(), "int8, uint8 or int16");
  KILN_RETURN_IF_ERROR(NormalizeAxis(c.attrs.Int("axis"), data.rank(), 2).status());
  KILN_RETURN_IF_ERROR(CheckScale(c, kScale, 1, Known::kAtCompileTime, 3));
  KILN_RETURN_IF_ERROR(CheckScale(c, kOutScale, 1, Known::kAtCompileTime, 3));
  const double in_scale = c.constants[kScale]->AsDouble(0), least = LeastSoftmaxScale();
  KILN_CONSTRAINT(3, in_scale >= least, absl::StrCat("the scale ", in_scale),
                  absl::StrCat("at least ", least));
  // Differences of int16 are shifted left by up to 14 bits.
  KILN_CONSTRAINT(3, !wide || FactorOf16(in_scale) < 1 << 14, absl::StrCat("the scale ", in_scale),
                  "below 2.5 of int16");
  KILN_RETURN_IF_ERROR(CheckZeroPoint(c, kZero, 1, 4));
  const DType out = SoftmaxOutDType(c.attrs, data.dtype);
  KILN_RETURN_IF_ERROR(CheckResult(c, out));
  const int64_t extent = data.shape[AxisOf(c.attrs.Int("axis"), data.shape.size())],
                most = wide ? 1 << 16 : 1 << kSumIntegerBits;
  KILN_CONSTRAINT(7, extent < most, absl::StrCat(extent, " places"),
                  absl::StrCat("fewer than ", most));
  return OutputTypes({{data.shape, out}});
}

// Table of f at kInterpolatedSteps + 1 places from `low` to `high`, in units of 2^-15. Each entry
// but the last is corrected by half of the interpolation error in the middle between it and the
// next. Computed in float32, as in TFLite.
Tensor InterpolatedTable(float low, float high, const std::function<float(float)>& f) {
  constexpr float kOne = 32768;
  const float step = (high - low) / kInterpolatedSteps;
  const auto bounded = [](float value) {
    return static_cast<int32_t>(std::clamp(value, -kOne, kOne - 1));
  };
  std::vector<int32_t> table;
  for (int i = 0; i < kInterpolatedSteps; ++i) {
    const float at = low + static_cast<float>(i) * step,
                next_at = low + static_cast<float>(i + 1) * step;
    const float value = std::round(f(at) * kOne);
    const float interpolated = std::round((f(next_at) * kOne + value) / 2);
    const float error = interpolated - std::round(f(at + step / 2) * kOne);
    table.push_back(bounded(value - std::round(error / 2)));
  }
  table.push_back(bounded(std::round(f(high) * kOne)));
  return Tensor::From<int32_t>({kInterpolatedSteps + 1}, kI32, table);
}

// Interpolates for an int16 x between entry x / 128, counted from the middle of the
// table, and the next entry.
Expr Interpolated(const Access& table, const Expr& x) {
  const auto shr = [](const Expr& e) { return Shr(e, I32Const(7)); };
  const Expr place = shr(x) + I32Const(kInterpolatedSteps / 2);
  const Expr rest = loop::MakeBinary(loop::BinaryOp::kAnd, x, I32Const(127));
  const Expr low = table({ClampIndex(place, kInterpolatedSteps)});
  const Expr high = table({ClampIndex(place + I32Const(1), kInterpolatedSteps + 1)});
  return low + shr((high - low) * rest + I32Const(64));
}

Expr Bounded16(const Expr& x) { return Max(Min(x, I32Const(32767)), I32Const(-32768)); }

// Lowers softmax of int16. Exponentials and the reciprocal of their sum come from tables,
// both with 15 fraction bits.
void Lower16(StageBuilder& b) {
  const Shape& shape = b.input_shape(kData);
  std::vector<bool> reduced(shape.size());
  reduced[AxisOf(b.attrs().Int("axis"), shape.size())] = true;
  const Shape rows = ReducedShape(shape, reduced, false), row = ReductionExtents(shape, reduced);
  const auto exp_of = [](float x) { return static_cast<float>(std::exp(static_cast<double>(x))); };
  const Access x = b.Input(kData),
               exps = b.Table("exp", InterpolatedTable(-static_cast<float>(kFarBelow), 0, exp_of)),
               reciprocals = b.Table("reciprocals",
                                     InterpolatedTable(0, 1, [](float v) { return 1 / (1 + v); }));
  const Rescale rescale(b, "difference", {FactorOf16(OperandValues(b, kScale)[0])},
                        Rounding::kTflite, kI32, DType::Int(64));
  const Access max = b.Reduce(
      "max", rows, row, loop::Combine::kMax,
      [&](const Indices& i, const Indices& r) { return x(UnreducedIndex(i, r, reduced, false)); });
  const Access exp = [=](const Indices& i) {
    const Expr difference =
        loop::MakeCast(kI32, x(i)) - loop::MakeCast(kI32, max(ReducedIndex(i, reduced)));
    return Interpolated(exps, Bounded16(rescale(difference, Expr(0)) + I32Const(32767)));
  };
  const Access sum =
      b.Reduce("sum", rows, row, loop::Combine::kSum, [&](const Indices& i, const Indices& r) {
        return exp(UnreducedIndex(i, r, reduced, false));
      });
  const Access zeros =
      b.Compute("zeros", rows, [&](const Indices& i) { return CountLeadingZeros(sum(i)); });
  const Access reciprocal = b.Compute("reciprocal", rows, [&](const Indices& i) {
    // The sum is normalized to [1, 2) with 16 fraction bits, then centered around 0.
    const Expr high = Shl(sum(i), zeros(i) - I32Const(1));
    const Expr shifted = Shr(Shr(high, I32Const(13)) + I32Const(1), I32Const(1));
    return Interpolated(reciprocals, Bounded16(shifted - I32Const((1 << 15) + (1 << 16))));
  });
  b.Output(0, [&](const Indices& i) {
    const Indices at = ReducedIndex(i, reduced);
    const Expr shift = I32Const(31) - zeros(at);
    const Expr half = Shl(I32Const(1), shift - I32Const(1));
    const Expr y = Shr(exp(i) * reciprocal(at) + half, shift);
    return loop::MakeCast(DType::Int(16), Max(Min(y, I32Const(32767)), I32Const(0)));
  });
}

absl::Status LowerQnnSoftmax(StageBuilder& b) {
  if (b.input_dtype(kData).bits == 16) {
    Lower16(b);
    return absl::OkStatus();
  }
  const Shape& shape = b.input_shape(kData);
  std::vector<bool> reduced(shape.size());
  reduced[AxisOf(b.attrs().Int("axis"), shape.size())] = true;
  const Shape rows = ReducedShape(shape, reduced, false);
  const Access x = b.Input(kData);
  const Access table = b.Table("exp", MakeSoftmaxTables(OperandValues(b, kScale)[0]).exponentials);
  const Access max = b.Reduce(
      "max", rows, ReductionExtents(shape, reduced), loop::Combine::kMax,
      [&](const Indices& i, const Indices& r) { return x(UnreducedIndex(i, r, reduced, false)); });
  const Access exp = [=](const Indices& i) {
    const Expr difference =
        loop::MakeCast(kI32, max(ReducedIndex(i, reduced))) - loop::MakeCast(kI32, x(i));
    return table({ClampIndex(difference, 256)});
  };
  const Access sum = b.Reduce("sum", rows, ReductionExtents(shape, reduced), loop::Combine::kSum,
                              [&](const Indices& i, const Indices& r) {
                                return DivideByPowerOfTwo(exp(UnreducedIndex(i, r, reduced, false)),
                                                          kSumIntegerBits);
                              });
  // The sum is 2^bits * (1 + rest), so its reciprocal is the shifted reciprocal of (1 + rest).
  const Access zeros =
      b.Compute("zeros", rows, [&](const Indices& i) { return CountLeadingZeros(sum(i)); });
  const Access reciprocal = b.Compute("reciprocal", rows, [&](const Indices& i) {
    const Expr rest = Shl(sum(i), zeros(i)) - I32Const(std::numeric_limits<int32_t>::min());
    return FixedPointOneOverOnePlus(rest);
  });
  const DType dtype = b.output_dtype(0);
  const int64_t lowest = dtype.MinInt();
  b.Output(0, [&](const Indices& i) {
    const Indices row = ReducedIndex(i, reduced);
    const Expr shift = I32Const(kSumIntegerBits + 31 - dtype.bits) - zeros(row);
    const Expr scaled = MultiplyHigh(reciprocal(row), exp(i));
    // A product below 1, times 2^-32, rounds to 0.
    const Expr quotient = loop::MakeSelect(shift > I32Const(31), I32Const(0),
                                           DivideByPowerOfTwo(scaled, Min(shift, I32Const(31))));
    const Expr value = quotient + I32Const(lowest);
    return loop::MakeCast(dtype, Max(Min(value, I32Const(dtype.MaxInt())), I32Const(lowest)));
  });
  return absl::OkStatus();
}

OpExample SoftmaxExample(TensorType data, double scale, Attrs attrs, double out_bits,
                         int64_t out_zero) {
  return QuantizedExample(
      std::move(data),
      {Tensor(), Scale(scale), ZeroPoint(0), Scale(std::exp2(-out_bits)), ZeroPoint(out_zero)},
      std::move(attrs));
}

const TensorType kWide = {{1, 2}, kI16};

const OpDef kQnnSoftmax = {
    {.name = "qnn.softmax",
     .doc = "Softmax of quantized numbers, as in TFLite's reference kernel. Exponentials, their "
            "sum and its reciprocal are computed in fixed point of 32 bits, and for int16 by "
            "tables and interpolation. The zero point of data has no effect.",
     .inputs = {{"data", "int8, uint8 or int16"},
                {"input_scale", "a constant"},
                {"input_zero_point", "int32"},
                {"output_scale",
                 "a constant: 1/256 for 8-bit results, 1/65536 for int16 results of 8-bit data, "
                 "1/32768 for int16 data"},
                {"output_zero_point",
                 "a constant: the lowest number of the result's dtype, or 0 for int16 data"}},
     .attrs = {{"axis", AttrType::kInt, -1, false, "axis that sums to 1"},
               {"out_dtype", AttrType::kDType, "", false,
                "dtype of the result: that of data if \"\", or int16"}}},
    {"data holds int8, uint8 or int16", "axis is an axis of data",
     "scales are constants of one element above 0; input_scale is at least 2^-26, and below 2.5 "
     "for int16 data",
     "the zero point of data is int32 of one element", "out_dtype is the dtype of data, or int16",
     "output_scale is 1/256, or 1/65536 for int16 results, and output_zero_point is the lowest "
     "number; for int16 data they are 1/32768 and 0",
     "the axis has fewer than 4096 positions, or fewer than 65536 for int16 data"},
    {.fusion = Fusion::kReduction, .layout = {LayoutRule::kAxis, "axis"}},
    InferQnnSoftmax,
    LowerQnnSoftmax,
    {// exp(-1) / (1 + exp(-1)) is 68.85 / 256.
     Case(
         {Values(I8({1, 2}), {10, 0}), Scale(0.1), ZeroPoint(0), Scale(1.0 / 256), ZeroPoint(-128)},
         {}, {Values(I8({1, 2}), {59, -59})}),
     SoftmaxExample(I8({3, 10}), 0.05, {}, 8, -128),
     SoftmaxExample(U8({2, 5, 3}), 0.2, {{"axis", 1}}, 8, 0),
     // The same quotient is 17625.3 / 65536.
     Case(
         {Values(I8({1, 2}), {10, 0}), Scale(0.1), ZeroPoint(0), Scale(0x1p-16), ZeroPoint(-32768)},
         {{"out_dtype", "int16"}}, {Values(kWide, {15143, -15143})}),
     SoftmaxExample(I8({2, 12}), 0.1, {{"out_dtype", "int16"}}, 16, -32768),
     // exp(0.001 * x) / (e + 1 + exp(-3)) is 23640.0, 8696.7 and 433.0 of 32768.
     Case({Values({{1, 3}, kI16}, {1000, 0, -3000}), Scale(0.001), ZeroPoint(0), Scale(0x1p-15),
           ZeroPoint(0)},
          {}, {Values({{1, 3}, kI16}, {23640, 8696, 433})}),
     SoftmaxExample({{2, 12, 3}, kI16}, 0.1, {{"axis", 1}}, 15, 0)},
};
KILN_REGISTER_OP(kQnnSoftmax);

}  // namespace
}  // namespace kiln
