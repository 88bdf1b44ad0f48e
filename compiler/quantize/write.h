// SPDX-License-Identifier: Apache-2.0
// Builds networks with QuantizeLinear and DequantizeLinear from a selection and scales.
#ifndef KILN_COMPILER_QUANTIZE_WRITE_H_
#define KILN_COMPILER_QUANTIZE_WRITE_H_

#include <map>
#include <string>
#include <vector>

#include "compiler/quantize/network.h"
#include "compiler/quantize/scale.h"
#include "compiler/quantize/select.h"

namespace kiln::quantize {

struct Plan {
  const Network& network;
  const Selection& selection;
  const std::map<std::string, Scale>& scales;  // keyed by the tensors of Selection
  bool per_channel = true;                     // scales of weights
};

struct Written {
  Network network;
  // Tensors that replace original ones, keyed by the original. The replacement is the dequantized
  // value. In WriteLayersAlone it is the result of the copied layer, dequantized if the original is
  // quantized.
  std::map<std::string, std::string> values;
};

// Returns the quantized network. Nodes read dequantized tensors. Outputs are the results before
// quantization.
//
//   x -> QuantizeLinear -> DequantizeLinear -> Conv -> Relu -> y -> QuantizeLinear -> …
Written WriteQuantized(const Plan& plan);

// Returns the float network with a quantized copy of every layer next to it. The copies read
// quantized values of the float layers, so their results show the error of a single layer.
Written WriteLayersAlone(const Plan& plan);

// Adds `tensors`, in this order, after the existing outputs of a network.
void AddOutputs(Network& network, const std::vector<std::string>& tensors);

}  // namespace kiln::quantize

#endif  // KILN_COMPILER_QUANTIZE_WRITE_H_
