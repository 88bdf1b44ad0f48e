// SPDX-License-Identifier: Apache-2.0
// Operators on quantized tensors that are missing in Relay's qnn operators. They become integer
// arithmetic of plain operators, with the order and the roundings of TFLite Micro's reference
// kernels. Each function converts an operator whose first input is quantized.
#ifndef KILN_COMPILER_FRONTEND_TFLITE_QUANTIZED_ELEMENTWISE_H_
#define KILN_COMPILER_FRONTEND_TFLITE_QUANTIZED_ELEMENTWISE_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/frontend/tflite/converter.h"

namespace kiln::tflite_frontend {

// Defined in quantized_elementwise.cc.
absl::Status QuantizedAbs(Converter& c);
absl::Status QuantizedAddN(Converter& c);
absl::Status QuantizedCumsum(Converter& c);
// Sets output 0 to the comparison `op` of Relay between inputs 0 and 1.
absl::Status QuantizedCompare(Converter& c, absl::string_view op);
absl::Status QuantizedLeakyRelu(Converter& c);
absl::Status QuantizedPrelu(Converter& c);
absl::Status QuantizedSquaredDifference(Converter& c);

// Defined in quantized_tables.cc: functions of 8-bit numbers, as tables.
absl::Status QuantizedElu(Converter& c);
absl::Status QuantizedHardSwish(Converter& c);
// For uint8. For int8 and int16, logistic and tanh are qnn operators.
absl::Status QuantizedLogistic(Converter& c);
absl::Status QuantizedRsqrt(Converter& c);
absl::Status QuantizedTanh(Converter& c);
// Returns input i, uint8, with the scale and zero point of output 0.
absl::StatusOr<ValueId> InNumbersOfOutput(Converter& c, int i);

// Defined in quantized_resize.cc.
absl::Status QuantizedResizeBilinear(Converter& c);

// Defined in reduction.cc: applies CUMSUM, with its options and axis, to `x` instead of input 0.
absl::StatusOr<ValueId> CumulativeSum(Converter& c, ValueId x);

}  // namespace kiln::tflite_frontend

#endif  // KILN_COMPILER_FRONTEND_TFLITE_QUANTIZED_ELEMENTWISE_H_
