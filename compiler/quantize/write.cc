// SPDX-License-Identifier: Apache-2.0
#include "compiler/quantize/write.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"

namespace kiln::quantize {
namespace {

constexpr char kQuantized[] = "_quantized", kDequantized[] = "_dequantized", kScale[] = "_scale",
               kZeroPoint[] = "_zero_point", kAlone[] = "_alone";

Range RangeOf(const Tensor& floats) {
  Range range;
  for (const float value : floats.values<float>()) {
    range.min = std::min(range.min, value);
    range.max = std::max(range.max, value);
  }
  return range;
}

class Writer {
 public:
  explicit Writer(const Plan& plan) : plan_(plan), names_(plan.network.Names()) {
    written_.network = plan.network;
    written_.network.graph().clear_node();
  }

  Written Quantized() && {
    for (const onnx::ValueInfoProto& input : graph().input()) QuantizeTensor(input.name());
    for (int i = 0; i < graph().node_size(); ++i) {
      AddNode(i, "", [](const std::string& output) { return output; });
      for (const std::string& output : graph().node(i).output()) QuantizeTensor(output);
    }
    return std::move(written_);
  }

  Written Alone() && {
    for (const onnx::ValueInfoProto& input : graph().input()) QuantizeTensor(input.name());
    for (const onnx::NodeProto& node : graph().node()) {
      *written_.network.graph().add_node() = node;
      for (const std::string& output : node.output()) QuantizeTensor(output);
    }
    for (int i = 0; i < graph().node_size(); ++i) {
      if (plan_.selection.roles[static_cast<size_t>(i)] == Role::kFloat) continue;
      AddNode(i, kAlone,
              [&](const std::string& output) { return alone_[output] = Unique(output + kAlone); });
    }
    for (const auto& [tensor, alone] : alone_) {
      const auto scale = plan_.scales.find(tensor);
      written_.values[tensor] = scale == plan_.scales.end()
                                    ? alone
                                    : QuantizeAndBack(alone, tensor + kAlone, scale->second);
    }
    return std::move(written_);
  }

 private:
  const onnx::GraphProto& graph() const { return plan_.network.graph(); }

  std::string Unique(const std::string& base) {
    std::string name = base;
    for (int i = 1; names_.contains(name); ++i) name = absl::StrCat(base, "_", i);
    names_.insert(name);
    return name;
  }

  std::string AddConstant(const std::string& base, Tensor tensor) {
    std::string name = Unique(base);
    written_.network.constants[name] = std::move(tensor);
    return name;
  }

  // Adds a QuantizeLinear or DequantizeLinear and returns the name of its output.
  std::string AddLinear(absl::string_view op, const std::string& base,
                        std::vector<std::string> inputs, int axis = -1) {
    onnx::NodeProto& node = *written_.network.graph().add_node();
    node.set_op_type(std::string(op));
    for (std::string& input : inputs) *node.add_input() = std::move(input);
    node.add_output(Unique(base));
    node.set_name(node.output(0));
    if (axis >= 0) {
      onnx::AttributeProto& attr = *node.add_attribute();
      attr.set_name("axis");
      attr.set_type(onnx::AttributeProto::INT);
      attr.set_i(axis);
    }
    return node.output(0);
  }

  std::pair<std::string, std::string> AddScale(const std::string& base, const Scale& scale) {
    return {AddConstant(base + kScale, Tensor::Scalar(DType::Float(32), scale.scale)),
            AddConstant(base + kZeroPoint, Tensor::Scalar(DType::Int(8), scale.zero_point))};
  }

  std::string QuantizeAndBack(const std::string& tensor, const std::string& base,
                              const Scale& scale) {
    const auto [s, zero_point] = AddScale(base, scale);
    const std::string q = AddLinear("QuantizeLinear", base + kQuantized, {tensor, s, zero_point});
    return AddLinear("DequantizeLinear", base + kDequantized, {q, s, zero_point});
  }

  void QuantizeTensor(const std::string& tensor) {
    const auto scale = plan_.scales.find(tensor);
    if (scale == plan_.scales.end()) return;
    written_.values[tensor] = QuantizeAndBack(tensor, tensor, scale->second);
  }

  // Returns a quantized and dequantized constant operand (of an Add, for example) with its own
  // scale.
  std::string DequantizedConstant(const std::string& constant) {
    std::string& name = constants_[constant];
    if (!name.empty()) return name;
    const Tensor& floats = plan_.network.constants.at(constant);
    const Scale scale = ScaleOf(RangeOf(floats), false);
    const auto [s, zero_point] = AddScale(constant, scale);
    const std::string q = AddConstant(constant + kQuantized, Quantize(floats, scale));
    return name = AddLinear("DequantizeLinear", constant + kDequantized, {q, s, zero_point});
  }

  // Replaces the weights and the bias of a product by constants dequantized from int8 and int32.
  void DequantizeWeights(onnx::NodeProto& node, float input_scale) {
    const std::string& weights_name = node.input(1);
    const bool has_bias = !node.op_type().starts_with("MatMul") && !Input(node, 2).empty();
    absl::Span<const float> bias;
    if (has_bias) bias = plan_.network.constants.at(node.input(2)).values<float>();
    const Tensor& floats = plan_.network.constants.at(weights_name);
    const int axis = plan_.per_channel ? ChannelAxis(node) : -1;
    const Weights weights = QuantizeWeights(floats, axis, bias, input_scale);
    const auto channels = static_cast<int64_t>(weights.scales.size());
    const Shape shape = axis < 0 ? Shape() : Shape{channels};
    const std::string w = AddLinear(
        "DequantizeLinear", weights_name + kDequantized,
        {AddConstant(weights_name + kQuantized, weights.numbers),
         AddConstant(weights_name + kScale,
                     Tensor::From<float>(shape, DType::Float(32), weights.scales)),
         AddConstant(weights_name + kZeroPoint, Tensor::Filled({shape, DType::Int(8)}, 0))},
        axis);
    if (has_bias) {
      std::vector<float> scales;
      for (const float scale : weights.scales) scales.push_back(input_scale * scale);
      node.set_input(2,
                     AddLinear("DequantizeLinear", node.input(2) + kDequantized,
                               {AddConstant(node.input(2) + kQuantized,
                                            QuantizeBias(bias, input_scale, weights.scales)),
                                AddConstant(node.input(2) + kScale,
                                            Tensor::From<float>(shape, DType::Float(32), scales))},
                               axis < 0 ? -1 : 0));
    }
    node.set_input(1, w);
  }

  // Returns the value that a node reads for `tensor`: dequantized if it is quantized, or the copy
  // of it if it is inside a copied layer.
  std::string Operand(const std::string& tensor) {
    if (plan_.selection.inside.contains(tensor)) {
      const auto alone = alone_.find(tensor);
      return alone == alone_.end() ? tensor : alone->second;
    }
    const auto value = written_.values.find(tensor);
    return value == written_.values.end() ? tensor : value->second;
  }

  void AddNode(int i, absl::string_view suffix,
               const std::function<std::string(const std::string&)>& output_name) {
    onnx::NodeProto node = graph().node(i);
    const Role role = plan_.selection.roles[static_cast<size_t>(i)];
    const bool inside = std::any_of(
        node.input().begin(), node.input().end(),
        [&](const std::string& input) { return plan_.selection.inside.contains(input); });
    if (role == Role::kProduct) DequantizeWeights(node, plan_.scales.at(node.input(0)).scale);
    const bool constants_too = (role == Role::kArithmetic || role == Role::kConcat) && !inside;
    for (std::string& input : *node.mutable_input()) {
      if (constants_too && plan_.network.Floats(input) != nullptr) {
        input = DequantizedConstant(input);
      } else {
        input = Operand(input);
      }
    }
    for (std::string& output : *node.mutable_output()) {
      if (!output.empty()) output = output_name(output);
    }
    if (!suffix.empty()) node.set_name(Unique(absl::StrCat(node.name(), suffix)));
    *written_.network.graph().add_node() = std::move(node);
  }

  const Plan& plan_;
  std::set<std::string> names_;
  Written written_;
  std::map<std::string, std::string> constants_;  // dequantized constants, keyed by the constant
  std::map<std::string, std::string> alone_;      // results of copied layers, keyed by the original
};

}  // namespace

Written WriteQuantized(const Plan& plan) { return Writer(plan).Quantized(); }

Written WriteLayersAlone(const Plan& plan) { return Writer(plan).Alone(); }

void AddOutputs(Network& network, const std::vector<std::string>& tensors) {
  const std::set<std::string> names = network.Names();
  int number = 0;
  for (const std::string& tensor : tensors) {
    std::string name;
    do {
      name = absl::StrCat("observed_", number++);
    } while (names.contains(name));
    onnx::NodeProto& node = *network.graph().add_node();
    node.set_op_type("Identity");
    node.set_name(name);
    node.add_input(tensor);
    node.add_output(name);
    network.graph().add_output()->set_name(name);
  }
}

}  // namespace kiln::quantize
