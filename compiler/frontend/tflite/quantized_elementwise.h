// SPDX-License-Identifier: Apache-2.0
// Operators on quantized tensors that Relay's qnn operators do not have: integer arithmetic of
// plain operators, in the order and with the roundings of TFLite Micro's reference kernels. Each
// converts the operator whose first input is quantized.
#ifndef KILN_COMPILER_FRONTEND_TFLITE_QUANTIZED_ELEMENTWISE_H_
#define KILN_COMPILER_FRONTEND_TFLITE_QUANTIZED_ELEMENTWISE_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/frontend/tflite/converter.h"

namespace kiln::tflite_frontend {

// quantized_elementwise.cc
absl::Status QuantizedAbs(Converter& c);
absl::Status QuantizedAddN(Converter& c);
absl::Status QuantizedCumsum(Converter& c);
// Whether Relay's `op`, a comparison, holds between inputs 0 and 1.
absl::Status QuantizedCompare(Converter& c, absl::string_view op);
absl::Status QuantizedLeakyRelu(Converter& c);
absl::Status QuantizedPrelu(Converter& c);
absl::Status QuantizedSquaredDifference(Converter& c);

// quantized_tables.cc: functions of numbers of 8 bits, as tables.
absl::Status QuantizedElu(Converter& c);
absl::Status QuantizedHardSwish(Converter& c);
// Of uint8; those of int8 and int16 are qnn operators.
absl::Status QuantizedLogistic(Converter& c);
absl::Status QuantizedRsqrt(Converter& c);
absl::Status QuantizedTanh(Converter& c);
// Input i, uint8, in the numbers of output 0.
absl::StatusOr<ValueId> InNumbersOfOutput(Converter& c, int i);

// quantized_resize.cc
absl::Status QuantizedResizeBilinear(Converter& c);

// reduction.cc: what CUMSUM, with its options and its axis, makes of `x` in the place of input 0.
absl::StatusOr<ValueId> CumulativeSum(Converter& c, ValueId x);

}  // namespace kiln::tflite_frontend

#endif  // KILN_COMPILER_FRONTEND_TFLITE_QUANTIZED_ELEMENTWISE_H_
