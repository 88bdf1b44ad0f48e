// SPDX-License-Identifier: Apache-2.0
// From floats to int8 and back: scales, zero points, and the numbers of constants.
//
// A number q stands for scale * (q - zero_point), as in ONNX's QuantizeLinear.
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

// The scale by which -128 to 127 cover `range` and 0; with `symmetric`, by which -127 to 127 cover
// it with the zero point 0. A range without extent has the scale 1.
Scale ScaleOf(const Range& range, bool symmetric);

// Numbers of int8 of a constant with one scale.
Tensor Quantize(const Tensor& floats, const Scale& scale);

// Weights, whose zero points are 0.
struct Weights {
  Tensor numbers;             // int8, -127 to 127
  std::vector<float> scales;  // one per index of the axis, or one
};
// `axis`: of the output channels; -1 for one scale. `bias`: per output channel, or empty; scales
// are made so large that each bias is a number of int32 by input_scale * scale.
Weights QuantizeWeights(const Tensor& floats, int axis, absl::Span<const float> bias,
                        float input_scale);

// Numbers of int32 by input_scale * scale, of one scale per element or one for all.
Tensor QuantizeBias(absl::Span<const float> bias, float input_scale,
                    absl::Span<const float> scales);

}  // namespace kiln::quantize

#endif  // KILN_COMPILER_QUANTIZE_SCALE_H_
