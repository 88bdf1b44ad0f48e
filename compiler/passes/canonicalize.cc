// SPDX-License-Identifier: Apache-2.0
// Canonicalize: writes operators in one way, so that later passes and schedules meet few forms.
//   nn.batch_norm with constant statistics  ->  multiply and add per channel (their constants are
//   folded later)
//   nn.dropout, copy, cast to the same type  ->  their input
//   squeeze, expand_dims, nn.batch_flatten, a transpose that moves only extents of 1  ->  reshape
//   reshape of a reshape  ->  one reshape; a reshape to the same shape is dropped
//   transpose of a transpose  ->  one transpose
#include <algorithm>
#include <array>

#include "compiler/base/status.h"
#include "compiler/graph/rewrite.h"
#include "compiler/ops/add_op.h"
#include "compiler/ops/axes.h"
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
    const absl::string_view op = node.op_name();
    if (op == "nn.batch_norm") return BatchNorm(node);
    if (op == "nn.dropout") return Dropout(node);
    const ValueId input = node.inputs.empty() ? kNoId : node.inputs[0];
    if (op == "copy" || (op == "cast" && old_.type(input) == old_.type(node.outputs[0]))) {
      rewriter_.Replace(node.outputs[0], rewriter_.Map(input));
      return true;
    }
    if (op == "transpose") return Transpose(node);
    if (op == "reshape" || op == "squeeze" || op == "expand_dims" || op == "nn.batch_flatten") {
      return Reshape(node, rewriter_.Map(input));
    }
    return false;
  }

  // The node that makes the value in the new graph, if it is of this operator.
  const Node* ProducerIf(absl::string_view op, ValueId value) {
    if (graph().value(value).kind != ValueKind::kNodeOutput) return nullptr;
    const Node& producer = graph().node(graph().value(value).node);
    return producer.op_name() == op ? &producer : nullptr;
  }

  static bool MovesOnlyOnes(const Shape& from, const std::vector<int>& axes) {
    int last = -1;
    for (int axis : axes) {
      if (from[static_cast<size_t>(axis)] == 1) continue;
      if (axis < last) return false;
      last = axis;
    }
    return true;
  }

  absl::StatusOr<bool> Transpose(const Node& node) {
    const int rank = static_cast<int>(old_.type(node.outputs[0]).rank());
    KILN_ASSIGN_OR_RETURN(std::vector<int> axes, TransposeAxes(node.attrs, rank, 1));
    const ValueId direct = rewriter_.Map(node.inputs[0]);
    ValueId input = direct;
    if (const Node* before = ProducerIf("transpose", input)) {
      KILN_ASSIGN_OR_RETURN(const std::vector<int> first, TransposeAxes(before->attrs, rank, 1));
      for (int& axis : axes) axis = first[static_cast<size_t>(axis)];
      input = before->inputs[0];
    }
    if (MovesOnlyOnes(graph().type(input).shape, axes)) return Reshape(node, input);
    if (input == direct) return false;
    Attrs attrs;
    attrs.Set("axes", AttrValue::Ints({axes.begin(), axes.end()}));
    KILN_ASSIGN_OR_RETURN(const ValueId transposed,
                          AddOp(graph(), "transpose", {input}, attrs, node.source));
    rewriter_.Replace(node.outputs[0], transposed);
    return true;
  }

  // `input`, a value of the new graph, in the shape of the node's output.
  absl::StatusOr<bool> Reshape(const Node& node, ValueId input) {
    const Shape& shape = old_.type(node.outputs[0]).shape;
    // Look through a reshape that has been rewritten before.
    if (const Node* before = ProducerIf("reshape", input)) input = before->inputs[0];
    if (graph().type(input).shape == shape) {
      rewriter_.Replace(node.outputs[0], input);
      return true;
    }
    Attrs attrs;
    attrs.Set("newshape", AttrValue::Ints(shape));
    attrs.Set("allowzero", true);
    KILN_ASSIGN_OR_RETURN(const ValueId reshaped,
                          AddOp(graph(), "reshape", {input}, attrs, node.source));
    rewriter_.Replace(node.outputs[0], reshaped);
    return true;
  }

  absl::StatusOr<bool> Dropout(const Node& node) {
    // The mask, if anything reads it, is all ones at inference.
    rewriter_.Replace(node.outputs[0], rewriter_.Map(node.inputs[0]));
    rewriter_.Replace(node.outputs[1],
                      graph().AddConstant(Tensor::Filled(old_.type(node.outputs[1]), 1)));
    return true;
  }

  // y = (x - mean) / sqrt(variance + epsilon) * gamma + beta, as x * scale + shift.
  absl::StatusOr<bool> BatchNorm(const Node& node) {
    const bool constant = std::all_of(node.inputs.begin() + 1, node.inputs.end(),
                                      [&](ValueId v) { return old_.is_constant(v); });
    const DType dtype = old_.type(node.inputs[0]).dtype;
    if (!constant || !dtype.is_float() || dtype.bits == 16) return false;
    std::array<ValueId, 5> in;
    for (size_t i = 0; i < in.size(); ++i) in[i] = rewriter_.Map(node.inputs[i]);
    const ValueId epsilon = graph().AddConstant(Tensor::Scalar(dtype, node.attrs.Float("epsilon")));
    KILN_ASSIGN_OR_RETURN(ValueId scale, AddOp(graph(), "add", {in[4], epsilon}));
    KILN_ASSIGN_OR_RETURN(scale, AddOp(graph(), "sqrt", {scale}));
    const ValueId one = graph().AddConstant(Tensor::Scalar(dtype, 1));
    KILN_ASSIGN_OR_RETURN(
        scale, AddOp(graph(), "divide", {node.attrs.Bool("scale") ? in[1] : one, scale}));
    KILN_ASSIGN_OR_RETURN(ValueId shift, AddOp(graph(), "multiply", {in[3], scale}));
    if (node.attrs.Bool("center")) {
      KILN_ASSIGN_OR_RETURN(shift, AddOp(graph(), "subtract", {in[2], shift}));
    } else {
      KILN_ASSIGN_OR_RETURN(shift, AddOp(graph(), "negative", {shift}));
    }
    // Shaped so that they broadcast along the channel axis.
    const TensorType& type = old_.type(node.inputs[0]);
    const int64_t axis = node.attrs.Int("axis");
    Shape shape(type.shape.size(), 1);
    const size_t channel = static_cast<size_t>(axis < 0 ? axis + type.rank() : axis);
    shape[channel] = type.shape[channel];
    Attrs reshape;
    reshape.Set("newshape", AttrValue::Ints(shape));
    KILN_ASSIGN_OR_RETURN(scale, AddOp(graph(), "reshape", {scale}, reshape));
    KILN_ASSIGN_OR_RETURN(shift, AddOp(graph(), "reshape", {shift}, reshape));
    KILN_ASSIGN_OR_RETURN(ValueId y, AddOp(graph(), "multiply", {in[0], scale}, {}, node.source));
    KILN_ASSIGN_OR_RETURN(y, AddOp(graph(), "add", {y, shift}, {}, node.source));
    rewriter_.Replace(node.outputs[0], y);
    for (size_t i = 1; i < node.outputs.size(); ++i) rewriter_.Replace(node.outputs[i], in[i + 2]);
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
