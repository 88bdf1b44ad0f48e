// SPDX-License-Identifier: Apache-2.0
// FoldScales: multiply(conv(x, w) [+ bias], s) with constant w, bias and a constant s per output
// channel becomes conv(x, w * s) [+ bias * s]: what batch_norm leaves behind a convolution costs
// nothing then. Results differ by rounding.
#include <algorithm>
#include <utility>

#include "compiler/base/status.h"
#include "compiler/graph/rewrite.h"
#include "compiler/ops/add_op.h"
#include "compiler/passes/pass.h"

namespace kiln {
namespace {

// The axis of output channels in a layout: position of `letter`.
int64_t AxisOf(const std::string& layout, char letter) {
  return static_cast<int64_t>(layout.find(letter));
}

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
    if (node.is_group() || node.op_name() != "multiply") return false;
    for (size_t side = 0; side < 2; ++side) {
      const ValueId scale = node.inputs[1 - side];
      const Node* producer = SoleProducer(node.inputs[side]);
      if (producer == nullptr || producer->is_group() || !old_.is_constant(scale) ||
          old_.type(node.inputs[side]) != old_.type(node.outputs[0])) {
        continue;
      }
      ValueId bias = kNoId;
      const Node* outer = producer;
      if (producer->op_name() == "nn.bias_add" || producer->op_name() == "add") {
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

  // A per-channel constant reshaped to `rank` with its channels at `axis`.
  absl::StatusOr<ValueId> Spread(ValueId value, int rank, int64_t axis) {
    Shape shape(static_cast<size_t>(rank), 1);
    shape[static_cast<size_t>(axis)] = rewriter_.graph().type(value).num_elements();
    Attrs attrs;
    attrs.Set("newshape", AttrValue::Ints(shape));
    return AddOp(rewriter_.graph(), "reshape", {value}, attrs);
  }

  absl::StatusOr<bool> FoldInto(const Node& node, const Node& product, const Node& outer,
                                ValueId scale, ValueId bias) {
    const TensorType& type = old_.type(node.outputs[0]);
    int64_t channel = 0, weight_axis = 0;
    if (product.op_name() == "nn.conv2d") {
      const std::string& layout = product.attrs.String("data_layout");
      const std::string& kernel = product.attrs.String("kernel_layout");
      if (layout.size() != 4 || kernel.size() != 4 || kernel.find('O') == std::string::npos)
        return false;
      // In depthwise HWOI the outputs are spread over two axes.
      if (product.attrs.Int("groups") != 1 && kernel != "OIHW") return false;
      channel = AxisOf(layout, 'C');
      weight_axis = AxisOf(kernel, 'O');
    } else if (product.op_name() == "nn.dense") {
      channel = type.rank() - 1;
    } else {
      return false;
    }
    const ValueId weight = product.inputs[1];
    if (!old_.is_constant(weight) || !type.dtype.is_float() || type.dtype.bits == 16 ||
        !IsPerChannel(scale, type.rank(), channel)) {
      return false;
    }
    Graph& graph = rewriter_.graph();
    KILN_ASSIGN_OR_RETURN(const ValueId spread,
                          Spread(rewriter_.Map(scale), old_.type(weight).rank(), weight_axis));
    KILN_ASSIGN_OR_RETURN(const ValueId scaled,
                          AddOp(graph, "multiply", {rewriter_.Map(weight), spread}));
    KILN_ASSIGN_OR_RETURN(ValueId result,
                          AddOp(graph, product.op->name, {rewriter_.Map(product.inputs[0]), scaled},
                                product.attrs, product.source));
    if (bias != kNoId) {
      ValueId factor = rewriter_.Map(scale);
      if (outer.op_name() == "nn.bias_add" && graph.type(factor).num_elements() > 1) {
        KILN_ASSIGN_OR_RETURN(factor, Spread(factor, 1, 0));
      } else if (outer.op_name() == "nn.bias_add") {
        Attrs scalar;
        scalar.Set("newshape", AttrValue::Ints({1}));
        KILN_ASSIGN_OR_RETURN(factor, AddOp(graph, "reshape", {factor}, scalar));
      }
      KILN_ASSIGN_OR_RETURN(const ValueId scaled_bias,
                            AddOp(graph, "multiply", {rewriter_.Map(bias), factor}));
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
