// SPDX-License-Identifier: Apache-2.0
// Quantization of a tensor: the real numbers that its integers represent.
#ifndef KILN_COMPILER_FRONTEND_TFLITE_QUANTIZATION_H_
#define KILN_COMPILER_FRONTEND_TFLITE_QUANTIZATION_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/base/tensor.h"
#include "compiler/frontend/common/port_quantization.h"
#include "compiler/frontend/tflite/schema_generated.h"

namespace kiln::tflite_frontend {

// real = scale * (value - zero_point).
struct Quantization {
  // One per tensor, or one per index of `axis`. There are as many zero points.
  std::vector<float> scales;
  std::vector<int32_t> zero_points;
  int axis = 0;  // meaningful only with several scales

  bool per_channel() const { return scales.size() > 1; }
  friend bool operator==(const Quantization&, const Quantization&) = default;
};

// Returns the quantization of a tensor of this type. Absent if it is not quantized (floats, and
// integers without scales). InvalidArgument if scales are not positive and finite, if their number
// does not fit the shape, or if zero points are out of range.
absl::StatusOr<std::optional<Quantization>> ReadQuantization(
    const tflite_schema::QuantizationParameters* parameters, const TensorType& type);

// Returns the quantization if a single scale applies to the whole tensor.
std::optional<frontend::PortQuantization> OfWholeTensor(const std::optional<Quantization>& q);

// Returns the real numbers as float32.
Tensor Dequantized(const Tensor& tensor, const Quantization& quantization);

}  // namespace kiln::tflite_frontend

#endif  // KILN_COMPILER_FRONTEND_TFLITE_QUANTIZATION_H_
