// SPDX-License-Identifier: Apache-2.0
// Helpers of qnn.dense, qnn.batch_matmul and the quantized convolutions: their six operands, and
// factors from which zero points are subtracted at the least cost.
//
// If y is a constant, the sum over (x - zx) * (y - zy) is the sum over x * y' minus zx times the
// sum over y', with y' = y - zy. The loops then multiply x as it is in memory, and the second sum
// is a constant of each output channel.
#ifndef KILN_COMPILER_OPS_QUANTIZED_PRODUCT_H_
#define KILN_COMPILER_OPS_QUANTIZED_PRODUCT_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ops/quantized.h"

namespace kiln {

// Operands of every quantized product.
enum ProductOperand {
  kProductX,
  kProductY,
  kProductXScale,
  kProductXZero,
  kProductYScale,
  kProductYZero,
};

// Returns the dtype of the sums, from out_dtype ("": int32). Constraints: 1. both factors hold
// integers of up to 16 bits; 2. out_dtype is int32 or int64.
absl::StatusOr<DType> QuantizedProductType(const InferContext& c);
// Checks the scales and zero points (constraint 3). Those of y may be one per channel.
absl::Status CheckProductOperands(const InferContext& c, int64_t channels);
// The documentation of constraints 1 to 3, followed by `others`, which begin with 4.
std::vector<std::string> ProductConstraints(std::vector<std::string> others);
// The schemas of the six operands; `x` and `y` document the factors.
std::vector<InputSchema> ProductInputs(std::string x, std::string y);

struct QuantizedProduct {
  Access x;      // as in memory if y is constant, so that padded copies are small
  Expr padding;  // the value of x that counts as 0
  Access y;      // in the dtype of the sums
  DType sums;
  Access correction;  // excess of every sum, by channel; null: none

  // Access to x, or to a copy of it, as a factor in the dtype of the sums.
  Access Factor(const Access& of_x) const {
    return [dtype = sums, of_x](const Indices& i) { return loop::MakeCast(dtype, of_x(i)); };
  }
  Expr Corrected(const Expr& sum, const Expr& channel) const {
    return correction == nullptr ? sum : sum - correction({channel});
  }
};

// Places beyond x that a product reads. kPadding reads the zero point of x there, so the zero point
// must be known at compile time; otherwise x is centered first.
enum class Beyond { kNothing, kPadding };
// `channel` maps an index of y to the channel of its element.
QuantizedProduct MakeQuantizedProduct(StageBuilder& b, int64_t channels,
                                      const std::function<int64_t(const Shape& index)>& channel,
                                      Beyond beyond);

// An example with every operand: x is random, y has the same numbers each time.
OpExample ProductExample(TensorType x, int64_t x_zero, TensorType y, Tensor y_scale, int64_t y_zero,
                         Attrs attrs);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_QUANTIZED_PRODUCT_H_
