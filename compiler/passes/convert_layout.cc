// SPDX-License-Identifier: Apache-2.0
// ConvertLayout: convolutional graphs become channels-last inside. Every value of rank 4 that a
// convolution or pooling makes lives as NHWC; operators that work in any layout follow it; the
// others, and the model's outputs, get it transposed back. Weights keep their layout: the schedules
// pack them anyway.
#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "compiler/base/status.h"
#include "compiler/graph/rewrite.h"
#include "compiler/ops/add_op.h"
#include "compiler/ops/op_def.h"
#include "compiler/passes/pass.h"

namespace kiln {
namespace {

// Position in NHWC of each axis of NCHW.
constexpr int64_t kToLast[] = {0, 3, 1, 2};

int64_t AxisToLast(int64_t axis) { return kToLast[axis < 0 ? axis + 4 : axis]; }

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

  absl::StatusOr<ValueId> Transpose(ValueId value, std::vector<int64_t> axes) {
    Attrs attrs;
    attrs.Set("axes", AttrValue::Ints(axes));
    return AddOp(graph(), "transpose", {value}, attrs);
  }

  // Makes the value available in the model's own layout.
  absl::Status EnsureFirst(ValueId old_value) {
    const auto it = last_.find(old_value);
    if (it == last_.end() || first_.contains(old_value)) return absl::OkStatus();
    KILN_ASSIGN_OR_RETURN(const ValueId first, Transpose(it->second, {0, 3, 1, 2}));
    rewriter_.Replace(old_value, first);
    first_.insert(old_value);
    return absl::OkStatus();
  }

  // The value as NHWC.
  absl::StatusOr<ValueId> Last(ValueId old_value) {
    const auto it = last_.find(old_value);
    if (it != last_.end()) return it->second;
    KILN_ASSIGN_OR_RETURN(const ValueId last, Transpose(rewriter_.Map(old_value), {0, 2, 3, 1}));
    last_[old_value] = last;
    first_.insert(old_value);
    return last;
  }

  // An operand that broadcasts against NHWC values of rank 4: lower ranks are extended first.
  absl::StatusOr<ValueId> LastBroadcast(ValueId old_value) {
    const TensorType& type = old_.type(old_value);
    if (IsLast(old_value) || type.rank() == 4) return Last(old_value);
    ValueId value = rewriter_.Map(old_value);
    if (type.num_elements() == 1) return value;
    Shape shape(static_cast<size_t>(4 - type.rank()), 1);
    shape.insert(shape.end(), type.shape.begin(), type.shape.end());
    Attrs attrs;
    attrs.Set("newshape", AttrValue::Ints(shape));
    KILN_ASSIGN_OR_RETURN(value, AddOp(graph(), "reshape", {value}, attrs));
    return Transpose(value, {0, 2, 3, 1});
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
    if (old_.type(node.outputs[0]).rank() == 4) {
      if (op == "nn.bias_add" || op == "nn.softmax" || op == "nn.log_softmax") {
        return ConvertAxis(node, "axis");
      }
      if (op == "concatenate") return ConvertAxis(node, "axis");
      if (op == "nn.pad") return ConvertPad(node);
      if (op == "nn.lrn") return ConvertAxis(node, "axis");
      if (FindOp(node.op->name)->fusion == Fusion::kElementwise && !node.attrs.Has("axis")) {
        return ConvertElementwise(node);
      }
    }
    if (op == "mean" || op == "sum" || op == "max" || op == "min") return ConvertReduction(node);
    return false;
  }

  // Operators with a layout attribute of their own.
  bool IsSpatial(const Node& node) const {
    const absl::string_view op = node.op_name();
    const bool convolution = op == "nn.conv2d" || op == "nn.conv2d_transpose";
    const bool other =
        absl::StartsWith(op, "nn.") && (absl::EndsWith(op, "_pool2d") || op == "nn.upsampling" ||
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
      KILN_ASSIGN_OR_RETURN(const ValueId last, LastBroadcast(input));
      inputs.push_back(last);
    }
    return Emit(node, std::move(inputs), node.attrs);
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
      moved[static_cast<size_t>(kToLast[i])] = AttrValue::Ints(widths[i]);
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
    KILN_ASSIGN_OR_RETURN(const ValueId data, Last(node.inputs[0]));
    Attrs attrs = node.attrs;
    attrs.Set("axis", AttrValue::Ints({moved.begin(), moved.end()}));
    KILN_ASSIGN_OR_RETURN(const ValueId output,
                          AddOp(graph(), node.op->name, {data}, attrs, node.source));
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
