// SPDX-License-Identifier: Apache-2.0
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

constexpr int kOutBits = 7;  // fraction bits of a result
// Number of squares of 255 whose sum fits an int32.
constexpr int64_t kMaxExtent = std::numeric_limits<int32_t>::max() / (255 * 255);

InferResult InferQnnL2Normalize(const InferContext& c) {
  const TensorType& data = c.inputs[kData];
  KILN_CONSTRAINT(1, data.dtype == DType::Int(8), data.dtype.ToString(), "int8");
  KILN_RETURN_IF_ERROR(NormalizeAxis(c.attrs.Int("axis"), data.rank(), 2).status());
  KILN_RETURN_IF_ERROR(CheckScale(c, kScale, 1, Known::kPerhapsLater, 3));
  KILN_RETURN_IF_ERROR(CheckZeroPoint(c, kZero, 1, 4));
  KILN_RETURN_IF_ERROR(CheckResultIs(c, kOutScale, 128, 0, 5));
  const int64_t extent = data.shape[AxisOf(c.attrs.Int("axis"), data.shape.size())];
  KILN_CONSTRAINT(6, extent <= kMaxExtent, absl::StrCat(extent, " places"),
                  absl::StrCat("at most ", kMaxExtent));
  return OutputTypes({data});
}

// A sum of squares n, brought to [2^27, 2^29) by a power of 4.
struct Normal {
  Expr n, shift;  // log4 of the divisor of the sum
};
Normal Normalized(const Expr& sum) {
  const Expr large = sum >= I32Const(1 << 29);
  // The caller handles sums below 2.
  const Expr n = Max(loop::MakeSelect(large, Shr(sum, I32Const(2)), sum), I32Const(2));
  const Expr pairs = Shr(CountLeadingZeros(n) - I32Const(1), I32Const(1)) - I32Const(1);
  return {Shl(n, pairs + pairs), loop::MakeCast(kI32, large) - pairs};
}

// 1 / sqrt(n), by five steps of Newton's method from 1. Numbers have 3 integer bits.
Expr InverseRoot(const Expr& n) {
  const Expr half = DivideByPowerOfTwo(Shr(n, I32Const(1)), 1);
  const Expr three_halves = I32Const((1 << 28) + (1 << 27));
  Expr x = I32Const(1 << 28);
  for (int step = 0; step < 5; ++step) {
    // Products of two numbers with 3 integer bits have 6, products of three have 9.
    const Expr cube = SaturatingShiftLeft(MultiplyHigh(MultiplyHigh(x, x), x), 6);
    x = SaturatingShiftLeft(MultiplyHigh(three_halves, x) - MultiplyHigh(half, cube), 3);
  }
  return MultiplyHigh(x, I32Const(std::llround(std::sqrt(0.5) * 0x1p31)));
}

absl::Status LowerQnnL2Normalize(StageBuilder& b) {
  const Shape& shape = b.input_shape(kData);
  std::vector<bool> reduced(shape.size());
  reduced[AxisOf(b.attrs().Int("axis"), shape.size())] = true;
  const Shape rows = ReducedShape(shape, reduced, false);
  const Access x = Centred(b, b.Input(kData), kZero, kI32);
  const Access sum = b.Reduce("sum", rows, ReductionExtents(shape, reduced), loop::Combine::kSum,
                              [&](const Indices& i, const Indices& r) {
                                const Expr value = x(UnreducedIndex(i, r, reduced, false));
                                return value * value;
                              });
  // The inverse root of the sums 0 and 1 is 1.
  const Access root = b.Compute("root", rows, [&](const Indices& i) {
    return loop::MakeSelect(sum(i) < I32Const(2), I32Const(std::numeric_limits<int32_t>::max()),
                            InverseRoot(Normalized(sum(i)).n));
  });
  const Access shift = b.Compute("shift", rows, [&](const Indices& i) {
    return loop::MakeSelect(sum(i) < I32Const(2), I32Const(kOutBits),
                            I32Const(kOutBits - 11) - Normalized(sum(i)).shift);
  });
  b.Output(0, [&](const Indices& i) {
    const Indices row = ReducedIndex(i, reduced);
    const Expr left = Max(shift(row), I32Const(0)), right = Max(-shift(row), I32Const(0));
    const Expr y = DivideByPowerOfTwo(MultiplyHigh(Shl(x(i), left), root(row)), right);
    return Saturate(y, I32Const(0), DType::Int(8));
  });
  return absl::OkStatus();
}

std::vector<Tensor> L2NormalizeOperands(Tensor data, int64_t zero) {
  return {std::move(data), Scale(0.1), ZeroPoint(zero), Scale(1.0 / 128), ZeroPoint(0)};
}

const OpDef kQnnL2Normalize = {
    {.name = "qnn.l2_normalize",
     .doc = "Quantized numbers divided by their length along the axis, as in TFLite's reference "
            "kernel: the inverse of the root is computed in fixed point of 32 bits. The result is "
            "0 if all numbers stand for 0.",
     .inputs = {{"data", "int8"},
                {"input_scale", "has no effect here"},
                {"input_zero_point", "int32"},
                {"output_scale", "the constant 1/128"},
                {"output_zero_point", "the constant 0"}},
     .attrs = {{"axis", AttrType::kInt, -1, false, "axis of the length"}}},
    {"data holds int8", "axis is an axis of data", "scales are float32 or float64 above 0",
     "the zero point of data is int32 of one element",
     "output_scale is 1/128 and output_zero_point 0", "the axis has at most 33025 positions"},
    {.fusion = Fusion::kReduction, .layout = {LayoutRule::kAxis, "axis"}},
    InferQnnL2Normalize,
    LowerQnnL2Normalize,
    {// The lengths are 41.8 and 180.3.
     Case(L2NormalizeOperands(Values(I8({1, 4}), {10, -20, 30, 5}), 3), {},
          {Values(I8({1, 4}), {25, -81, 95, 7})}),
     Case(L2NormalizeOperands(Values(I8({3, 1}), {127, -128, 0}), -1), {{"axis", 0}},
          {Values(I8({3, 1}), {91, -90, 1})}),
     // Lengths of 1 and 0.
     Case(L2NormalizeOperands(Values(I8({2, 3}), {3, 3, 4, 3, 3, 3}), 3), {},
          {Values(I8({2, 3}), {0, 0, 127, 0, 0, 0})}),
     QuantizedExample(I8({2, 5, 3}), L2NormalizeOperands(Tensor(), 2), {{"axis", 1}})},
};
KILN_REGISTER_OP(kQnnL2Normalize);

}  // namespace
}  // namespace kiln
