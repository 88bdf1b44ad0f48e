// SPDX-License-Identifier: Apache-2.0
// Which operators of ONNX have a form on int8, and what is asked of them.
#ifndef KILN_COMPILER_QUANTIZE_OPERATORS_H_
#define KILN_COMPILER_QUANTIZE_OPERATORS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/quantize/network.h"

namespace kiln::quantize {

enum class Role {
  kFloat,       // stays as it is
  kProduct,     // of integers: weights are constants, sums are int32
  kArithmetic,  // between dequantized inputs and a quantized result
  kPool,        // the same, and the result is smaller than what it reads
  kActivation,  // the same, or part of the layer in front of it
  kMoving,      // the result has values of the input, and so its scale
  kConcat,      // the same, where inputs are alike
};

struct Operator {
  absl::string_view name;
  Role role;
  int operands;  // that may be quantized activations; -1: all inputs
};
absl::Span<const Operator> Operators();
// Null for an operator without an int8 form.
const Operator* FindOperator(const onnx::NodeProto& node);

// Why a node cannot have its role, such as "its weights are not constant"; empty if it can.
std::string Obstacle(const Network& network, const onnx::NodeProto& node, Role role);

// The weights' axis of output channels.
int ChannelAxis(const onnx::NodeProto& node);

// The operator quantizes already, so that its model is no float32 one.
bool IsQuantized(const onnx::NodeProto& node);

}  // namespace kiln::quantize

#endif  // KILN_COMPILER_QUANTIZE_OPERATORS_H_
