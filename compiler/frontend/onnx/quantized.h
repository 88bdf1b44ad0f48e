// SPDX-License-Identifier: Apache-2.0
// What the conversions of quantized operators share. All become operators on dequantized tensors,
// whose result is quantized again: the pass integer-products makes products of integers of them,
// for these and for models that are written so.
#ifndef KILN_COMPILER_FRONTEND_ONNX_QUANTIZED_H_
#define KILN_COMPILER_FRONTEND_ONNX_QUANTIZED_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "compiler/frontend/onnx/converter.h"

namespace kiln::onnx_frontend {

// Which inputs of a node a quantized tensor is; without a zero point it is 0.
struct QuantizedInput {
  int data, scale, zero_point;
};

// A zero point, of the dtype of the tensor, as int32; 0 where the input is absent.
absl::StatusOr<ValueId> ZeroPoint(Converter& c, int i);

// The numbers that a quantized input stands for; with several scales, those of places of `axis`.
absl::StatusOr<ValueId> Dequantized(Converter& c, const QuantizedInput& from, int64_t axis = -1);
// The same of input x, whose scale is input x + 1 and zero point input x + 2.
absl::StatusOr<ValueId> Dequantized(Converter& c, int x, int64_t axis = -1);

// `value` with the scale of input i and the zero point of input i + 1, whose dtype it gets; `dtype`
// where that is absent.
absl::StatusOr<ValueId> Quantized(Converter& c, ValueId value, int i, int64_t axis = -1,
                                  DType dtype = DType::UInt(8));

// A tensor as uint8, with a scale and a zero point from its range, which contains 0.
struct DynamicallyQuantized {
  ValueId value, scale;
  ValueId zero_point;  // int32
};
absl::StatusOr<DynamicallyQuantized> QuantizedByRange(Converter& c, ValueId x);
// The numbers that such a tensor stands for.
absl::StatusOr<ValueId> ThroughBytes(Converter& c, ValueId x);

// The int32 bias of a product, input `bias`, as numbers: its scale is the product of the factors'
// scales, which are inputs and constant.
absl::StatusOr<ValueId> ProductBias(Converter& c, int bias, int x_scale, int w_scale);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_QUANTIZED_H_
