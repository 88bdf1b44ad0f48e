// SPDX-License-Identifier: Apache-2.0
// What qnn.dense, qnn.batch_matmul and the quantized convolutions share: six operands, and factors
// whose zero points are taken off where it costs least.
//
// The sum over (x - zx) * (y - zy) is, of a constant y, the sum over x * y' less zx times the sum
// of y', with y' = y - zy: the loops multiply what is in memory, and the second sum is a constant
// of each output channel.
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

// The dtype of the sums, from out_dtype ("": int32). Constraints: 1. both hold integers of up to 16
// bits; 2. out_dtype is int32 or int64.
absl::StatusOr<DType> QuantizedProductType(const InferContext& c);
// The scales and zero points, of y perhaps one per channel; constraint 3.
absl::Status CheckProductOperands(const InferContext& c, int64_t channels);
// The documentation of these, and of others from 4 on.
std::vector<std::string> ProductConstraints(std::vector<std::string> others);
// Of the six operands, with what x and y are.
std::vector<InputSchema> ProductInputs(std::string x, std::string y);

struct QuantizedProduct {
  Access x;      // as it is in memory, so that padded copies are small
  Expr padding;  // what x holds where it counts 0
  Access y;      // of the dtype of the sums
  DType sums;
  Access correction;  // what every sum has too much, by channel; null: nothing

  // x, or what has been made of it, as a factor.
  Access Factor(const Access& of_x) const {
    return [dtype = sums, of_x](const Indices& i) { return loop::MakeCast(dtype, of_x(i)); };
  }
  Expr Corrected(const Expr& sum, const Expr& channel) const {
    return correction == nullptr ? sum : sum - correction({channel});
  }
};

// Whether a product reads places that x does not have: then its zero point, which is there, must be
// known, or x is centred first.
enum class Beyond { kNothing, kPadding };
// `channel` is that of the element of y at an index.
QuantizedProduct MakeQuantizedProduct(StageBuilder& b, int64_t channels,
                                      const std::function<int64_t(const Shape& index)>& channel,
                                      Beyond beyond);

// For examples: every operand, x random, y the same numbers each time.
OpExample ProductExample(TensorType x, int64_t x_zero, TensorType y, Tensor y_scale, int64_t y_zero,
                         Attrs attrs);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_QUANTIZED_PRODUCT_H_
