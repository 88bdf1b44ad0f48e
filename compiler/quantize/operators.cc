// SPDX-License-Identifier: Apache-2.0
#include "compiler/quantize/operators.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace kiln::quantize {
namespace {

constexpr Operator kOperators[] = {
    {"Add", Role::kArithmetic, 2},
    {"AveragePool", Role::kPool, 1},
    {"Clip", Role::kActivation, 1},
    {"Concat", Role::kConcat, -1},
    {"Conv", Role::kProduct, 1},
    {"DepthToSpace", Role::kMoving, 1},
    {"Dropout", Role::kMoving, 1},
    {"Expand", Role::kMoving, 1},
    {"Flatten", Role::kMoving, 1},
    {"Gemm", Role::kProduct, 1},
    {"GlobalAveragePool", Role::kPool, 1},
    {"GlobalMaxPool", Role::kMoving, 1},
    {"HardSigmoid", Role::kArithmetic, 1},
    {"HardSwish", Role::kArithmetic, 1},
    {"Identity", Role::kMoving, 1},
    {"LeakyRelu", Role::kArithmetic, 1},
    {"MatMul", Role::kProduct, 1},
    {"MaxPool", Role::kMoving, 1},
    {"Mul", Role::kArithmetic, 2},
    {"Pad", Role::kMoving, 1},
    {"ReduceMean", Role::kPool, 1},
    {"Relu", Role::kActivation, 1},
    {"Reshape", Role::kMoving, 1},
    {"Resize", Role::kMoving, 1},
    {"Sigmoid", Role::kArithmetic, 1},
    {"Slice", Role::kMoving, 1},
    {"SpaceToDepth", Role::kMoving, 1},
    {"Split", Role::kMoving, 1},
    {"Squeeze", Role::kMoving, 1},
    {"Sub", Role::kArithmetic, 2},
    {"Tile", Role::kMoving, 1},
    {"Transpose", Role::kMoving, 1},
    {"Unsqueeze", Role::kMoving, 1},
};

std::string ProductObstacle(const Network& network, const onnx::NodeProto& node) {
  const Tensor* weights = network.Floats(Input(node, 1));
  if (weights == nullptr) {
    return network.is_constant(Input(node, 1)) ? "its weights are not float32"
                                               : "its weights are not constant";
  }
  const bool is_conv = node.op_type() == "Conv";
  if (is_conv ? weights->type().rank() < 3 : weights->type().rank() != 2) {
    return absl::StrCat("its weights have rank ", weights->type().rank());
  }
  if (weights->type().num_elements() == 0) return "its weights are empty";
  if (node.op_type() == "Gemm" &&
      (IntAttr(node, "transA", 0) != 0 || FloatAttr(node, "alpha", 1) != 1)) {
    return "it transposes or scales its first factor";
  }
  if (node.op_type() == "MatMul" || Input(node, 2).empty()) return "";
  const Tensor* bias = network.Floats(Input(node, 2));
  if (bias == nullptr) return "its bias is not constant";
  const auto channels = weights->type().shape[static_cast<size_t>(ChannelAxis(node))];
  if (bias->type().shape != Shape{channels} || FloatAttr(node, "beta", 1) != 1) {
    return "its bias is not one constant per channel";
  }
  return "";
}

// True if a Pad adds only values of its input or zeros, which int8 represents exactly.
bool PadsZeros(const Network& network, const onnx::NodeProto& node) {
  const onnx::AttributeProto* mode = FindAttr(node, "mode");
  if (mode != nullptr && mode->s() != "constant") return true;
  if (FloatAttr(node, "value", 0) != 0) return false;  // attribute before opset 11
  if (Input(node, 2).empty()) return true;
  const Tensor* value = network.Floats(node.input(2));
  return value != nullptr && value->type().num_elements() == 1 && value->AsDouble(0) == 0;
}

bool IsNearest(const onnx::NodeProto& node) {
  const onnx::AttributeProto* mode = FindAttr(node, "mode");
  return mode == nullptr || mode->s() == "nearest";
}

}  // namespace

absl::Span<const Operator> Operators() { return kOperators; }

const Operator* FindOperator(const onnx::NodeProto& node) {
  if (!IsOnnx(node)) return nullptr;
  const auto* it = std::find_if(std::begin(kOperators), std::end(kOperators),
                                [&](const Operator& op) { return op.name == node.op_type(); });
  return it == std::end(kOperators) ? nullptr : it;
}

std::string Obstacle(const Network& network, const onnx::NodeProto& node, Role role) {
  if (role == Role::kProduct) return ProductObstacle(network, node);
  if (node.op_type() == "Pad" && !PadsZeros(network, node)) return "it pads with other than zeros";
  if (node.op_type() == "Resize" && !IsNearest(node)) return "it interpolates";
  if (node.op_type() == "Clip") {
    for (int i = 1; i < node.input_size(); ++i) {
      if (!node.input(i).empty() && !network.is_constant(node.input(i))) {
        return "its bounds are not constant";
      }
    }
  }
  if (node.op_type() != "Split" && node.output_size() > 1 && !node.output(1).empty()) {
    return "it has a second output";
  }
  return "";
}

int ChannelAxis(const onnx::NodeProto& node) {
  if (node.op_type() == "Conv") return 0;
  return node.op_type() == "Gemm" && IntAttr(node, "transB", 0) != 0 ? 0 : 1;
}

bool IsQuantized(const onnx::NodeProto& node) {
  static constexpr absl::string_view kNames[] = {
      "QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "ConvInteger", "MatMulInteger",
      "QGemm",          "QAttention"};
  return absl::StartsWith(node.op_type(), "QLinear") ||
         std::find(std::begin(kNames), std::end(kNames), node.op_type()) != std::end(kNames);
}

}  // namespace kiln::quantize
