// SPDX-License-Identifier: Apache-2.0
// The ONNX operators that have an int8 form, and the conditions for it.
#ifndef KILN_COMPILER_QUANTIZE_OPERATORS_H_
#define KILN_COMPILER_QUANTIZE_OPERATORS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/quantize/network.h"

namespace kiln::quantize {

enum class Role {
  kFloat,       // stays as it is.
  kProduct,     // integer product: weights are constants, sums are int32.
  kArithmetic,  // float between dequantized inputs and a quantized result.
  kPool,        // like kArithmetic; the result is smaller than the input.
  kActivation,  // like kArithmetic, or part of the layer before it.
  kMoving,      // the result has values of the input, and therefore its scale.
  kConcat,      // like kMoving, if the scales of the inputs are similar.
};

struct Operator {
  absl::string_view name;
  Role role;
  int operands;  // number of leading inputs that may be quantized activations; -1: all
};
absl::Span<const Operator> Operators();
// Returns null for an operator without an int8 form.
const Operator* FindOperator(const onnx::NodeProto& node);

// Returns the reason why a node cannot have its role, such as "its weights are not constant". Empty
// if it can.
std::string Obstacle(const Network& network, const onnx::NodeProto& node, Role role);

// Returns the axis of the output channels in the weights.
int ChannelAxis(const onnx::NodeProto& node);

// True if the operator works on quantized values, so its model is not a float32 model.
bool IsQuantized(const onnx::NodeProto& node);

}  // namespace kiln::quantize

#endif  // KILN_COMPILER_QUANTIZE_OPERATORS_H_
