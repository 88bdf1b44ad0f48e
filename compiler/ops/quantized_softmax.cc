// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/quantized_softmax.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "compiler/loop/expr.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {
namespace {

// The value of an expression without variables.
int32_t Evaluate(const loop::Expr& e) {
  int64_t value = 0;
  const bool is_constant = loop::AsInt(e, &value);
  return is_constant ? static_cast<int32_t>(value) : 0;
}

}  // namespace

double LeastSoftmaxScale() { return std::exp2(kDifferenceIntegerBits - 31); }

SoftmaxTables MakeSoftmaxTables(double scale) {
  const double limit = static_cast<double>((int64_t{1} << 31) - 1);
  SoftmaxTables tables;
  tables.factor = ToFixedPoint(std::min(scale / LeastSoftmaxScale(), limit));
  tables.radius = static_cast<int64_t>(
      std::floor(static_cast<double>((1 << kDifferenceIntegerBits) - 1) *
                 std::exp2(31 - kDifferenceIntegerBits) / std::exp2(tables.factor.shift)));
  std::vector<int32_t> rescaled, exponentials;
  for (int n = 0; n < 256; ++n) {
    const bool held = n <= tables.radius;
    const loop::Expr difference = held
                                      ? MultiplyHigh(I32Const(-(int64_t{n} << tables.factor.shift)),
                                                     I32Const(tables.factor.multiplier))
                                      : I32Const(0);
    rescaled.push_back(Evaluate(difference));
    exponentials.push_back(held ? Evaluate(FixedPointExp(difference, kDifferenceIntegerBits)) : 0);
  }
  tables.rescaled = Tensor::From<int32_t>({256}, kI32, rescaled);
  tables.exponentials = Tensor::From<int32_t>({256}, kI32, exponentials);
  return tables;
}

}  // namespace kiln
