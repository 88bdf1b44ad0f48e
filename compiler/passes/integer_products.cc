// SPDX-License-Identifier: Apache-2.0
// IntegerProducts: rewrites quantized models in the form of ONNX, float operators between
// dequantize and quantize, to operators on integers:
//
//   conv2d(dequantize(x), dequantize(w))    dequantize(qnn.conv2d(x, w)), with int32 sums.
//   bias_add(dequantize(x), dequantize(b))  dequantize(bias_add(x, b)), of int32 with one scale.
//   transpose(dequantize(x))                dequantize(transpose(x)).
//   concatenate(dequantize(x), …)           dequantize(concatenate(x, …)), if the scales are equal.
//   quantize(dequantize(x))                 x, or requantize(x) in float32.
//
// The first rule applies to all operators that have a quantized form. The third rule applies to all
// operators that only move data or choose the largest element. The fourth rule applies to all
// operators that move elements of several tensors.
//
// The scale and zero point of the x of a product, and of moved data, may be computed, as in
// dynamic quantization. Sums are then multiplied by the product of the scales. This excludes
// convolutions that pad with a computed zero point, and operators that compare values, as a
// computed scale may be negative.
//
// Element-wise operators between dequantize and quantize stay in floats: they are computed in
// registers, after the product. Results are exact with two exceptions. The last rule rounds once,
// while the model rounds twice, and sums may exceed the 24 bits that float32 holds.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "compiler/base/status.h"
#include "compiler/graph/fixed_nodes.h"
#include "compiler/graph/rewrite.h"
#include "compiler/ops/add_op.h"
#include "compiler/ops/axes.h"
#include "compiler/ops/make.h"
#include "compiler/ops/op_queries.h"
#include "compiler/passes/pass.h"

namespace kiln {
namespace {

// The operators that this pass knows by name. It rewrites operators between kDequantize and
// kQuantize, and replaces kQuantize of kDequantize by kRequantize.
constexpr absl::string_view kQuantize = "qnn.quantize", kDequantize = "qnn.dequantize",
                            kRequantize = "qnn.requantize";

// The operands of a dequantize.
struct Quantized {
  ValueId data = kNoId;
  ValueId scale = kNoId, zero_point = kNoId;
  int64_t axis = 0;  // not negative
  bool per_axis = false;
};

class ProductRewriter {
 public:
  explicit ProductRewriter(const Graph& old) : old_(old), rewriter_(old) {}

  absl::StatusOr<Graph> Run() && {
    for (NodeId id = 0; id < static_cast<NodeId>(old_.nodes.size()); ++id) {
      const Node& node = old_.node(id);
      std::vector<ValueId> values;
      if (!node.is_group()) {
        KILN_ASSIGN_OR_RETURN(values, Rewrite(node, FindOp(node.op->name)->traits));
      }
      for (size_t k = 0; k < values.size(); ++k) rewriter_.Replace(node.outputs[k], values[k]);
      if (values.empty()) rewriter_.Copy(id);
    }
    return std::move(rewriter_).Finish();
  }

 private:
  // Values that replace a node's outputs; empty if the node stays.
  using Result = absl::StatusOr<std::vector<ValueId>>;

  static std::vector<ValueId> Unchanged() { return {}; }
  static std::vector<ValueId> One(ValueId value) { return {value}; }

  Graph& graph() { return rewriter_.graph(); }

  Result Rewrite(const Node& node, const OpTraits& traits) {
    if (node.op_name() == kQuantize) return Requantize(node);
    if (traits.quantized != nullptr) return Product(node, traits);
    if (traits.arithmetic == Arithmetic::kSum) return Bias(node, traits);
    if (traits.origin == Origin::kComputed) return Unchanged();
    return node.op->tuple_input ? MoveSeveral(node) : Move(node, traits);
  }

  bool AreKnown(const Quantized& q) {
    return graph().is_constant(q.scale) && graph().is_constant(q.zero_point);
  }

  // The same, but nothing unless scale and zero point are constants.
  std::optional<Quantized> Dequantized(const Node& node, size_t k) {
    const std::optional<Quantized> q = PerhapsComputed(node, k);
    return q.has_value() && AreKnown(*q) ? q : std::nullopt;
  }

  // The operands of the dequantize, in the new graph, that makes input k of an old node; nothing
  // if another operator does.
  std::optional<Quantized> PerhapsComputed(const Node& node, size_t k) {
    const Value& value = graph().value(rewriter_.Map(node.inputs[k]));
    if (value.kind != ValueKind::kNodeOutput) return std::nullopt;
    const Node& producer = graph().node(value.node);
    if (producer.is_group() || producer.op_name() != kDequantize) return std::nullopt;
    Quantized q{
        .data = producer.inputs[0], .scale = producer.inputs[1], .zero_point = producer.inputs[2]};
    const TensorType& type = graph().type(q.data);
    q.per_axis =
        graph().type(q.scale).num_elements() != 1 || graph().type(q.zero_point).num_elements() != 1;
    if (type.rank() > 0) {
      q.axis = static_cast<int64_t>(
          AxisOf(producer.attrs.Int("axis"), static_cast<size_t>(type.rank())));
    }
    return q;
  }

  bool HasOneValue(ValueId constant) {
    const std::vector<float> values = Floats(constant);
    return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
  }

  bool IsZero(ValueId constant) {
    const Tensor& tensor = graph().value(constant).constant;
    for (int64_t i = 0; i < tensor.type().num_elements(); ++i) {
      if (tensor.AsDouble(i) != 0) return false;
    }
    return true;
  }

  std::vector<float> Floats(ValueId constant) {
    const Tensor& tensor = graph().value(constant).constant;
    std::vector<float> values;
    for (int64_t i = 0; i < tensor.type().num_elements(); ++i) {
      values.push_back(static_cast<float>(tensor.AsDouble(i)));
    }
    return values;
  }

  ValueId ZeroPoint() { return graph().AddConstant(Tensor::Scalar(DType::Int(32), 0)); }

  absl::StatusOr<ValueId> Dequantize(ValueId data, ValueId scale, ValueId zero_point, int64_t axis,
                                     const SourceLocation& source) {
    return AddOp(graph(), kDequantize, {data, scale, zero_point}, {{"axis", axis}}, source);
  }

  Result Requantize(const Node& node) {
    const std::optional<Quantized> q = Dequantized(node, 0);
    const ValueId scale = rewriter_.Map(node.inputs[1]), zero = rewriter_.Map(node.inputs[2]);
    if (!q.has_value() || !graph().is_constant(scale) || !graph().is_constant(zero)) {
      return Unchanged();
    }
    const TensorType& from = graph().type(q->data);
    const TensorType& to = old_.type(node.outputs[0]);
    const bool to_per_axis =
        graph().type(scale).num_elements() > 1 || graph().type(zero).num_elements() > 1;
    const auto to_axis = static_cast<int64_t>(
        from.rank() == 0 ? 0 : AxisOf(node.attrs.Int("axis"), static_cast<size_t>(from.rank())));
    if (q->per_axis && to_per_axis && q->axis != to_axis) return Unchanged();
    if (from == to && Floats(q->scale) == Floats(scale) && Floats(q->zero_point) == Floats(zero) &&
        (!q->per_axis || q->axis == to_axis)) {
      return One(q->data);
    }
    KILN_ASSIGN_OR_RETURN(
        const ValueId y,
        AddOp(graph(), kRequantize, {q->data, q->scale, q->zero_point, scale, zero},
              {{"axis", q->per_axis   ? q->axis
                        : to_per_axis ? to_axis
                                      : -1},
               {"rounding", node.attrs.String("rounding") == "EVEN" ? "EVEN" : "TONEAREST"},
               {"compute_dtype", "float32"},
               {"out_dtype", to.dtype.ToString()}},
              node.source));
    return One(y);
  }

  // The canonical form of the value's operator, which has one output; the
  // value itself if it has none.
  absl::StatusOr<ValueId> Canonical(ValueId value) {
    const Node node = graph().node(graph().value(value).node);
    const CanonicalForm form = FindOp(node.op->name)->traits.canonical;
    if (form == nullptr) return value;
    KILN_ASSIGN_OR_RETURN(const std::vector<ValueId> words, form(graph(), node, node.inputs));
    return words.empty() ? value : words[0];
  }

  // A product of 8-bit numbers, whose sums 32 bits hold.
  Result Product(const Node& node, const OpTraits& traits) {
    const std::optional<Quantized> x = PerhapsComputed(node, 0), w = Dequantized(node, 1);
    if (!x.has_value() || !w.has_value() || x->per_axis || graph().type(x->data).dtype.bits != 8 ||
        graph().type(w->data).dtype.bits != 8) {
      return Unchanged();
    }
    const ChannelAxes channels = *ChannelAxesOf(old_, node);
    if (w->per_axis && channels.weight != w->axis) return Unchanged();
    if (!graph().is_constant(w->data) && !HasOneValue(w->zero_point)) return Unchanged();
    const bool is_known = AreKnown(*x);
    if (!is_known && !CanTakeComputed(node, *x, *w)) return Unchanged();
    std::vector<float> scales = Floats(w->scale);
    if (is_known) {
      for (float& scale : scales) scale *= Floats(x->scale)[0];
    }
    if (std::any_of(scales.begin(), scales.end(), [](float s) { return !(s > 0); })) {
      return Unchanged();
    }
    Attrs attrs = node.attrs;
    attrs.Set("out_dtype", "int32");
    KILN_ASSIGN_OR_RETURN(
        ValueId sum, AddOp(graph(), traits.quantized,
                           {x->data, w->data, x->scale, x->zero_point, w->scale, w->zero_point},
                           std::move(attrs), node.source));
    KILN_ASSIGN_OR_RETURN(sum, Canonical(sum));
    Shape shape;
    if (scales.size() > 1) shape.push_back(static_cast<int64_t>(scales.size()));
    if (!is_known) {
      const int64_t rank = old_.type(node.outputs[0]).rank();
      if (!shape.empty()) shape.resize(static_cast<size_t>(rank - channels.output), 1);
      return Scaled(sum, x->scale, Tensor::From<float>(shape, DType::Float(32), scales),
                    node.source);
    }
    const ValueId scale = graph().AddConstant(Tensor::From<float>(shape, DType::Float(32), scales));
    KILN_ASSIGN_OR_RETURN(const ValueId y,
                          Dequantize(sum, scale, ZeroPoint(), channels.output, node.source));
    return One(y);
  }

  // True if a product can take a computed scale or zero point of x. Nothing may be read
  // beyond x unless its zero point is constant. The weight, whose sums are needed, must
  // depend on constants only.
  bool CanTakeComputed(const Node& node, const Quantized& x, const Quantized& w) {
    const bool is_float = graph().type(x.scale).dtype == DType::Float(32) &&
                          old_.type(node.outputs[0]).dtype == DType::Float(32);
    if (!is_float || !fixed_.Contains(w.data) || !HasOneValue(w.zero_point)) return false;
    if (!node.attrs.Has("padding") || graph().is_constant(x.zero_point)) return true;
    const std::vector<int64_t> padding = node.attrs.Ints("padding");
    return std::all_of(padding.begin(), padding.end(), [](int64_t pad) { return pad == 0; });
  }

  // sum * (a * b) in float32. `a` has one element.
  Result Scaled(ValueId sum, ValueId a, Tensor b, const SourceLocation& source) {
    KILN_ASSIGN_OR_RETURN(a, MakeReshape(graph(), a, {}, source));
    KILN_ASSIGN_OR_RETURN(const ValueId scale,
                          MakeProduct(graph(), a, graph().AddConstant(std::move(b)), source));
    KILN_ASSIGN_OR_RETURN(const ValueId number, MakeCast(graph(), sum, DType::Float(32), source));
    KILN_ASSIGN_OR_RETURN(const ValueId y, MakeProduct(graph(), number, scale, source));
    return One(y);
  }

  // True if two scales are equal except for the rounding of their product.
  static bool AreNear(const std::vector<float>& a, const std::vector<float>& b) {
    constexpr float kTolerance = 1e-6f;
    for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
      const float x = a[a.size() == 1 ? 0 : i], y = b[b.size() == 1 ? 0 : i];
      if (std::abs(x - y) > kTolerance * x) return false;
    }
    return true;
  }

  Result Bias(const Node& node, const OpTraits& traits) {
    const std::optional<Quantized> x = Dequantized(node, 0), b = Dequantized(node, 1);
    const DType int32 = DType::Int(32);
    if (!x.has_value() || !b.has_value() || graph().type(x->data).dtype != int32 ||
        graph().type(b->data).dtype != int32 || !graph().is_constant(b->data) ||
        !IsZero(x->zero_point) || !IsZero(b->zero_point) ||
        !AreNear(Floats(x->scale), Floats(b->scale))) {
      return Unchanged();
    }
    // The bias must belong to the channels, as the scales do, unless there is one scale.
    const TensorType& type = old_.type(node.outputs[0]);
    const TensorType& bias = graph().type(b->data);
    if (type != old_.type(node.inputs[0]) || bias.rank() != 1) return Unchanged();
    const int64_t bias_axis =
        traits.layout.rule == LayoutRule::kAxis
            ? static_cast<int64_t>(AxisOf(node.attrs.Int(traits.layout.attr), type.shape.size()))
            : type.rank() - 1;
    if (x->per_axis && x->axis != bias_axis) return Unchanged();
    KILN_ASSIGN_OR_RETURN(const ValueId sum, AddOp(graph(), node.op->name, {x->data, b->data},
                                                   node.attrs, node.source));
    KILN_ASSIGN_OR_RETURN(const ValueId y,
                          Dequantize(sum, x->scale, x->zero_point, x->axis, node.source));
    return One(y);
  }

  // The axis of the channels after the move; 0 if there is one scale and zero point. Only a
  // transpose can move scales per channel.
  std::optional<int64_t> MovedAxis(const Node& node, const OpTraits& traits, const Quantized& q) {
    if (!q.per_axis) return 0;
    if (traits.layout.rule != LayoutRule::kTranspose) return std::nullopt;
    const auto axes = TransposeAxes(node.attrs, graph().type(q.data).rank(), 1);
    if (!axes.ok()) return std::nullopt;
    return std::find(axes->begin(), axes->end(), static_cast<int>(q.axis)) - axes->begin();
  }

  Result Move(const Node& node, const OpTraits& traits) {
    const std::optional<Quantized> q = PerhapsComputed(node, 0);
    if (!q.has_value() || graph().type(q->data).dtype.bits == 32 ||
        (!AreKnown(*q) && traits.origin == Origin::kChosen)) {
      return Unchanged();
    }
    const std::optional<int64_t> axis = MovedAxis(node, traits, *q);
    if (!axis.has_value()) return Unchanged();
    std::vector<ValueId> inputs = {q->data};
    for (size_t i = 1; i < node.inputs.size(); ++i) inputs.push_back(rewriter_.Map(node.inputs[i]));
    return Moved(node, std::move(inputs), *q, *axis);
  }

  // Moves several tensors of 8 or 16 bits that all have the same scale and zero point.
  Result MoveSeveral(const Node& node) {
    std::optional<Quantized> first;
    std::vector<ValueId> inputs;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const std::optional<Quantized> q = Dequantized(node, i);
      if (!q.has_value() || q->per_axis || graph().type(q->data).dtype.bits == 32) {
        return Unchanged();
      }
      if (!first.has_value()) first = q;
      if (graph().type(q->data).dtype != graph().type(first->data).dtype ||
          Floats(q->scale) != Floats(first->scale) ||
          Floats(q->zero_point) != Floats(first->zero_point)) {
        return Unchanged();
      }
      inputs.push_back(q->data);
    }
    if (!first.has_value()) return Unchanged();
    return Moved(node, std::move(inputs), *first, 0);
  }

  // The node applied to the numbers of `q`, with its outputs dequantized like these.
  Result Moved(const Node& node, std::vector<ValueId> inputs, const Quantized& q, int64_t axis) {
    KILN_ASSIGN_OR_RETURN(
        std::vector<ValueId> values,
        AddOpOutputs(graph(), node.op->name, std::move(inputs), node.attrs, node.source));
    for (ValueId& value : values) {
      KILN_ASSIGN_OR_RETURN(value, Dequantize(value, q.scale, q.zero_point, axis, node.source));
    }
    return values;
  }

  const Graph& old_;
  GraphRewriter rewriter_;
  FixedNodes fixed_{graph()};
};

}  // namespace

absl::StatusOr<Graph> IntegerProducts(const Graph& graph, const PassContext&) {
  const bool any = std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const Node& node) {
    return !node.is_group() && node.op_name() == kDequantize;
  });
  if (!any) return graph;
  return ProductRewriter(graph).Run();
}

}  // namespace kiln
