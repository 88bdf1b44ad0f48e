// SPDX-License-Identifier: Apache-2.0
// FoldScales: (conv(x, w) [+ bias]) * s with constant w, bias and a constant s per output channel
// becomes conv(x, w * s) [+ bias * s]: what batch_norm leaves behind a convolution costs nothing
// then. So with every product that says where its output channels are. Results differ by rounding.
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

  // Whether Run has folded anything.
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

  // A constant that varies along `axis` of a tensor of rank `rank` alone, or not at all.
  bool IsPerChannel(ValueId value, int rank, int64_t axis) const {
    if (!old_.is_constant(value)) return false;
    const Shape& shape = old_.type(value).shape;
    for (size_t i = 0; i < shape.size(); ++i) {
      const int64_t position = static_cast<int64_t>(i) + rank - static_cast<int64_t>(shape.size());
      if (shape[i] != 1 && position != axis) return false;
    }
    return static_cast<int>(shape.size()) <= rank;
  }

  absl::StatusOr<bool> Rewrite(const Node& node) {
    if (ArithmeticOf(node) != Arithmetic::kProduct) return false;
    for (size_t side = 0; side < 2; ++side) {
      const ValueId scale = node.inputs[1 - side];
      const Node* producer = SoleProducer(node.inputs[side]);
      if (producer == nullptr || producer->is_group() || !old_.is_constant(scale) ||
          old_.type(node.inputs[side]) != old_.type(node.outputs[0])) {
        continue;
      }
      ValueId bias = kNoId;
      const Node* outer = producer;
      if (ArithmeticOf(*producer) == Arithmetic::kSum) {
        if (!old_.is_constant(producer->inputs[1]) ||
            old_.type(producer->inputs[0]) != old_.type(producer->outputs[0])) {
          continue;
        }
        bias = producer->inputs[1];
        producer = SoleProducer(producer->inputs[0]);
      }
      if (producer == nullptr || producer->is_group()) continue;
      KILN_ASSIGN_OR_RETURN(const bool done, FoldInto(node, *producer, *outer, scale, bias));
      if (done) return true;
    }
    return false;
  }

  absl::StatusOr<bool> FoldInto(const Node& node, const Node& product, const Node& outer,
                                ValueId scale, ValueId bias) {
    const TensorType& type = old_.type(node.outputs[0]);
    const std::optional<ChannelAxes> channels = ChannelAxesOf(old_, product);
    if (!channels.has_value() || !channels->weight.has_value()) return false;
    const auto weight_input = static_cast<size_t>(TraitsOf(product)->weight);
    const ValueId weight = product.inputs[weight_input];
    if (!old_.is_constant(weight) || !type.dtype.is_float() || type.dtype.bits == 16 ||
        old_.type(weight).dtype != type.dtype ||
        !IsPerChannel(scale, type.rank(), channels->output)) {
      return false;
    }
    Graph& graph = rewriter_.graph();
    KILN_ASSIGN_OR_RETURN(
        const ValueId spread,
        MakeAlongAxis(graph, rewriter_.Map(scale), old_.type(weight).rank(), *channels->weight));
    KILN_ASSIGN_OR_RETURN(const ValueId scaled, MakeProduct(graph, rewriter_.Map(weight), spread));
    std::vector<ValueId> inputs;
    for (ValueId input : product.inputs) inputs.push_back(rewriter_.Map(input));
    inputs[weight_input] = scaled;
    KILN_ASSIGN_OR_RETURN(ValueId result, AddOp(graph, product.op->name, std::move(inputs),
                                                product.attrs, product.source));
    if (bias != kNoId) {
      ValueId factor = rewriter_.Map(scale);
      // A bias along an axis that an attribute names is a vector; others broadcast as the scale.
      if (TraitsOf(outer)->layout.rule == LayoutRule::kAxis) {
        KILN_ASSIGN_OR_RETURN(factor, MakeAlongAxis(graph, factor, 1, 0));
      }
      KILN_ASSIGN_OR_RETURN(const ValueId scaled_bias,
                            MakeProduct(graph, rewriter_.Map(bias), factor));
      KILN_ASSIGN_OR_RETURN(
          result, AddOp(graph, outer.op->name, {result, scaled_bias}, outer.attrs, outer.source));
    }
    rewriter_.Replace(node.outputs[0], result);
    return true;
  }

  const Graph& old_;
  GraphRewriter rewriter_;
  std::vector<std::vector<NodeId>> consumers_;
  bool changed_ = false;
};

}  // namespace

absl::StatusOr<Graph> FoldScales(const Graph& graph, const PassContext& context) {
  // Constants per channel are still computations of constants (batch_norm's scale): fold them first
  // so that they can be recognised.
  KILN_ASSIGN_OR_RETURN(Graph folded, FoldConstants(graph, context));
  Graph result = folded;
  for (;;) {
    ScaleFolder folder(folded);
    KILN_ASSIGN_OR_RETURN(Graph scaled, folder.Run());
    if (!folder.changed()) return result;
    result = std::move(scaled);
    // What is folded now may stand in front of a further scale.
    KILN_ASSIGN_OR_RETURN(folded, FoldConstants(result, context));
  }
}

}  // namespace kiln
