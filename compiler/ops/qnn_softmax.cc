// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/loop/math.h"
#include "compiler/ops/axes.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/fixed_point.h"
#include "compiler/ops/quantized.h"

namespace kiln {
namespace {

enum { kData, kScale, kZero, kOutScale, kOutZero };

const DType kI32 = DType::Int(32);
// Of differences to the largest number, and of sums of exponentials.
constexpr int kDifferenceIntegerBits = 5, kSumIntegerBits = 12;

Expr I32Const(int64_t value) { return loop::IntConst(loop::Type::Of(kI32), value); }

DType OutDType(const Attrs& attrs, DType data) { return attrs.DTypeOr("out_dtype", data); }

InferResult Infer(const InferContext& c) {
  const TensorType& data = c.inputs[kData];
  KILN_CONSTRAINT(1, data.dtype.bits == 8 && !data.dtype.is_bool() && data.dtype.is_integral(),
                  data.dtype.ToString(), "int8 or uint8");
  KILN_RETURN_IF_ERROR(NormalizeAxis(c.attrs.Int("axis"), data.rank(), 2).status());
  KILN_RETURN_IF_ERROR(CheckScale(c, kScale, 1, Known::kAtCompileTime, 3));
  KILN_RETURN_IF_ERROR(CheckScale(c, kOutScale, 1, Known::kAtCompileTime, 3));
  const double in_scale = c.constants[kScale]->AsDouble(0),
               least = std::exp2(kDifferenceIntegerBits - 31);
  KILN_CONSTRAINT(3, in_scale >= least, absl::StrCat("the scale ", in_scale),
                  absl::StrCat("at least ", least));
  KILN_RETURN_IF_ERROR(CheckZeroPoint(c, kZero, 1, 4));
  const DType out = OutDType(c.attrs, data.dtype);
  KILN_CONSTRAINT(5, out == data.dtype || out == DType::Int(16), out.ToString(),
                  "as data, or int16");
  const double scale = c.constants[kOutScale]->AsDouble(0),
               wanted = std::exp2(-(out.bits == 8 ? 8 : 15));
  KILN_CONSTRAINT(6, scale == wanted, absl::StrCat("output_scale ", scale), absl::StrCat(wanted));
  const Tensor* zero = c.constants[kOutZero];
  const int64_t lowest = out.bits == 8 ? out.MinInt() : 0;
  KILN_CONSTRAINT(6,
                  zero != nullptr && zero->type().num_elements() == 1 && zero->AsInt(0) == lowest,
                  zero == nullptr ? "an output_zero_point that is computed" : "output_zero_point",
                  absl::StrCat("the constant ", lowest));
  const int64_t extent = data.shape[AxisOf(c.attrs.Int("axis"), data.shape.size())];
  KILN_CONSTRAINT(7, extent < 1 << kSumIntegerBits, absl::StrCat(extent, " places"),
                  absl::StrCat("fewer than ", 1 << kSumIntegerBits));
  return OutputTypes({{data.shape, out}});
}

// exp(-scale * n) for n = 0 … 255, with no integer bits; 0 where the difference is out of range.
Tensor Exponentials(double scale) {
  const double limit = static_cast<double>((int64_t{1} << 31) - 1);
  const FixedPointFactor factor =
      ToFixedPoint(std::min(scale * std::exp2(31 - kDifferenceIntegerBits), limit));
  // The largest difference that the integer bits hold.
  const double radius =
      std::floor(static_cast<double>((1 << kDifferenceIntegerBits) - 1) *
                 std::exp2(31 - kDifferenceIntegerBits) / std::exp2(factor.shift));
  std::vector<int32_t> table;
  for (int n = 0; n < 256; ++n) {
    int64_t raw = 0;
    if (n <= radius) {
      const Expr difference =
          MultiplyHigh(I32Const(-(int64_t{n} << factor.shift)), I32Const(factor.multiplier));
      loop::AsInt(FixedPointExp(difference, kDifferenceIntegerBits), &raw);
    }
    table.push_back(static_cast<int32_t>(raw));
  }
  return Tensor::From<int32_t>({256}, kI32, table);
}

absl::Status Lower(StageBuilder& b) {
  const Shape& shape = b.input_shape(kData);
  std::vector<bool> reduced(shape.size());
  reduced[AxisOf(b.attrs().Int("axis"), shape.size())] = true;
  const Shape rows = ReducedShape(shape, reduced, false);
  const Access x = b.Input(kData);
  const Access table = b.Table("exp", Exponentials(OperandValues(b, kScale)[0]));
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
  // The sum is 2^bits * (1 + rest), so that its reciprocal is that of (1 + rest), shifted.
  const Access zeros =
      b.Compute("zeros", rows, [&](const Indices& i) { return CountLeadingZeros(sum(i)); });
  const Access reciprocal = b.Compute("reciprocal", rows, [&](const Indices& i) {
    const Expr rest = loop::MakeBinary(loop::BinaryOp::kShl, sum(i), zeros(i)) -
                      I32Const(std::numeric_limits<int32_t>::min());
    return FixedPointOneOverOnePlus(rest);
  });
  const DType dtype = b.output_dtype(0);
  const int64_t lowest = dtype.MinInt();
  b.Output(0, [&](const Indices& i) {
    const Indices row = ReducedIndex(i, reduced);
    const Expr shift = I32Const(kSumIntegerBits + 31 - dtype.bits) - zeros(row);
    const Expr scaled = MultiplyHigh(reciprocal(row), exp(i));
    // Of a product below 1, 2^-32 is nothing.
    const Expr quotient = loop::MakeSelect(shift > I32Const(31), I32Const(0),
                                           DivideByPowerOfTwo(scaled, Min(shift, I32Const(31))));
    const Expr value = quotient + I32Const(lowest);
    return loop::MakeCast(dtype, Max(Min(value, I32Const(dtype.MaxInt())), I32Const(lowest)));
  });
  return absl::OkStatus();
}

OpExample Example(TensorType data, double scale, Attrs attrs, double out_bits, int64_t out_zero) {
  return {.inputs = {data, ScaleType(), I32({}), ScaleType(), I32({})},
          .attrs = std::move(attrs),
          .values = {Tensor(), Scale(scale), ZeroPoint(0), Scale(std::exp2(-out_bits)),
                     ZeroPoint(out_zero)},
          .input_min = -32,
          .input_max = 31};
}

const OpDef kSoftmax = {
    {.name = "qnn.softmax",
     .doc =
         "Softmax of quantised numbers as TFLite's reference kernel computes it: exponentials, "
         "their sum and its reciprocal in fixed point of 32 bits. The zero point of data makes no "
         "difference.",
     .inputs = {{"data", "int8 or uint8"},
                {"input_scale", "a constant"},
                {"input_zero_point", "int32"},
                {"output_scale", "a constant: 1/256, of int16 1/32768"},
                {"output_zero_point", "a constant: the lowest number of the dtype, of int16 0"}},
     .attrs = {{"axis", AttrType::kInt, -1, false, "that sums to 1"},
               {"out_dtype", AttrType::kDType, "", false, "\"\": as data; or int16"}}},
    {"data holds int8 or uint8", "axis is an axis of data",
     "scales are constants of one element above 0, input_scale at least 2^-26",
     "the zero point of data is int32 of one element", "out_dtype is that of data, or int16",
     "output_scale is 1/256 and output_zero_point the lowest number; of int16 1/32768 and 0",
     "the axis has fewer than 4096 places"},
    Fusion::kReduction,
    Infer,
    Lower,
    {// exp(-1) / (1 + exp(-1)) is 68.85 / 256.
     Case(
         {Values(I8({1, 2}), {10, 0}), Scale(0.1), ZeroPoint(0), Scale(1.0 / 256), ZeroPoint(-128)},
         {}, {Values(I8({1, 2}), {59, -59})}),
     Example(I8({3, 10}), 0.05, {}, 8, -128), Example(U8({2, 5, 3}), 0.2, {{"axis", 1}}, 8, 0),
     Example(I8({2, 12}), 0.1, {{"out_dtype", "int16"}}, 15, 0)},
};
KILN_REGISTER_OP(kSoftmax);

}  // namespace
}  // namespace kiln
