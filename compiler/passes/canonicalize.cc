// SPDX-License-Identifier: Apache-2.0
// Canonicalize: writes operators in one way, so that later passes and schedules meet few forms.
//   an operator with a canonical form (traits.h)  ->  that: nn.batch_norm with constant statistics
//   as multiply and add per channel, nn.dropout as its input
//   a view in its own shape (copy)  ->  its input
//   a view in another shape (squeeze, nn.batch_flatten, …), a transpose that moves only extents of
//   1  ->  reshape
//   reshape of a reshape  ->  one reshape; a reshape to the same shape is dropped
//   transpose of a transpose  ->  one transpose
#include <algorithm>

#include "compiler/base/status.h"
#include "compiler/graph/rewrite.h"
#include "compiler/ops/axes.h"
#include "compiler/ops/make.h"
#include "compiler/ops/op_def.h"
#include "compiler/passes/pass.h"

namespace kiln {
namespace {

class Canonicalizer {
 public:
  explicit Canonicalizer(const Graph& old) : old_(old), rewriter_(old) {}

  absl::StatusOr<Graph> Run() && {
    for (NodeId id = 0; id < static_cast<NodeId>(old_.nodes.size()); ++id) {
      KILN_ASSIGN_OR_RETURN(const bool done, Rewrite(id));
      if (!done) rewriter_.Copy(id);
    }
    return std::move(rewriter_).Finish();
  }

 private:
  Graph& graph() { return rewriter_.graph(); }

  // Whether the node has been replaced.
  absl::StatusOr<bool> Rewrite(NodeId id) {
    const Node& node = old_.node(id);
    if (node.is_group()) return false;
    const OpTraits& traits = FindOp(node.op->name)->traits;
    if (traits.canonical != nullptr) return InOtherWords(node, traits.canonical);
    if (traits.layout.rule == LayoutRule::kTranspose) return Transpose(node);
    switch (traits.view) {
      case View::kNone:
        return false;
      case View::kSame:
        rewriter_.Replace(node.outputs[0], rewriter_.Map(node.inputs[0]));
        return true;
      case View::kReshaped:
        return Reshape(node, rewriter_.Map(node.inputs[0]));
    }
    return false;
  }

  absl::StatusOr<bool> InOtherWords(const Node& node, CanonicalForm form) {
    std::vector<ValueId> inputs;
    for (ValueId input : node.inputs) inputs.push_back(rewriter_.Map(input));
    KILN_ASSIGN_OR_RETURN(const std::vector<ValueId> outputs, form(graph(), node, inputs));
    for (size_t k = 0; k < outputs.size(); ++k) rewriter_.Replace(node.outputs[k], outputs[k]);
    return !outputs.empty();
  }

  // The node that makes the value in the new graph, if its operator has the trait.
  template <typename HasTrait>
  const Node* ProducerIf(HasTrait has_trait, ValueId value) {
    if (graph().value(value).kind != ValueKind::kNodeOutput) return nullptr;
    const Node& producer = graph().node(graph().value(value).node);
    return !producer.is_group() && has_trait(FindOp(producer.op->name)->traits) ? &producer
                                                                                : nullptr;
  }
  static bool Transposes(const OpTraits& traits) {
    return traits.layout.rule == LayoutRule::kTranspose;
  }
  static bool Reshapes(const OpTraits& traits) { return traits.view == View::kReshaped; }

  absl::StatusOr<bool> Transpose(const Node& node) {
    const int rank = static_cast<int>(old_.type(node.outputs[0]).rank());
    KILN_ASSIGN_OR_RETURN(std::vector<int> axes, TransposeAxes(node.attrs, rank, 1));
    const ValueId direct = rewriter_.Map(node.inputs[0]);
    ValueId input = direct;
    if (const Node* before = ProducerIf(Transposes, input)) {
      KILN_ASSIGN_OR_RETURN(const std::vector<int> first, TransposeAxes(before->attrs, rank, 1));
      for (int& axis : axes) axis = first[static_cast<size_t>(axis)];
      input = before->inputs[0];
    }
    if (MovesOnlyOnes(graph().type(input).shape, {axes.begin(), axes.end()})) {
      return Reshape(node, input);
    }
    if (input == direct) return false;
    KILN_ASSIGN_OR_RETURN(const ValueId transposed,
                          MakeTranspose(graph(), input, {axes.begin(), axes.end()}, node.source));
    rewriter_.Replace(node.outputs[0], transposed);
    return true;
  }

  // `input`, a value of the new graph, in the shape of the node's output.
  absl::StatusOr<bool> Reshape(const Node& node, ValueId input) {
    const Shape& shape = old_.type(node.outputs[0]).shape;
    // Look through a reshape that has been rewritten before.
    if (const Node* before = ProducerIf(Reshapes, input)) input = before->inputs[0];
    if (graph().type(input).shape == shape) {
      rewriter_.Replace(node.outputs[0], input);
      return true;
    }
    KILN_ASSIGN_OR_RETURN(const ValueId reshaped, MakeReshape(graph(), input, shape, node.source));
    rewriter_.Replace(node.outputs[0], reshaped);
    return true;
  }

  const Graph& old_;
  GraphRewriter rewriter_;
};

}  // namespace

absl::StatusOr<Graph> Canonicalize(const Graph& graph, const PassContext&) {
  return Canonicalizer(graph).Run();
}

}  // namespace kiln
