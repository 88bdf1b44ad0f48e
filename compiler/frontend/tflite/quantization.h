// SPDX-License-Identifier: Apache-2.0
// How the integers of a tensor stand for real numbers.
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
  // One per tensor, or one per index of `axis`; as many zero points.
  std::vector<float> scales;
  std::vector<int32_t> zero_points;
  int axis = 0;  // means something with several scales only

  bool per_channel() const { return scales.size() > 1; }
  friend bool operator==(const Quantization&, const Quantization&) = default;
};

// What the file says of a tensor of this type: nothing for one that is not quantized (floats, and
// integers without scales). InvalidArgument for scales that are not positive and finite, numbers of
// them that do not fit the shape, or zero points beyond the type.
absl::StatusOr<std::optional<Quantization>> ReadQuantization(
    const tflite_schema::QuantizationParameters* parameters, const TensorType& type);

// The quantization where one scale is that of the whole tensor.
std::optional<frontend::PortQuantization> OfWholeTensor(const std::optional<Quantization>& q);

// The real numbers as float32.
Tensor Dequantized(const Tensor& tensor, const Quantization& quantization);

}  // namespace kiln::tflite_frontend

#endif  // KILN_COMPILER_FRONTEND_TFLITE_QUANTIZATION_H_
