// SPDX-License-Identifier: Apache-2.0
// How the integers of a model's inputs and outputs stand for real numbers: the attributes of @main
// that compiler/executor/describe_quantization.h reads.
#ifndef KILN_COMPILER_FRONTEND_COMMON_PORT_QUANTIZATION_H_
#define KILN_COMPILER_FRONTEND_COMMON_PORT_QUANTIZATION_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/graph/graph.h"

namespace kiln::frontend {

// real = scale * (value - zero_point), for the whole tensor.
struct PortQuantization {
  double scale = 0;  // positive and finite
  int64_t zero_point = 0;
  friend bool operator==(const PortQuantization&, const PortQuantization&) = default;
};

// One per input, or per output; none where the tensor is not quantized.
using PortQuantizations = std::vector<std::optional<PortQuantization>>;

// Sets the attributes of the graph; inputs of which none is quantized have none, outputs too.
void SetPortQuantization(const PortQuantizations& inputs, const PortQuantizations& outputs,
                         Graph& graph);

// The same from the operators of the graph: an input that qnn.dequantize reads, and an output that
// qnn.quantize makes, have the scale of that operator where it is one constant. An input whose
// readers have several scales has none.
void SetPortQuantizationFromOperators(Graph& graph);

}  // namespace kiln::frontend

#endif  // KILN_COMPILER_FRONTEND_COMMON_PORT_QUANTIZATION_H_
