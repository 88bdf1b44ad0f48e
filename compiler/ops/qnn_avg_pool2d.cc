// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/pooling.h"
#include "compiler/ops/quantized.h"

namespace kiln {
namespace {

InferResult InferQnnAvgPool2d(const InferContext& c) {
  const TensorType& data = c.inputs[kData];
  KILN_ASSIGN_OR_RETURN(const Pool pool, MakePool(c.attrs, data, 2));
  KILN_CONSTRAINT(7, data.dtype.is_integral() && data.dtype.bits <= 16, data.dtype.ToString(),
                  "integers of up to 16 bits");
  for (size_t k : {kScale, kOutScale}) {
    KILN_RETURN_IF_ERROR(CheckScale(c, k, 1, Known::kAtCompileTime, 8));
  }
  for (size_t k : {kZero, kOutZero}) {
    KILN_RETURN_IF_ERROR(CheckZeroPoint(c, k, 1, 8));
    KILN_CONSTRAINT(8, c.constants[k] != nullptr, "a zero point that is computed", "a constant");
  }
  for (const auto& [in, out] : {std::pair(kScale, kOutScale), std::pair(kZero, kOutZero)}) {
    const double a = c.constants[in]->AsDouble(0), b = c.constants[out]->AsDouble(0);
    KILN_CONSTRAINT(8, a == b, absl::StrCat(b, " of the output"), absl::StrCat(a, " as data has"));
  }
  return OutputTypes(
      {{pool.layout.Order(data.shape[0], data.shape[pool.layout.channel_dim()], Outs(pool.window)),
        data.dtype}});
}

absl::Status LowerQnnAvgPool2d(StageBuilder& b) {
  KILN_ASSIGN_OR_RETURN(const Pool pool, MakePool(b.attrs(), b.input_type(kData), 2));
  // int32 holds the sum of 65,536 numbers of int16.
  int64_t taps = 1;
  for (const WindowDim& dim : pool.window) taps *= dim.taps;
  const int64_t largest = b.input_dtype(kData).MaxInt() + 1;
  const DType sums = DType::Int(taps <= (int64_t{1} << 31) / largest ? 32 : 64);
  const Access sum = ReduceWindows(b, pool, loop::Combine::kSum, sums);
  b.Output(0, [&](const Indices& i) {
    const Expr count = loop::MakeCast(sums, CountTaps(pool, i, false));
    const Expr zero = loop::Const(sums, 0), two = loop::Const(sums, 2);
    const Expr total = sum(i), half = count / two;
    const Expr mean = (total + loop::MakeSelect(total > zero, half, -half)) / count;
    // A mean lies within the range of its terms.
    return loop::MakeCast(b.output_dtype(0), mean);
  });
  return absl::OkStatus();
}

std::vector<std::string> AveragePoolConstraints() {
  std::vector<std::string> all = PoolConstraints();
  all.push_back("data holds integers of up to 16 bits");
  all.push_back(
      "scales are constants above 0, zero points are int32 constants, and the output has the scale "
      "and zero point of data");
  return all;
}

std::vector<Tensor> PoolOperands(Tensor data) {
  return {std::move(data), Scale(0.5), ZeroPoint(3), Scale(0.5), ZeroPoint(3)};
}
OpExample RandomPool(TensorType data, Attrs attrs) {
  return QuantizedExample(std::move(data), PoolOperands(Tensor()), std::move(attrs));
}

const OpDef kAvgPool = {
    {.name = "qnn.avg_pool2d",
     .doc = "The mean of each window of quantized numbers, as in TFLite's reference kernel: the "
            "integers are averaged and rounded to nearest, with halves away from 0. Padding does "
            "not count.",
     .inputs = {{"data", "dimensions as layout says"},
                {"input_scale", "a constant"},
                {"input_zero_point", "a constant"},
                {"output_scale", "equal to input_scale"},
                {"output_zero_point", "equal to input_zero_point"}},
     .attrs = PoolAttrs(2)},
    AveragePoolConstraints(),
    {.fusion = Fusion::kReduction, .layout = {LayoutRule::kNamed, "layout"}},
    InferQnnAvgPool2d,
    LowerQnnAvgPool2d,
    {Case(PoolOperands(Values(I8({1, 1, 2, 4}), {1, 2, -1, -2, 1, 2, -1, -2})),
          {{"pool_size", List({2, 2})}, {"strides", List({2, 2})}},
          {Values(I8({1, 1, 1, 2}), {2, -2})}),
     RandomPool(I8({1, 5, 6, 3}), {{"pool_size", List({3, 3})},
                                   {"padding", List({1, 1})},
                                   {"strides", List({2, 2})},
                                   {"layout", "NHWC"}}),
     RandomPool({{1, 3, 4, 4}, DType::Int(16)}, {{"pool_size", List({2, 2})}}),
     RandomPool(U8({2, 4, 4, 9}), {{"pool_size", List({4, 4})}, {"layout", "NHWC"}})},
};
KILN_REGISTER_OP(kAvgPool);

}  // namespace
}  // namespace kiln
