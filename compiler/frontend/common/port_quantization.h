// SPDX-License-Identifier: Apache-2.0
// Quantization of a model's inputs and outputs, stored in attributes of @main that
// compiler/executor/describe_quantization.h reads.
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

// One per input, or per output. Absent if the tensor is not quantized.
using PortQuantizations = std::vector<std::optional<PortQuantization>>;

// Sets the attributes of the graph. If no input is quantized, the attributes of the inputs are not
// set; the same applies to the outputs.
void SetPortQuantization(const PortQuantizations& inputs, const PortQuantizations& outputs,
                         Graph& graph);

// Derives the attributes from the operators of the graph. An input that qnn.dequantize reads, and
// an output of qnn.quantize, get the scale of that operator if it is a constant scalar. An input
// whose readers have different scales gets none.
void SetPortQuantizationFromOperators(Graph& graph);

}  // namespace kiln::frontend

#endif  // KILN_COMPILER_FRONTEND_COMMON_PORT_QUANTIZATION_H_
