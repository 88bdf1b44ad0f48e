// SPDX-License-Identifier: Apache-2.0
// Code shared by the conversions of quantized operators. Each becomes an operator on dequantized
// tensors whose result is quantized again. The pass integer-products turns these, and models that
// are written in this form, into integer products.
#ifndef KILN_COMPILER_FRONTEND_ONNX_QUANTIZED_H_
#define KILN_COMPILER_FRONTEND_ONNX_QUANTIZED_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "compiler/frontend/onnx/converter.h"

namespace kiln::onnx_frontend {

// Input indices of a quantized tensor. Without a zero point it is 0.
struct QuantizedInput {
  int data, scale, zero_point;
};

// Returns a zero point, which has the dtype of the tensor, as int32; 0 if the input is absent.
absl::StatusOr<ValueId> ZeroPoint(Converter& c, int i);

// Returns the numbers that a quantized input represents. Several scales belong to positions of
// `axis`.
absl::StatusOr<ValueId> Dequantized(Converter& c, const QuantizedInput& from, int64_t axis = -1);
// Like above, for input x with its scale in input x + 1 and its zero point in input x + 2.
absl::StatusOr<ValueId> Dequantized(Converter& c, int x, int64_t axis = -1);

// Quantizes `value` with the scale in input i and the zero point in input i + 1. The result has the
// dtype of the zero point, or `dtype` if that is absent.
absl::StatusOr<ValueId> Quantized(Converter& c, ValueId value, int i, int64_t axis = -1,
                                  DType dtype = DType::UInt(8));

// A tensor as uint8. Scale and zero point come from its range, extended to contain 0.
struct DynamicallyQuantized {
  ValueId value, scale;
  ValueId zero_point;  // int32
};
absl::StatusOr<DynamicallyQuantized> QuantizedByRange(Converter& c, ValueId x);
// Quantizes x by its range and returns the numbers that the result represents.
absl::StatusOr<ValueId> ThroughBytes(Converter& c, ValueId x);

// Returns the int32 bias of a product, input `bias`, as real numbers. Its scale is the product of
// the factors' scales, which are inputs and must be constant.
absl::StatusOr<ValueId> ProductBias(Converter& c, int bias, int x_scale, int w_scale);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_QUANTIZED_H_
