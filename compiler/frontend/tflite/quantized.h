// SPDX-License-Identifier: Apache-2.0
// Arithmetic of quantized tensors: TFLite's operators as qnn operators with the rounding TFLITE.
#ifndef KILN_COMPILER_FRONTEND_TFLITE_QUANTIZED_H_
#define KILN_COMPILER_FRONTEND_TFLITE_QUANTIZED_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/tflite/converter.h"

namespace kiln::tflite_frontend {

// Return the quantization of input or output i. Absent if its numbers are plain. Unimplemented for
// several scales, unless the tensor is a weight.
absl::StatusOr<std::optional<Quantization>> InputQuantization(const Converter& c, int i);
absl::StatusOr<std::optional<Quantization>> OutputQuantization(const Converter& c, int i);

// Like above, but an absent quantization is an error.
absl::StatusOr<Quantization> QuantizationOfInput(const Converter& c, int i);
absl::StatusOr<Quantization> QuantizationOfOutput(const Converter& c, int i);

// Return the scale and the zero point as operands of qnn operators.
ValueId ScaleOf(Converter& c, const Quantization& q);
ValueId ZeroPointOf(Converter& c, const Quantization& q);

// Clips `value`, which has the quantization of output 0, to the range of a fused activation.
absl::StatusOr<ValueId> ActivatedQuantized(Converter& c, ValueId value, const Quantization& q,
                                           tflite_schema::Activation activation);

// A product with bias and activation. For floats it is nn.<op>. For quantized numbers it is
// qnn.<op>, the bias, and the requantization to output 0.
struct ProductOperands {
  ValueId x, weight;  // inputs x_input and weight_input in the layout of the operator
  int x_input, weight_input, bias_input;
  // True if products of float32 scales are computed in float32 rather than float64, as for uint8.
  bool single_scale = false;
  // True if sums of int16 without a bias are int64. With a bias, sums have its dtype.
  bool wide_sums = false;
  // The axis of input weight_input over the channels of the result.
  int channel_axis = 0;
};
absl::StatusOr<ValueId> Product(Converter& c, absl::string_view op, const ProductOperands& p,
                                Attrs attrs, tflite_schema::Activation activation);

// A tensor and its quantization.
struct QuantizedOperand {
  ValueId value;
  Quantization quantization;
};
// Returns the sums of products of two tensors minus their zero points: qnn.<op>.
absl::StatusOr<ValueId> QnnSums(Converter& c, absl::string_view op, const QuantizedOperand& x,
                                const QuantizedOperand& weight, DType sums, Attrs attrs);
// Returns value * factor + zero_point in the range of `dtype`. The product is rounded as in TFLite.
// There is a single factor, or one per index of the last dimension.
absl::StatusOr<ValueId> Rescaled(Converter& c, ValueId value, const std::vector<double>& factors,
                                 int64_t zero_point, DType dtype);
// Returns integers minus their zero point, in another dtype.
absl::StatusOr<ValueId> CentredAs(Converter& c, const QuantizedOperand& x, DType dtype);

// Converts an operator with the single input 0. Its operands include the scales and zero points of
// input 0 and output 0.
absl::StatusOr<ValueId> QnnUnary(Converter& c, absl::string_view op, ValueId x, Attrs attrs);

// Returns x * factor, where x has the zero point of input 0 and the result that of output 0.
// `factor` is a quotient of scales.
absl::StatusOr<ValueId> Requantized(Converter& c, ValueId x, double factor);

}  // namespace kiln::tflite_frontend

#endif  // KILN_COMPILER_FRONTEND_TFLITE_QUANTIZED_H_
