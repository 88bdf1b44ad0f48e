// SPDX-License-Identifier: Apache-2.0
// From a selection and scales to networks with QuantizeLinear and DequantizeLinear.
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
  const std::map<std::string, Scale>& scales;  // of selection.tensors
  bool per_channel = true;                     // scales of weights
};

struct Written {
  Network network;
  // What stands for a tensor of the original: dequantized where it is quantized.
  std::map<std::string, std::string> values;
};

// The quantized network: nodes read dequantized tensors, and outputs are what is computed.
//
//   x -> QuantizeLinear -> DequantizeLinear -> Conv -> Relu -> y -> QuantizeLinear -> …
Written WriteQuantized(const Plan& plan);

// The float network with a quantized copy of every layer beside it that reads, quantized, what the
// float layers compute: its results are off by what the layer alone loses.
Written WriteLayersAlone(const Plan& plan);

// Makes tensors outputs of a network behind those that it has, in this order.
void AddOutputs(Network& network, const std::vector<std::string>& tensors);

}  // namespace kiln::quantize

#endif  // KILN_COMPILER_QUANTIZE_WRITE_H_
