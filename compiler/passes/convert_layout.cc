// SPDX-License-Identifier: Apache-2.0
// ConvertLayout: convolutional graphs become channels-last inside. Every value of rank 4 that a
// convolution or pooling makes lives as NHWC; operators that work in any layout follow it, also
// where they split the channels into several axes behind W (a shuffle of channels); the others, and
// the model's outputs, get it transposed back. Weights keep their layout: the schedules pack them
// anyway.
#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "compiler/base/status.h"
#include "compiler/graph/rewrite.h"
#include "compiler/ops/add_op.h"
#include "compiler/ops/axes.h"
#include "compiler/ops/op_def.h"
#include "compiler/passes/pass.h"

namespace kiln {
namespace {

// The axes (N, C…, H, W) of a value of this rank, in the order (N, H, W, C…); and back.
std::vector<int64_t> ToLast(int64_t rank) {
  std::vector<int64_t> axes = {0, rank - 2, rank - 1};
  for (int64_t channel = 1; channel < rank - 2; ++channel) axes.push_back(channel);
  return axes;
}
std::vector<int64_t> ToFirst(int64_t rank) {
  std::vector<int64_t> axes = {0};
  for (int64_t channel = 3; channel < rank; ++channel) axes.push_back(channel);
  axes.insert(axes.end(), {1, 2});
  return axes;
}

// Where an axis of (N, C…, H, W) is in (N, H, W, C…).
int64_t AxisToLast(int64_t axis, int64_t rank = 4) {
  if (axis < 0) axis += rank;
  if (axis == 0) return 0;
  return axis < rank - 2 ? axis + 2 : axis - rank + 3;
}

Shape ShapeToLast(const Shape& shape) {
  Shape last;
  for (int64_t axis : ToLast(static_cast<int64_t>(shape.size()))) {
    last.push_back(shape[static_cast<size_t>(axis)]);
  }
  return last;
}

class LayoutConverter {
 public:
  explicit LayoutConverter(const Graph& old) : old_(old), rewriter_(old) {}

  absl::StatusOr<Graph> Run() && {
    for (NodeId id = 0; id < static_cast<NodeId>(old_.nodes.size()); ++id) {
      const Node& node = old_.node(id);
      KILN_ASSIGN_OR_RETURN(const bool done, Convert(node));
      if (done) continue;
      for (ValueId input : node.inputs) KILN_RETURN_IF_ERROR(EnsureFirst(input));
      rewriter_.Copy(id);
    }
    for (ValueId output : old_.outputs) KILN_RETURN_IF_ERROR(EnsureFirst(output));
    return std::move(rewriter_).Finish();
  }

 private:
  Graph& graph() { return rewriter_.graph(); }
  bool IsLast(ValueId old_value) const { return last_.contains(old_value); }

  absl::StatusOr<ValueId> Transpose(ValueId value, const std::vector<int64_t>& axes,
                                    const SourceLocation& source = {}) {
    Attrs attrs;
    attrs.Set("axes", AttrValue::Ints(axes));
    return AddOp(graph(), "transpose", {value}, attrs, source);
  }

  // Makes the value available in the model's own layout.
  absl::Status EnsureFirst(ValueId old_value) {
    const auto it = last_.find(old_value);
    if (it == last_.end() || first_.contains(old_value)) return absl::OkStatus();
    KILN_ASSIGN_OR_RETURN(const ValueId first,
                          Transpose(it->second, ToFirst(old_.type(old_value).rank())));
    rewriter_.Replace(old_value, first);
    first_.insert(old_value);
    return absl::OkStatus();
  }

  // The value as (N, H, W, C…).
  absl::StatusOr<ValueId> Last(ValueId old_value) {
    const auto it = last_.find(old_value);
    if (it != last_.end()) return it->second;
    KILN_ASSIGN_OR_RETURN(const ValueId last,
                          Transpose(rewriter_.Map(old_value), ToLast(old_.type(old_value).rank())));
    last_[old_value] = last;
    first_.insert(old_value);
    return last;
  }

  absl::StatusOr<ValueId> Reshape(ValueId value, const Shape& shape,
                                  const SourceLocation& source = {}) {
    Attrs attrs;
    attrs.Set("newshape", AttrValue::Ints(shape));
    attrs.Set("allowzero", true);
    return AddOp(graph(), "reshape", {value}, attrs, source);
  }

  // An operand that broadcasts against channels-last values of this rank: lower ranks are extended
  // first.
  absl::StatusOr<ValueId> LastBroadcast(ValueId old_value, int64_t rank) {
    const TensorType& type = old_.type(old_value);
    if (type.rank() == rank) return Last(old_value);
    KILN_RETURN_IF_ERROR(EnsureFirst(old_value));
    ValueId value = rewriter_.Map(old_value);
    if (type.num_elements() == 1) return value;
    Shape shape(static_cast<size_t>(rank - type.rank()), 1);
    shape.insert(shape.end(), type.shape.begin(), type.shape.end());
    KILN_ASSIGN_OR_RETURN(value, Reshape(value, shape));
    return Transpose(value, ToLast(rank));
  }

  absl::StatusOr<bool> Emit(const Node& node, std::vector<ValueId> inputs, Attrs attrs) {
    KILN_ASSIGN_OR_RETURN(const ValueId output, AddOp(graph(), node.op->name, std::move(inputs),
                                                      std::move(attrs), node.source));
    last_[node.outputs[0]] = output;
    return true;
  }

  // Whether the node has been written in NHWC.
  absl::StatusOr<bool> Convert(const Node& node) {
    if (node.is_group() || node.outputs.size() != 1) return false;
    const absl::string_view op = node.op_name();
    if (IsSpatial(node)) return ConvertSpatial(node);
    const bool any_last =
        std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId v) { return IsLast(v); });
    if (!any_last) return false;
    if (op == "mean" || op == "sum" || op == "max" || op == "min" || op == "qnn.mean") {
      return ConvertReduction(node);
    }
    if (old_.type(node.outputs[0]).rank() == 4) {
      if (op == "nn.bias_add" || op == "nn.softmax" || op == "nn.log_softmax") {
        return ConvertAxis(node, "axis");
      }
      if (op == "concatenate") return ConvertAxis(node, "axis");
      if (op == "nn.pad") return ConvertPad(node);
      if (op == "nn.lrn") return ConvertAxis(node, "axis");
      if (absl::StartsWith(op, "qnn.") && node.attrs.Has("axis")) return ConvertAxis(node, "axis");
    }
    if (old_.type(node.outputs[0]).rank() >= 4) {
      if (op == "reshape") return ConvertReshape(node);
      if (op == "transpose") return ConvertTranspose(node);
      if (FindOp(node.op->name)->fusion == Fusion::kElementwise && !node.attrs.Has("axis")) {
        return ConvertElementwise(node);
      }
    }
    return false;
  }

  // Operators with a layout attribute of their own.
  bool IsSpatial(const Node& node) const {
    const absl::string_view op = node.op_name();
    const bool convolution =
        absl::EndsWith(op, "nn.conv2d") || absl::EndsWith(op, "nn.conv2d_transpose");
    const bool other =
        absl::StrContains(op, "nn.") && (absl::EndsWith(op, "_pool2d") || op == "nn.upsampling" ||
                                         op == "nn.depth_to_space" || op == "nn.space_to_depth");
    if (!convolution && !other && op != "image.resize2d") return false;
    const std::string key = convolution ? "data_layout" : "layout";
    if (!node.attrs.Has(key) || node.attrs.String(key) != "NCHW") return false;
    return !node.attrs.Has("out_layout") || node.attrs.String("out_layout").empty();
  }

  absl::StatusOr<bool> ConvertSpatial(const Node& node) {
    std::vector<ValueId> inputs;
    KILN_ASSIGN_OR_RETURN(const ValueId data, Last(node.inputs[0]));
    inputs.push_back(data);
    for (size_t i = 1; i < node.inputs.size(); ++i) {
      KILN_RETURN_IF_ERROR(EnsureFirst(node.inputs[i]));
      inputs.push_back(rewriter_.Map(node.inputs[i]));
    }
    Attrs attrs = node.attrs;
    attrs.Set(attrs.Has("data_layout") ? "data_layout" : "layout", "NHWC");
    return Emit(node, std::move(inputs), std::move(attrs));
  }

  absl::StatusOr<bool> ConvertElementwise(const Node& node) {
    std::vector<ValueId> inputs;
    for (ValueId input : node.inputs) {
      KILN_ASSIGN_OR_RETURN(const ValueId last,
                            LastBroadcast(input, old_.type(node.outputs[0]).rank()));
      inputs.push_back(last);
    }
    return Emit(node, std::move(inputs), node.attrs);
  }

  // A reshape that splits or joins channels, and leaves N, H, and W.
  absl::StatusOr<bool> ConvertReshape(const Node& node) {
    const Shape &from = old_.type(node.inputs[0]).shape, &to = old_.type(node.outputs[0]).shape;
    if (from.front() != to.front() || !std::equal(from.end() - 2, from.end(), to.end() - 2)) {
      return false;
    }
    KILN_ASSIGN_OR_RETURN(last_[node.outputs[0]],
                          Reshape(last_.at(node.inputs[0]), ShapeToLast(to), node.source));
    return true;
  }

  // A transpose of channels among each other.
  absl::StatusOr<bool> ConvertTranspose(const Node& node) {
    const int rank = static_cast<int>(old_.type(node.outputs[0]).rank());
    KILN_ASSIGN_OR_RETURN(const std::vector<int> axes, TransposeAxes(node.attrs, rank, 1));
    std::vector<int64_t> moved(axes.size());
    for (size_t i = 0; i < axes.size(); ++i) {
      moved[static_cast<size_t>(AxisToLast(static_cast<int64_t>(i), rank))] =
          AxisToLast(axes[i], rank);
    }
    if (moved[0] != 0 || moved[1] != 1 || moved[2] != 2) return false;
    KILN_ASSIGN_OR_RETURN(last_[node.outputs[0]],
                          Transpose(last_.at(node.inputs[0]), moved, node.source));
    return true;
  }

  absl::StatusOr<bool> ConvertAxis(const Node& node, const std::string& name) {
    std::vector<ValueId> inputs;
    for (ValueId input : node.inputs) {
      if (old_.type(input).rank() == 4) {
        KILN_ASSIGN_OR_RETURN(const ValueId last, Last(input));
        inputs.push_back(last);
      } else {
        KILN_RETURN_IF_ERROR(EnsureFirst(input));
        inputs.push_back(rewriter_.Map(input));
      }
    }
    Attrs attrs = node.attrs;
    attrs.Set(name, AxisToLast(attrs.Int(name)));
    return Emit(node, std::move(inputs), std::move(attrs));
  }

  absl::StatusOr<bool> ConvertPad(const Node& node) {
    const std::vector<std::vector<int64_t>> widths = node.attrs.IntLists("pad_width");
    if (widths.size() != 4) return false;
    std::vector<AttrValue> moved(4);
    for (size_t i = 0; i < 4; ++i) {
      moved[static_cast<size_t>(AxisToLast(static_cast<int64_t>(i)))] = AttrValue::Ints(widths[i]);
    }
    std::vector<ValueId> inputs;
    KILN_ASSIGN_OR_RETURN(const ValueId data, Last(node.inputs[0]));
    inputs.push_back(data);
    for (size_t i = 1; i < node.inputs.size(); ++i) inputs.push_back(rewriter_.Map(node.inputs[i]));
    Attrs attrs = node.attrs;
    attrs.Set("pad_width", AttrValue(moved));
    return Emit(node, std::move(inputs), std::move(attrs));
  }

  absl::StatusOr<bool> ConvertReduction(const Node& node) {
    std::vector<int64_t> axes = node.attrs.Ints("axis");
    if (axes.empty() || node.attrs.Bool("exclude") || old_.type(node.inputs[0]).rank() != 4) {
      return false;
    }
    const bool keepdims = node.attrs.Bool("keepdims");
    std::set<int64_t> moved;
    for (int64_t axis : axes) moved.insert(AxisToLast(axis));
    // Without keepdims the remaining axes must keep their order: height and width together, or the
    // channels alone.
    if (!keepdims && !(moved == std::set<int64_t>{1, 2} || moved == std::set<int64_t>{3}))
      return false;
    std::vector<ValueId> inputs;
    KILN_ASSIGN_OR_RETURN(const ValueId data, Last(node.inputs[0]));
    inputs.push_back(data);
    for (size_t i = 1; i < node.inputs.size(); ++i) {
      KILN_RETURN_IF_ERROR(EnsureFirst(node.inputs[i]));
      inputs.push_back(rewriter_.Map(node.inputs[i]));
    }
    Attrs attrs = node.attrs;
    attrs.Set("axis", AttrValue::Ints({moved.begin(), moved.end()}));
    KILN_ASSIGN_OR_RETURN(const ValueId output,
                          AddOp(graph(), node.op->name, std::move(inputs), attrs, node.source));
    if (keepdims) {
      last_[node.outputs[0]] = output;
    } else {
      rewriter_.Replace(node.outputs[0], output);
    }
    return true;
  }

  const Graph& old_;
  GraphRewriter rewriter_;
  std::map<ValueId, ValueId> last_;  // old value to its NHWC form
  std::set<ValueId> first_;          // old values in last_ that are also there in their own layout
};

}  // namespace

absl::StatusOr<Graph> ConvertLayout(const Graph& graph, const PassContext& context) {
  KILN_ASSIGN_OR_RETURN(const Graph converted, LayoutConverter(graph).Run());
  // Transposes of extents of 1 are reshapes.
  return Canonicalize(converted, context);
}

}  // namespace kiln
