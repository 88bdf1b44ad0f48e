// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/rows.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/graph/external_node.h"
#include "compiler/ops/add_op.h"
#include "compiler/ops/axes.h"
#include "compiler/ops/convolution.h"
#include "compiler/ops/make.h"
#include "compiler/ops/op_queries.h"

namespace kiln {
namespace {

constexpr char kZeroPoint[] = "input_zero_point";  // of quantized products

// The windows along the rows of a convolution of channels-last data. Nothing for a transposed
// convolution, which has the additional attribute output_padding.
std::optional<WindowDim> RowWindow(const Graph& graph, const Node& node) {
  const OpTraits& traits = *TraitsOf(node);
  if (traits.fusion != Fusion::kContraction || traits.layout.rule != LayoutRule::kNamed ||
      traits.weight != 1 || node.attrs.Has("output_padding") ||
      graph.type(node.inputs[0]).shape.size() != 4) {
    return std::nullopt;
  }
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (!graph.is_constant(node.inputs[i])) return std::nullopt;
  }
  const absl::StatusOr<Convolution> convolution =
      MakeConvolution(node.attrs, graph.type(node.inputs[0]), graph.type(node.inputs[1]), 2);
  if (!convolution.ok() || !convolution->layout.channels_last ||
      convolution->OutShape() != graph.type(node.outputs[0]).shape) {
    return std::nullopt;
  }
  return convolution->window[0];
}

// True if an element-wise operator of rank 4 reads the same elements of the constant in all rows.
bool IsAlikeInRows(const TensorType& type) {
  return type.shape.size() <= 2 || type.shape[type.shape.size() - 3] == 1;
}

// True if the node treats all rows alike.
bool IsElementwise(const Graph& graph, const Node& node) {
  const OpTraits& traits = *TraitsOf(node);
  const Shape& shape = graph.type(node.outputs[0]).shape;
  if (traits.fusion != Fusion::kElementwise || shape.size() != 4) return false;
  const LayoutTrait& layout = traits.layout;
  if (layout.rule != LayoutRule::kElementwise &&
      (layout.rule != LayoutRule::kAxis ||
       AxisOf(node.attrs.Int(layout.attr), shape.size()) == kRowAxis)) {
    return false;
  }
  return std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId input) {
    const TensorType& type = graph.type(input);
    return graph.is_constant(input) ? IsAlikeInRows(type)
                                    : type.shape.size() == 4 && type.shape[0] == 1 &&
                                          type.shape[kRowAxis] == shape[kRowAxis];
  });
}

// The rows that the windows of these output rows cover, padding included.
Rows Covered(const WindowDim& window, Rows output) {
  return {output.begin * window.stride - window.pad_before,
          (output.end - 1) * window.stride - window.pad_before + window.span()};
}

Rows Within(Rows rows, int64_t extent) {
  return {std::max<int64_t>(rows.begin, 0), std::min(rows.end, extent)};
}

absl::StatusOr<Convolution> ConvolutionOf(const Graph& body, const Node& node) {
  return MakeConvolution(node.attrs, body.type(node.inputs[0]), body.type(node.inputs[1]), 2);
}

// The node's attributes for computing these rows of its output. If the data has the rows of
// padding, the attributes have none along the rows.
absl::StatusOr<Attrs> AttrsOfRows(const Graph& body, const Node& node, Rows output,
                                  bool data_has_padding) {
  if (TraitsOf(node)->fusion != Fusion::kContraction) return node.attrs;
  KILN_ASSIGN_OR_RETURN(const Convolution convolution, ConvolutionOf(body, node));
  const WindowDim &rows = convolution.window[0], &columns = convolution.window[1];
  const Rows covered = Covered(rows, output);
  const Rows data = data_has_padding ? covered : Within(covered, rows.extent);
  Attrs attrs = node.attrs;
  attrs.Set("padding", AttrValue::Ints({data.begin - covered.begin, columns.pad_before,
                                        covered.end - data.end, columns.pad_after}));
  return attrs;
}

// The element that a convolution assumes around its data: 0, or the zero point of quantized data.
// Nothing if the dtype of the data cannot hold it.
std::optional<Tensor> PaddingOf(const Graph& body, const Node& node) {
  const DType dtype = body.type(node.inputs[0]).dtype;
  const std::vector<InputSchema>& schemas = node.op->inputs;
  const auto zero_point = std::find_if(schemas.begin(), schemas.end(),
                                       [](const InputSchema& s) { return s.name == kZeroPoint; });
  if (zero_point == schemas.end()) return Tensor::Scalar(dtype, 0);
  const ValueId value = node.inputs[static_cast<size_t>(zero_point - schemas.begin())];
  const int64_t padding = body.value(value).constant.AsInt(0);
  if (padding < dtype.MinInt() || padding > dtype.MaxInt()) return std::nullopt;
  return Tensor::Scalar(dtype, static_cast<double>(padding));
}

// Makes a body for an operator that is in no group, and appends the values
// that it reads to `inputs`.
Graph BodyOf(const Graph& graph, const Node& node, std::vector<ValueId>& inputs) {
  Graph body;
  std::map<ValueId, ValueId> inside;
  Node copy = node;
  for (ValueId& input : copy.inputs) {
    const auto [it, is_new] = inside.try_emplace(input, kNoId);
    if (is_new && graph.is_constant(input)) {
      it->second = body.AddConstant(graph.value(input).constant, graph.value(input).name);
    } else if (is_new) {
      it->second = body.AddInput(absl::StrCat("p", inputs.size()), graph.type(input));
      inputs.push_back(input);
    }
    input = it->second;
  }
  copy.outputs.clear();
  const NodeId added = body.AddNode(std::move(copy), {graph.type(node.outputs[0])});
  body.outputs = body.node(added).outputs;
  return body;
}

}  // namespace

bool HasRows(const Graph& graph, ValueId value) {
  const Shape& shape = graph.type(value).shape;
  return !graph.is_constant(value) && shape.size() == 4 && shape[0] == 1 && shape[kRowAxis] > 1;
}

std::optional<RowNode> RowNode::Of(const Graph& graph, const Node& node) {
  if (node.outputs.size() != 1 || !HasRows(graph, node.outputs[0]) ||
      !ExternalCompiler(node).empty() ||
      (!node.is_group() && TraitsOf(node)->layout.rule == LayoutRule::kReshape)) {
    return std::nullopt;
  }
  RowNode result;
  result.source_ = node.source;
  if (node.is_group()) {
    result.body_ = *node.body;
    result.inputs_ = node.inputs;
    result.attrs_ = node.attrs;
  } else {
    result.body_ = BodyOf(graph, node, result.inputs_);
    result.attrs_.Set("Primitive", 1);
  }
  result.FindPaddings();
  const bool all_have_rows = std::all_of(result.inputs_.begin(), result.inputs_.end(),
                                         [&](ValueId input) { return HasRows(graph, input); });
  if (result.inputs_.empty() || !all_have_rows || !result.Needed({0, result.rows()}).has_value()) {
    return std::nullopt;
  }
  return result;
}

void RowNode::FindPaddings() {
  paddings_.assign(body_.inputs.size(), std::nullopt);
  for (const Node& node : body_.nodes) {
    if (node.is_group()) continue;
    const std::optional<WindowDim> window = RowWindow(body_, node);
    const auto found = std::find(body_.inputs.begin(), body_.inputs.end(), node.inputs[0]);
    if (!window.has_value() || !window->reads_padding() || found == body_.inputs.end()) continue;
    const Rows first = Covered(*window, {0, 1}),
               last = Covered(*window, {window->out - 1, window->out});
    const bool all_read_data = first.end > 0 && last.begin < window->extent;
    if (!all_read_data) continue;
    paddings_[static_cast<size_t>(found - body_.inputs.begin())] = PaddingOf(body_, node);
  }
}

bool RowNode::HasPadding(ValueId value) const {
  const auto found = std::find(body_.inputs.begin(), body_.inputs.end(), value);
  return found != body_.inputs.end() &&
         paddings_[static_cast<size_t>(found - body_.inputs.begin())].has_value();
}

std::optional<std::vector<std::optional<Rows>>> RowNode::RowsInBody(Rows output) const {
  std::vector<std::optional<Rows>> rows(body_.values.size());
  const auto need = [&](ValueId value, Rows needed) {
    std::optional<Rows>& known = rows[static_cast<size_t>(value)];
    if (needed.count() <= 0 || (known.has_value() && *known != needed)) return false;
    known = needed;
    return true;
  };
  if (!need(body_.outputs[0], output)) return std::nullopt;
  for (size_t i = body_.nodes.size(); i-- > 0;) {
    const Node& node = body_.nodes[i];
    if (node.is_group() || node.outputs.size() != 1) return std::nullopt;
    const std::optional<Rows> made = rows[static_cast<size_t>(node.outputs[0])];
    if (!made.has_value()) return std::nullopt;
    if (const std::optional<WindowDim> window = RowWindow(body_, node); window.has_value()) {
      const Rows covered = Covered(*window, *made);
      const Rows data = HasPadding(node.inputs[0]) ? covered : Within(covered, window->extent);
      if (!need(node.inputs[0], data)) return std::nullopt;
    } else if (IsElementwise(body_, node)) {
      for (ValueId input : node.inputs) {
        if (!body_.is_constant(input) && !need(input, *made)) return std::nullopt;
      }
    } else {
      return std::nullopt;
    }
  }
  return rows;
}

std::optional<std::vector<Rows>> RowNode::Needed(Rows output) const {
  const std::optional<std::vector<std::optional<Rows>>> rows = RowsInBody(output);
  if (!rows.has_value()) return std::nullopt;
  std::vector<Rows> needed;
  for (ValueId input : body_.inputs) {
    const std::optional<Rows>& of_input = (*rows)[static_cast<size_t>(input)];
    if (!of_input.has_value()) return std::nullopt;
    needed.push_back(*of_input);
  }
  return needed;
}

absl::StatusOr<ValueId> RowNode::AddTo(Graph& graph, Rows output,
                                       const std::vector<PartOfRows>& parts) const {
  const std::optional<std::vector<std::optional<Rows>>> rows = RowsInBody(output);
  if (!rows.has_value()) return absl::InternalError("rows that are not computed by rows");
  const auto rows_of = [&](ValueId value) { return *(*rows)[static_cast<size_t>(value)]; };
  Graph body;
  Node group;
  std::vector<ValueId> inside(body_.values.size(), kNoId);
  for (size_t i = 0; i < parts.size(); ++i) {
    const ValueId input = body_.inputs[i];
    const Rows needed = rows_of(input), held = parts[i].rows;
    ValueId& value = inside[static_cast<size_t>(input)];
    value = body.AddInput(body_.value(input).name, graph.type(parts[i].value));
    if (needed != held) {
      KILN_ASSIGN_OR_RETURN(value, MakeSlice(body, value, kRowAxis, needed.begin - held.begin,
                                             needed.end - held.begin));
    }
    group.inputs.push_back(parts[i].value);
  }
  for (const Node& node : body_.nodes) {
    std::vector<ValueId> inputs;
    for (ValueId input : node.inputs) {
      ValueId& value = inside[static_cast<size_t>(input)];
      if (value == kNoId) {
        value = body.AddConstant(body_.value(input).constant, body_.value(input).name);
      }
      inputs.push_back(value);
    }
    const ValueId made = node.outputs[0];
    KILN_ASSIGN_OR_RETURN(const Attrs attrs,
                          AttrsOfRows(body_, node, rows_of(made), HasPadding(node.inputs[0])));
    KILN_ASSIGN_OR_RETURN(inside[static_cast<size_t>(made)],
                          AddOp(body, node.op->name, std::move(inputs), attrs, node.source));
  }
  body.outputs = {inside[static_cast<size_t>(body_.outputs[0])]};
  const TensorType type = body.type(body.outputs[0]);
  if (type.shape[kRowAxis] != output.count()) {
    return absl::InternalError(
        absl::StrCat("rows ", output.begin, " to ", output.end, " became ", type.ToString()));
  }
  group.attrs = attrs_;
  group.source = source_;
  group.body = std::make_shared<const Graph>(std::move(body));
  return graph.node(graph.AddNode(std::move(group), {type})).outputs[0];
}

}  // namespace kiln
