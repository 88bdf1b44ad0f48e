// SPDX-License-Identifier: Apache-2.0
// Arithmetic of quantized tensors: TFLite's operators as qnn operators with the rounding TFLITE.
#ifndef KILN_COMPILER_FRONTEND_TFLITE_QUANTIZED_H_
#define KILN_COMPILER_FRONTEND_TFLITE_QUANTIZED_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/tflite/converter.h"

namespace kiln::tflite_frontend {

// Of input or output i; nothing if it holds plain numbers. Unimplemented for several scales, but of
// weights.
absl::StatusOr<std::optional<Quantization>> InputQuantization(const Converter& c, int i);
absl::StatusOr<std::optional<Quantization>> OutputQuantization(const Converter& c, int i);

// The same where there must be one.
absl::StatusOr<Quantization> QuantizationOfInput(const Converter& c, int i);
absl::StatusOr<Quantization> QuantizationOfOutput(const Converter& c, int i);

// Operands of qnn operators.
ValueId ScaleOf(Converter& c, const Quantization& q);
ValueId ZeroPointOf(Converter& c, const Quantization& q);

// `value`, of output 0, within the range of a fused activation.
absl::StatusOr<ValueId> ActivatedQuantized(Converter& c, ValueId value, const Quantization& q,
                                           tflite_schema::Activation activation);

// A product with bias and activation: of floats nn.<op>, of quantized numbers qnn.<op>, bias, and
// the requantization to output 0.
struct ProductOperands {
  ValueId x, weight;  // inputs x_input and weight_input in the form that the operator wants
  int x_input, weight_input, bias_input;
  // Products of float32 scales are made in float32 rather than float64, as they are of uint8.
  bool single_scale = false;
  // Sums of int16 without a bias are int64. A bias has the dtype of the sums.
  bool wide_sums = false;
  // The axis of input weight_input that has a place per channel of the result.
  int channel_axis = 0;
};
absl::StatusOr<ValueId> Product(Converter& c, absl::string_view op, const ProductOperands& p,
                                Attrs attrs, tflite_schema::Activation activation);

// A tensor, and how it stands for real numbers.
struct QuantizedOperand {
  ValueId value;
  Quantization quantization;
};
// The sums of the products of two tensors less their zero points: qnn.<op>.
absl::StatusOr<ValueId> QnnSums(Converter& c, absl::string_view op, const QuantizedOperand& x,
                                const QuantizedOperand& weight, DType sums, Attrs attrs);
// value * factor, rounded as TFLite does, + zero_point, in the range of `dtype`; one factor, or one
// per index of the last dimension.
absl::StatusOr<ValueId> Rescaled(Converter& c, ValueId value, const std::vector<double>& factors,
                                 int64_t zero_point, DType dtype);
// Integers less a zero point, in another dtype.
absl::StatusOr<ValueId> CentredAs(Converter& c, const QuantizedOperand& x, DType dtype);

// An operator of input 0 alone, with its scale and zero point and those of output 0.
absl::StatusOr<ValueId> QnnUnary(Converter& c, absl::string_view op, ValueId x, Attrs attrs);

// x * factor of input 0's numbers, in the numbers of output 0; `factor` is of scales.
absl::StatusOr<ValueId> Requantized(Converter& c, ValueId x, double factor);

}  // namespace kiln::tflite_frontend

#endif  // KILN_COMPILER_FRONTEND_TFLITE_QUANTIZED_H_
