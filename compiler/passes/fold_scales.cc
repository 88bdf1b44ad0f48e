// SPDX-License-Identifier: Apache-2.0
// FoldScales: (conv(x, w) [+ bias]) * s becomes conv(x, w * s) [+ bias * s] if w, bias and s are
// constant and s has one value per output channel. The scale that batch_norm leaves after a
// convolution then costs nothing. The same holds for every product whose traits tell its output
// channels. A single number s is moved further back, through operators that move elements and
// through the data of products: attention's scores / sqrt(width) becomes a scale of the weights of
// the queries. Results differ by rounding.
#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/base/status.h"
#include "compiler/graph/rewrite.h"
#include "compiler/ops/add_op.h"
#include "compiler/ops/make.h"
#include "compiler/ops/op_queries.h"
#include "compiler/passes/pass.h"

namespace kiln {
namespace {

class ScaleFolder {
 public:
  explicit ScaleFolder(const Graph& old) : old_(old), rewriter_(old), consumers_(old.Consumers()) {}

  // True if Run has folded anything.
  bool changed() const { return changed_; }

  absl::StatusOr<Graph> Run() {
    for (NodeId id = 0; id < static_cast<NodeId>(old_.nodes.size()); ++id) {
      KILN_ASSIGN_OR_RETURN(const bool done, Rewrite(old_.node(id)));
      if (!done) rewriter_.Copy(id);
      changed_ |= done;
    }
    return std::move(rewriter_).Finish();
  }

 private:
  // The node that makes `value` if nothing else reads it, else null.
  const Node* SoleProducer(ValueId value) const {
    const Value& v = old_.value(value);
    if (v.kind != ValueKind::kNodeOutput || consumers_[static_cast<size_t>(value)].size() != 1 ||
        std::find(old_.outputs.begin(), old_.outputs.end(), value) != old_.outputs.end()) {
      return nullptr;
    }
    return &old_.node(v.node);
  }

  // True if a scale of this shape varies only along `axis` of a tensor of rank `rank`, or not at
  // all.
  static bool IsPerChannel(const Shape& shape, int rank, int64_t axis) {
    for (size_t i = 0; i < shape.size(); ++i) {
      const int64_t position = static_cast<int64_t>(i) + rank - static_cast<int64_t>(shape.size());
      if (shape[i] != 1 && position != axis) return false;
    }
    return static_cast<int>(shape.size()) <= rank;
  }

  absl::StatusOr<bool> Rewrite(const Node& node) {
    const Arithmetic arithmetic = ArithmeticOf(node);
    const bool divides = arithmetic == Arithmetic::kQuotient;
    if (!divides && arithmetic != Arithmetic::kProduct) return false;
    const TensorType& type = old_.type(node.outputs[0]);
    if (!type.dtype.is_float() || type.dtype.bits == 16) return false;
    for (size_t side = 0; side < (divides ? 1 : 2); ++side) {
      const ValueId value = node.inputs[side], scale = node.inputs[1 - side];
      if (!old_.is_constant(scale) || old_.type(value) != type) continue;
      const TensorType& of_scale = old_.type(scale);
      if (!TakesScale(value, of_scale.num_elements() == 1 ? Shape() : of_scale.shape)) continue;
      KILN_ASSIGN_OR_RETURN(const ValueId factor, Factor(node, scale));
      KILN_ASSIGN_OR_RETURN(const ValueId scaled, Scaled(value, factor));
      rewriter_.Replace(node.outputs[0], scaled);
      return true;
    }
    return false;
  }

  // The factor by which the node multiplies. A single number has no dimensions.
  absl::StatusOr<ValueId> Factor(const Node& node, ValueId scale) {
    ValueId factor = rewriter_.Map(scale);
    const TensorType& type = old_.type(scale);
    if (ArithmeticOf(node) == Arithmetic::kQuotient) {
      const ValueId one = graph().AddConstant(Tensor::Scalar(type.dtype, 1));
      KILN_ASSIGN_OR_RETURN(factor, AddOp(graph(), node.op->name, {one, factor}));
    }
    if (type.shape.empty() || type.num_elements() != 1) return factor;
    return MakeReshape(graph(), factor, {});
  }

  // True if the node adds a constant to its data without broadcasting the data.
  bool AddsConstant(const Node& node) const {
    return ArithmeticOf(node) == Arithmetic::kSum && old_.is_constant(node.inputs[1]) &&
           old_.type(node.inputs[0]) == old_.type(node.outputs[0]);
  }

  // Axes of the output channels of a product whose weight is a constant and has them on one axis.
  std::optional<ChannelAxes> ChannelsOfConstant(const Node& node) const {
    const std::optional<ChannelAxes> channels = ChannelAxesOf(old_, node);
    if (!channels.has_value() || !channels->weight.has_value()) return std::nullopt;
    const ValueId weight = node.inputs[static_cast<size_t>(TraitsOf(node)->weight)];
    const bool is_plain =
        old_.is_constant(weight) && old_.type(weight).dtype == old_.type(node.outputs[0]).dtype;
    return is_plain ? channels : std::nullopt;
  }

  // True if scaling the node's first input scales its output, which must be a single tensor.
  static bool LetsFactorsThrough(const Node& node) {
    if (node.outputs.size() != 1 || node.op->tuple_input) return false;
    const OpTraits& traits = *TraitsOf(node);
    return traits.origin == Origin::kMoved ||
           (traits.fusion == Fusion::kContraction && traits.weight > 0);
  }

  // True if nothing else reads the value, and if it can be multiplied by a constant of this shape
  // by scaling constants only.
  bool TakesScale(ValueId value, const Shape& scale) const {
    const Node* producer = SoleProducer(value);
    if (producer == nullptr || producer->is_group()) return false;
    if (AddsConstant(*producer)) return TakesScale(producer->inputs[0], scale);
    if (const auto channels = ChannelsOfConstant(*producer)) {
      return IsPerChannel(scale, old_.type(value).rank(), channels->output);
    }
    return NumElements(scale) == 1 && LetsFactorsThrough(*producer) &&
           old_.type(producer->inputs[0]).dtype == old_.type(value).dtype &&
           TakesScale(producer->inputs[0], scale);
  }

  // The value, for which TakesScale holds, times `scale` of the new graph.
  absl::StatusOr<ValueId> Scaled(ValueId value, ValueId scale) {
    const Node& producer = *SoleProducer(value);
    std::vector<ValueId> inputs;
    if (const auto channels = ChannelsOfConstant(producer)) {
      for (ValueId input : producer.inputs) inputs.push_back(rewriter_.Map(input));
      const auto weight = static_cast<size_t>(TraitsOf(producer)->weight);
      const int rank = old_.type(producer.inputs[weight]).rank();
      KILN_ASSIGN_OR_RETURN(const ValueId spread,
                            MakeAlongAxis(graph(), scale, rank, *channels->weight));
      KILN_ASSIGN_OR_RETURN(inputs[weight], MakeProduct(graph(), inputs[weight], spread));
    } else {
      KILN_ASSIGN_OR_RETURN(const ValueId data, Scaled(producer.inputs[0], scale));
      inputs.push_back(data);
      for (size_t i = 1; i < producer.inputs.size(); ++i) {
        inputs.push_back(rewriter_.Map(producer.inputs[i]));
      }
      if (AddsConstant(producer)) {
        KILN_ASSIGN_OR_RETURN(inputs[1], ScaledBias(producer, inputs[1], scale));
      }
    }
    return AddOp(graph(), producer.op->name, std::move(inputs), producer.attrs, producer.source);
  }

  // A bias along an axis that an attribute names is a vector. Other biases
  // broadcast like the scale.
  absl::StatusOr<ValueId> ScaledBias(const Node& sum, ValueId bias, ValueId scale) {
    if (TraitsOf(sum)->layout.rule == LayoutRule::kAxis) {
      KILN_ASSIGN_OR_RETURN(scale, MakeAlongAxis(graph(), scale, 1, 0));
    }
    return MakeProduct(graph(), bias, scale);
  }

  Graph& graph() { return rewriter_.graph(); }

  const Graph& old_;
  GraphRewriter rewriter_;
  std::vector<std::vector<NodeId>> consumers_;
  bool changed_ = false;
};

}  // namespace

absl::StatusOr<Graph> FoldScales(const Graph& graph, const PassContext& context) {
  // Scales per channel may still be computations of constants (batch_norm's scale). They are folded
  // first, so that they are recognized.
  KILN_ASSIGN_OR_RETURN(Graph folded, FoldConstants(graph, context));
  Graph result = folded;
  for (;;) {
    ScaleFolder folder(folded);
    KILN_ASSIGN_OR_RETURN(Graph scaled, folder.Run());
    if (!folder.changed()) return result;
    result = std::move(scaled);
    // The folded product may be followed by a further scale.
    KILN_ASSIGN_OR_RETURN(folded, FoldConstants(result, context));
  }
}

}  // namespace kiln
