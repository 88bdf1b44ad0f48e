// SPDX-License-Identifier: Apache-2.0
#include "tests/equality/exact_graph.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/ops/add_op.h"
#include "compiler/ops/op_def.h"
#include "tests/equality/random_source.h"

namespace kiln::equality {
namespace {

constexpr int64_t kMaxElements = 2048;

class Generator : RandomSource {
 public:
  Generator(uint32_t seed, bool quantised) : RandomSource(seed), quantised_(quantised) {}

  Graph Run() {
    AddInput();
    for (int i = 3 + Below(7), tries = 0; i > 0 && tries < 100; ++tries) i -= AddOperator() ? 1 : 0;
    if (quantised_) Quantize(Last());
    ReturnSome();
    return std::move(graph_);
  }

 private:
  const TensorType& TypeOf(ValueId v) const { return graph_.type(v); }
  ValueId Last() const { return data_.back(); }
  ValueId Any() { return data_[data_.size() - 1 - static_cast<size_t>(Below(Window()))]; }
  int Window() const { return static_cast<int>(std::min<size_t>(data_.size(), 3)); }

  void AddInput() {
    TensorType type{{}, quantised_ ? kI8 : kF32};
    const int rank = OneIn(3) ? 2 : 4;
    for (int i = 0; i < rank; ++i) type.shape.push_back(1 + Below(5));
    const ValueId x = graph_.AddInput("x", type);
    if (quantised_) {
      Add("qnn.dequantize", {x, Scalar(0.5), Zero(Below(5) - 2)}, {{"axis", 0}});
    } else {
      Add("round", {x});  // inputs are any numbers from -2 to 2
    }
  }

  // ---- Constants.
  ValueId Scalar(double value) { return graph_.AddConstant(Tensor::Scalar(kF32, value)); }
  ValueId Zero(int value) { return graph_.AddConstant(Tensor::Scalar(kI32, value)); }
  // Returns a constant with `count` different values: least, least + step, ...
  ValueId Constant(Shape shape, double least, double step, int count) {
    std::vector<float> values;
    for (int64_t i = 0; i < NumElements(shape); ++i) {
      values.push_back(static_cast<float>(least + step * Below(count)));
    }
    return graph_.AddConstant(Tensor::From<float>(shape, kF32, values));
  }
  // Positive scales, so that no zero changes its sign: 0.5, 1, 2.
  ValueId Scales(Shape shape) {
    std::vector<float> values;
    for (int64_t i = 0; i < NumElements(shape); ++i) {
      values.push_back(static_cast<float>(std::exp2(Below(3) - 1)));
    }
    const ValueId scales = graph_.AddConstant(Tensor::From<float>(shape, kF32, values));
    if (!OneIn(3)) return scales;
    // computed as sqrt(scales * scales)
    const ValueId square = AddOp(graph_, "multiply", {scales, scales}).value();
    return AddOp(graph_, "sqrt", {square}).value();
  }
  ValueId Weight(Shape shape) {
    if (!quantised_) return Constant(std::move(shape), -2, 1, 5);
    std::vector<int8_t> values;
    for (int64_t i = 0; i < NumElements(shape); ++i) {
      values.push_back(static_cast<int8_t>(Below(5) - 2));
    }
    const ValueId integers = graph_.AddConstant(Tensor::From<int8_t>(shape, kI8, values));
    return AddOp(graph_, "qnn.dequantize", {integers, Scalar(0.25), Zero(0)}, {{"axis", 0}})
        .value();
  }

  // ---- Operators. Each function returns true if it could add its operators.
  bool Add(absl::string_view op, std::vector<ValueId> inputs, Attrs attrs = {}) {
    const Graph before = graph_;
    const auto y = AddOp(graph_, op, inputs, attrs);
    if (!y.ok() || TypeOf(*y).num_elements() > kMaxElements || TypeOf(*y).num_elements() == 0) {
      graph_ = before;
      return false;
    }
    data_.push_back(*y);
    // The same operator again, for elimination of common subexpressions.
    if (OneIn(6)) data_.push_back(AddOp(graph_, op, std::move(inputs), std::move(attrs)).value());
    return true;
  }

  bool AddOperator() {
    const ValueId x = Any();
    const Shape shape = TypeOf(x).shape;
    const bool image = shape.size() == 4;
    switch (Below(12)) {
      case 0:
      case 1:
      case 2:
        return image ? Convolution(x, shape) : shape.size() == 2 && Dense(x, shape);
      case 3:
        return Moves(x, shape);
      case 4:
        return Moves(x, shape) && Moves(Last(), TypeOf(Last()).shape);
      case 5:
        return image && Add("nn.max_pool2d", {x},
                            {{"pool_size", AttrValue::Ints({1 + Below(2), 1 + Below(2)})},
                             {"padding", AttrValue::Ints({0, 0})},
                             {"layout", Pick({"NCHW", "NHWC"})}});
      case 6:
        return quantised_ ? Requantize(x) : image && BatchNorm(x, shape);
      case 7:
        if (OneIn(5)) return Dropout(x);
        return Add(Pick({"nn.relu", "abs", "negative", "copy"}), {x});
      case 8:
        return Add("concatenate", {x, OneIn(2) ? x : Any()},
                   {{"axis", Below(static_cast<int>(shape.size()))}});
      case 9:
        return Add(Pick({"maximum", "minimum"}), {x, Any()});
      case 10:
        return Add("multiply", {x, Scales(OneIn(2) ? Shape() : Shape{shape.back()})}) && Clip();
      default:
        return Add(Pick({"add", "subtract"}), {x, Any()}) && Clip();
    }
  }

  bool Clip() { return Add("clip", {Last()}, {{"a_min", -8.0}, {"a_max", 8.0}}); }

  // Operators that may follow a sum of products. Its channels are on `axis` of `rank`.
  bool Epilogue(int64_t axis, int64_t rank) {
    const int64_t channels = TypeOf(Last()).shape[static_cast<size_t>(axis)];
    Shape wide(static_cast<size_t>(rank - axis), 1);
    wide[0] = channels;
    if (OneIn(2)) Add("nn.bias_add", {Last(), Constant({channels}, -2, 1, 5)}, {{"axis", axis}});
    if (OneIn(4)) OneIn(2) ? Split(Last(), TypeOf(Last()).shape) : Extend();
    if (OneIn(2)) Add("multiply", {Last(), OneIn(3) ? Scales({}) : Scales(wide)});
    return Clip() && (!quantised_ || OneIn(2) || Requantize(Last()));
  }

  // Concatenates a constant to the last value.
  bool Extend() {
    const Shape shape = TypeOf(Last()).shape;
    return Add("concatenate", {Last(), Constant(shape, -2, 1, 5)},
               {{"axis", Below(static_cast<int>(shape.size()))}});
  }

  bool Convolution(ValueId x, const Shape& shape) {
    const bool nhwc = OneIn(3);
    const int64_t in = shape[nhwc ? 3 : 1], out = 1 + Below(5), taps = 1 + Below(2);
    const bool depthwise = OneIn(4);
    const Shape weight = depthwise ? Shape{in, 1, taps, taps} : Shape{out, in, taps, taps};
    const int64_t padding = Below(2);
    return Add("nn.conv2d", {x, Weight(weight)},
               {{"groups", depthwise ? in : 1},
                {"padding", AttrValue::Ints({padding, padding})},
                {"data_layout", nhwc ? "NHWC" : "NCHW"}}) &&
           Epilogue(nhwc ? 3 : 1, 4);
  }

  bool Dense(ValueId x, const Shape& shape) {
    return Add("nn.dense", {x, Weight({1 + Below(5), shape[1]})}, {{"units", AttrValue::None()}}) &&
           Epilogue(1, 2);
  }

  bool BatchNorm(ValueId x, const Shape& shape) {
    const TensorType channels{{shape[1]}, kF32};
    const ValueId variance = Constant(channels.shape, 1, 3, 2);  // 1 or 4
    Node node{.op = FindOpSchema("nn.batch_norm"),
              .attrs = {{"axis", 1}, {"epsilon", 0.0}, {"center", true}, {"scale", true}},
              .inputs = {x, Scales(channels.shape), Constant(channels.shape, -2, 1, 5),
                         Constant(channels.shape, -2, 1, 5), variance},
              .outputs = {},
              .body = nullptr,
              .source = {}};
    return AddWhole(std::move(node), {TypeOf(x), channels, channels}) && Clip();
  }
  bool Dropout(ValueId x) {
    Node node{.op = FindOpSchema("nn.dropout"),
              .attrs = {{"rate", 0.5}},
              .inputs = {x},
              .outputs = {},
              .body = nullptr,
              .source = {}};
    return AddWhole(std::move(node), {TypeOf(x), TypeOf(x)});
  }
  // Adds an operator with several outputs. Only the first output is used.
  bool AddWhole(Node node, const std::vector<TensorType>& types) {
    data_.push_back(graph_.node(graph_.AddNode(std::move(node), types)).outputs[0]);
    return true;
  }

  // Splits the value in two. Both parts are used.
  bool Split(ValueId x, const Shape& shape) {
    const auto axis = static_cast<size_t>(Below(static_cast<int>(shape.size())));
    if (shape[axis] < 2) return false;
    const int64_t place = 1 + Below(static_cast<int>(shape[axis] - 1));
    std::vector<TensorType> parts(2, TypeOf(x));
    parts[0].shape[axis] = place;
    parts[1].shape[axis] -= place;
    Node node{.op = FindOpSchema("split"),
              .attrs = {{"indices_or_sections", AttrValue::Ints({place})},
                        {"axis", static_cast<int64_t>(axis)}},
              .inputs = {x},
              .outputs = {},
              .body = nullptr,
              .source = {}};
    const Node& split = graph_.node(graph_.AddNode(std::move(node), parts));
    data_.insert(data_.end(), split.outputs.begin(), split.outputs.end());
    return true;
  }

  bool Moves(ValueId x, const Shape& shape) {
    const int rank = static_cast<int>(shape.size());
    switch (Below(5)) {
      case 0: {
        std::vector<int64_t> axes;
        for (int i = 0; i < rank; ++i) axes.push_back((i + 1) % rank);
        return Add("transpose", {x}, {{"axes", AttrValue::Ints(axes)}});
      }
      case 1:
        return Add("reshape", {x},
                   {{"newshape",
                     AttrValue::Ints(OneIn(2) ? Shape{shape[0], -1} : Shape{1, shape[0], -1, 1})}});
      case 2:
        return rank < 4 && Add("expand_dims", {x}, {{"axis", 0}, {"num_newaxis", 1}});
      case 3:
        return Split(x, shape);
      default:
        return Add("strided_slice", {x},
                   {{"begin", AttrValue::Ints({0})},
                    {"end", AttrValue::Ints({(shape[0] + 1) / 2})},
                    {"strides", AttrValue::Ints({1})}});
    }
  }

  bool Quantize(ValueId x) {
    return Add("qnn.quantize", {x, Scalar(std::exp2(Below(3) - 2)), Zero(Below(5) - 2)},
               {{"axis", 0}, {"out_dtype", "int8"}, {"rounding", "EVEN"}});
  }
  bool Requantize(ValueId x) {
    const size_t floats = data_.size();
    if (!Quantize(x)) return false;
    const Node quantize = graph_.nodes.back();
    data_.resize(floats);
    return Add("qnn.dequantize", {quantize.outputs[0], quantize.inputs[1], quantize.inputs[2]},
               {{"axis", 0}});
  }

  // Makes unread values outputs, and sometimes an input, a constant, or an output a second time.
  void ReturnSome() {
    const auto consumers = graph_.Consumers();
    for (size_t v = 0; v < graph_.values.size() && graph_.outputs.size() < 5; ++v) {
      if (graph_.values[v].kind == ValueKind::kNodeOutput && consumers[v].empty()) {
        graph_.outputs.push_back(static_cast<ValueId>(v));
      }
    }
    if (OneIn(4)) graph_.outputs.push_back(graph_.inputs[0]);
    if (OneIn(4)) graph_.outputs.push_back(graph_.outputs[0]);
    if (OneIn(4)) graph_.outputs.push_back(Scalar(3));
  }

  const bool quantised_;
  Graph graph_;
  std::vector<ValueId> data_;  // floats computed from the input, in order
};

}  // namespace

Graph RandomExactGraph(uint32_t seed, bool quantised) { return Generator(seed, quantised).Run(); }

}  // namespace kiln::equality
