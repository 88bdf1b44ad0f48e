// SPDX-License-Identifier: Apache-2.0
// ConvertLayout: makes convolutional graphs channels-last inside. Every value of rank 4 that a
// convolution or pooling computes is stored as NHWC. Operators that can follow this layout do, even
// if they split the channels into several axes after W (a channel shuffle). The other operators,
// and the model's outputs, get the value transposed back. Weights keep their layout, as the
// schedules pack them anyway. An operator follows as its layout trait says (compiler/ops/traits.h).
#include <algorithm>
#include <map>
#include <set>

#include "compiler/base/status.h"
#include "compiler/graph/rewrite.h"
#include "compiler/ops/add_op.h"
#include "compiler/ops/channels_last.h"
#include "compiler/ops/make.h"
#include "compiler/ops/op_def.h"
#include "compiler/passes/pass.h"

namespace kiln {
namespace {

class LayoutConverter {
 public:
  explicit LayoutConverter(const Graph& old) : old_(old), rewriter_(old) {}

  absl::StatusOr<Graph> Run() && {
    for (NodeId id = 0; id < static_cast<NodeId>(old_.nodes.size()); ++id) {
      const Node& node = old_.node(id);
      KILN_ASSIGN_OR_RETURN(const bool done, Convert(node));
      if (done) continue;
      for (ValueId input : node.inputs) KILN_RETURN_IF_ERROR(First(input).status());
      rewriter_.Copy(id);
    }
    for (ValueId output : old_.outputs) KILN_RETURN_IF_ERROR(First(output).status());
    return std::move(rewriter_).Finish();
  }

 private:
  Graph& graph() { return rewriter_.graph(); }
  bool IsLast(ValueId old_value) const { return last_.contains(old_value); }

  // The value in the model's own layout.
  absl::StatusOr<ValueId> First(ValueId old_value) {
    const auto it = last_.find(old_value);
    if (it != last_.end() && first_.insert(old_value).second) {
      const std::vector<int64_t> axes = FromChannelsLast(old_.type(old_value).rank());
      KILN_ASSIGN_OR_RETURN(const ValueId first, MakeTranspose(graph(), it->second, axes));
      rewriter_.Replace(old_value, first);
    }
    return rewriter_.Map(old_value);
  }

  // The value as (N, H, W, C…).
  absl::StatusOr<ValueId> Last(ValueId old_value) {
    const auto it = last_.find(old_value);
    if (it != last_.end()) return it->second;
    const std::vector<int64_t> axes = ToChannelsLast(old_.type(old_value).rank());
    KILN_ASSIGN_OR_RETURN(const ValueId last,
                          MakeTranspose(graph(), rewriter_.Map(old_value), axes));
    last_[old_value] = last;
    first_.insert(old_value);
    return last;
  }

  // The same for an operand that broadcasts against values of this rank. Lower
  // ranks are extended first.
  absl::StatusOr<ValueId> LastBroadcast(ValueId old_value, int64_t rank) {
    const TensorType& type = old_.type(old_value);
    if (type.rank() == rank) return Last(old_value);
    KILN_ASSIGN_OR_RETURN(ValueId value, First(old_value));
    if (type.num_elements() == 1) return value;
    Shape shape(static_cast<size_t>(rank - type.rank()), 1);
    shape.insert(shape.end(), type.shape.begin(), type.shape.end());
    KILN_ASSIGN_OR_RETURN(value, MakeReshape(graph(), value, shape));
    return MakeTranspose(graph(), value, ToChannelsLast(rank));
  }

  absl::StatusOr<ValueId> Operand(const OpDef& op, const Node& node, size_t k) {
    if (!FollowsData(old_, op, node, k)) return First(node.inputs[k]);
    if (op.traits.layout.rule != LayoutRule::kElementwise) return Last(node.inputs[k]);
    return LastBroadcast(node.inputs[k], old_.type(node.outputs[0]).rank());
  }

  // Returns true if the node has been rewritten in NHWC. Operators that name their layout start the
  // conversion, and others follow.
  absl::StatusOr<bool> Convert(const Node& node) {
    if (node.is_group()) return false;
    const OpDef& op = *FindOp(node.op->name);
    const bool begins = op.traits.layout.rule == LayoutRule::kNamed;
    if (!begins && std::none_of(node.inputs.begin(), node.inputs.end(),
                                [&](ValueId v) { return IsLast(v); })) {
      return false;
    }
    std::optional<Attrs> attrs = ChannelsLastAttrs(old_, op, node);
    if (!attrs.has_value()) return false;
    std::vector<ValueId> inputs;
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      KILN_ASSIGN_OR_RETURN(inputs.emplace_back(), Operand(op, node, k));
    }
    KILN_ASSIGN_OR_RETURN(
        const std::vector<ValueId> outputs,
        AddOpOutputs(graph(), op.name, std::move(inputs), *std::move(attrs), node.source));
    for (size_t k = 0; k < outputs.size(); ++k) {
      if (old_.type(node.outputs[k]).rank() >= kMinChannelsRank) {
        last_[node.outputs[k]] = outputs[k];
      } else {
        rewriter_.Replace(node.outputs[k], outputs[k]);
      }
    }
    return true;
  }

  const Graph& old_;
  GraphRewriter rewriter_;
  std::map<ValueId, ValueId> last_;  // old value to its NHWC form
  std::set<ValueId> first_;          // old values in last_ that also exist in their own layout
};

}  // namespace

absl::StatusOr<Graph> ConvertLayout(const Graph& graph, const PassContext& context) {
  KILN_ASSIGN_OR_RETURN(const Graph converted, LayoutConverter(graph).Run());
  // Canonicalize turns transposes of extents of 1 into reshapes.
  return Canonicalize(converted, context);
}

}  // namespace kiln
