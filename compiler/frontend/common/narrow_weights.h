// SPDX-License-Identifier: Apache-2.0
// Weights that a model file stores in 8 bits or fewer and computes with as floats, for example the
// inputs of ONNX's DequantizeLinear and TFLite's DEQUANTIZE. If Kiln has no integer product for
// them, the library stores them as floats. tools/kiln/widened_weights.h lists these.
#ifndef KILN_COMPILER_FRONTEND_COMMON_NARROW_WEIGHTS_H_
#define KILN_COMPILER_FRONTEND_COMMON_NARROW_WEIGHTS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace kiln::frontend {

struct NarrowWeight {
  std::string name;  // name of the tensor in the file
  int bits = 8;      // bits per element in the file: 2, 4 or 8
  int64_t elements = 0;
  int float_bytes = 4;  // bytes per element as the float that the model computes with

  int64_t file_bytes() const { return (elements * bits + 7) / 8; }
};

using NarrowWeights = std::vector<NarrowWeight>;

}  // namespace kiln::frontend

#endif  // KILN_COMPILER_FRONTEND_COMMON_NARROW_WEIGHTS_H_
