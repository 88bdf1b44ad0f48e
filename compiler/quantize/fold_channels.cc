// SPDX-License-Identifier: Apache-2.0
#include "compiler/quantize/fold_channels.h"

#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

namespace kiln::quantize {
namespace {

// y = factor * x + offset, per channel.
struct Affine {
  std::vector<double> factor, offset;
};

std::optional<std::vector<double>> Doubles(const Network& network, const std::string& name,
                                           size_t wanted) {
  const Tensor* tensor = network.Floats(name);
  if (tensor == nullptr || tensor->values<float>().size() != wanted) return std::nullopt;
  return std::vector<double>(tensor->values<float>().begin(), tensor->values<float>().end());
}

// Returns the affine function that a BatchNormalization applies to each of `channels` channels.
// Absent if its parameters are not constant.
std::optional<Affine> BatchNorm(const Network& network, const onnx::NodeProto& node,
                                size_t channels) {
  if (!Is(node, "BatchNormalization") || node.input_size() != 5 || node.output_size() != 1 ||
      IntAttr(node, "training_mode", 0) != 0) {
    return std::nullopt;
  }
  const auto scale = Doubles(network, node.input(1), channels),
             bias = Doubles(network, node.input(2), channels),
             mean = Doubles(network, node.input(3), channels),
             variance = Doubles(network, node.input(4), channels);
  if (!scale || !bias || !mean || !variance) return std::nullopt;
  const double epsilon = FloatAttr(node, "epsilon", 1e-5f);
  Affine affine;
  for (size_t i = 0; i < channels; ++i) {
    affine.factor.push_back((*scale)[i] / std::sqrt((*variance)[i] + epsilon));
    affine.offset.push_back((*bias)[i] - (*mean)[i] * affine.factor[i]);
    if (!std::isfinite(affine.factor[i]) || !std::isfinite(affine.offset[i])) return std::nullopt;
  }
  return affine;
}

// Returns the affine function of an Add that adds one constant to each channel of `x`, a tensor of
// rank `rank`. Absent for any other node.
std::optional<Affine> ChannelAdd(const Network& network, const onnx::NodeProto& node,
                                 const std::string& x, size_t channels, size_t rank) {
  if (!Is(node, "Add") || node.input_size() != 2) return std::nullopt;
  const std::string& other = node.input(node.input(0) == x ? 1 : 0);
  const auto values = Doubles(network, other, channels);
  if (!values) return std::nullopt;
  Shape shape = network.Floats(other)->type().shape;
  if (shape.size() > rank) return std::nullopt;
  shape.insert(shape.begin(), rank - shape.size(), 1);
  if (static_cast<size_t>(shape[1]) != channels) return std::nullopt;
  return Affine{std::vector<double>(channels, 1), *values};
}

class Folder {
 public:
  explicit Folder(Network& network)
      : network_(network), uses_(network.FindUses()), names_(network.Names()) {}

  void Run() {
    onnx::GraphProto& graph = network_.graph();
    gone_.resize(static_cast<size_t>(graph.node_size()));
    for (int i = 0; i < graph.node_size(); ++i) {
      onnx::NodeProto& node = *graph.mutable_node(i);
      if (Is(node, "Conv")) {
        while (FoldNext(node)) {
        }
      }
      if (Is(node, "Gemm")) FoldGemm(node);
    }
    google::protobuf::RepeatedPtrField<onnx::NodeProto> kept;
    for (int i = 0; i < graph.node_size(); ++i) {
      if (!gone_[static_cast<size_t>(i)]) *kept.Add() = std::move(*graph.mutable_node(i));
    }
    graph.mutable_node()->Swap(&kept);
  }

 private:
  std::string AddConstant(absl::string_view base, Tensor tensor) {
    std::string name(base);
    for (int i = 1; names_.contains(name); ++i) name = absl::StrCat(base, "_", i);
    names_.insert(name);
    network_.constants[name] = std::move(tensor);
    return name;
  }

  // Folds the only reader of a convolution into it. Returns false if that is impossible.
  bool FoldNext(onnx::NodeProto& conv) {
    const Tensor* weights = network_.Floats(Input(conv, 1));
    const std::string y = conv.output(0);
    const Uses& uses = uses_[y];
    if (weights == nullptr || weights->type().rank() < 3 || uses.outside ||
        uses.nodes.size() != 1) {
      return false;
    }
    const auto channels = static_cast<size_t>(weights->type().shape[0]);
    std::vector<double> bias(channels, 0);
    if (!Input(conv, 2).empty()) {
      const auto values = Doubles(network_, conv.input(2), channels);
      if (!values) return false;
      bias = *values;
    }
    onnx::NodeProto& next = *network_.graph().mutable_node(uses.nodes[0]);
    std::optional<Affine> affine;
    if (Input(next, 0) == y) affine = BatchNorm(network_, next, channels);
    if (!affine) {
      affine = ChannelAdd(network_, next, y, channels, static_cast<size_t>(weights->type().rank()));
    }
    if (!affine) return false;
    std::vector<float> scaled, shifted;
    const absl::Span<const float> old = weights->values<float>();
    for (size_t i = 0; i < old.size(); ++i) {
      const size_t channel = i / (old.size() / channels);
      scaled.push_back(static_cast<float>(old[i] * affine->factor[channel]));
    }
    for (size_t i = 0; i < channels; ++i) {
      shifted.push_back(static_cast<float>(bias[i] * affine->factor[i] + affine->offset[i]));
    }
    const Shape shape = weights->type().shape;
    const auto vector = static_cast<int64_t>(channels);
    const std::string w = AddConstant(absl::StrCat(conv.input(1), "_folded"),
                                      Tensor::From<float>(shape, DType::Float(32), scaled));
    const std::string b = AddConstant(absl::StrCat(conv.name(), "_bias"),
                                      Tensor::From<float>({vector}, DType::Float(32), shifted));
    conv.set_input(1, w);
    if (conv.input_size() < 3) conv.add_input();
    conv.set_input(2, b);
    gone_[static_cast<size_t>(uses.nodes[0])] = true;
    conv.set_output(0, next.output(0));
    return true;
  }

  std::string Scaled(const std::string& name, float factor) {
    std::vector<float> values;
    for (const float value : network_.Floats(name)->values<float>()) {
      values.push_back(value * factor);
    }
    return AddConstant(name + "_scaled", Tensor::From<float>(network_.Floats(name)->type().shape,
                                                             DType::Float(32), values));
  }

  void SetToOne(onnx::NodeProto& node, absl::string_view name) {
    for (onnx::AttributeProto& attr : *node.mutable_attribute()) {
      if (attr.name() == name) attr.set_f(1);
    }
  }

  void FoldGemm(onnx::NodeProto& gemm) {
    const float alpha = FloatAttr(gemm, "alpha", 1), beta = FloatAttr(gemm, "beta", 1);
    const Tensor* b = network_.Floats(Input(gemm, 1));
    if (b == nullptr || b->type().rank() != 2) return;
    const int64_t columns = b->type().shape[IntAttr(gemm, "transB", 0) != 0 ? 0 : 1];
    const Tensor* bias = network_.Floats(Input(gemm, 2));
    if (bias != nullptr) {
      const Shape& shape = bias->type().shape;
      if (bias->type().num_elements() != columns || shape.size() > 2 ||
          (shape.size() == 2 && shape[0] != 1)) {
        return;
      }
      std::vector<float> values;
      for (const float value : bias->values<float>()) values.push_back(value * beta);
      if (shape.size() != 1 || beta != 1) {
        gemm.set_input(2, AddConstant(gemm.name() + "_bias",
                                      Tensor::From<float>({columns}, DType::Float(32), values)));
      }
      SetToOne(gemm, "beta");
    }
    if (alpha != 1) gemm.set_input(1, Scaled(gemm.input(1), alpha));
    SetToOne(gemm, "alpha");
  }

  Network& network_;
  std::map<std::string, Uses> uses_;
  std::set<std::string> names_;
  std::vector<bool> gone_;
};

}  // namespace

void FoldChannels(Network& network) { Folder(network).Run(); }

}  // namespace kiln::quantize
