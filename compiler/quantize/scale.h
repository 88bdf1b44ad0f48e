// SPDX-License-Identifier: Apache-2.0
// Conversion of floats to int8: scales, zero points and quantized constants.
//
// An int8 value q represents scale * (q - zero_point), as in ONNX's QuantizeLinear.
#ifndef KILN_COMPILER_QUANTIZE_SCALE_H_
#define KILN_COMPILER_QUANTIZE_SCALE_H_

#include <cstdint>
#include <vector>

#include "compiler/base/tensor.h"
#include "compiler/quantize/calibrator.h"

namespace kiln::quantize {

struct Scale {
  float scale = 1;
  int32_t zero_point = 0;

  friend bool operator==(const Scale&, const Scale&) = default;
};

// Returns the scale with which -128 to 127 cover `range` and 0. With `symmetric`, -127 to 127 cover
// it and the zero point is 0. An empty range has the scale 1.
Scale ScaleOf(const Range& range, bool symmetric);

// Quantizes a constant to int8 with one scale.
Tensor Quantize(const Tensor& floats, const Scale& scale);

// Quantized weights. Their zero points are 0.
struct Weights {
  Tensor numbers;             // int8, -127 to 127
  std::vector<float> scales;  // one per output channel, or a single one
};
// `axis` is the axis of the output channels, or -1 for a single scale. `bias` has one value per
// output channel, or is empty. Scales are increased until each bias fits int32 in units of
// input_scale * scale.
Weights QuantizeWeights(const Tensor& floats, int axis, absl::Span<const float> bias,
                        float input_scale);

// Quantizes the bias to int32 in units of input_scale * scale. `scales` has one scale per element,
// or one for all.
Tensor QuantizeBias(absl::Span<const float> bias, float input_scale,
                    absl::Span<const float> scales);

}  // namespace kiln::quantize

#endif  // KILN_COMPILER_QUANTIZE_SCALE_H_
