// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "compiler/ops/add_op.h"
#include "tests/equality/random_graph.h"
#include "tests/equality/random_source.h"

namespace kiln::equality {
namespace {

constexpr int kMinQuantizedOperators = 3, kMaxQuantizedOperators = 9;
constexpr int64_t kMaxQuantizedElements = 2048;
constexpr const char* kRoundings[] = {"UPWARD", "TONEAREST", "TFLITE", "EVEN", "None"};

// Returns random values. Integers of at most 16 bits cover the whole range of the dtype.
Tensor SpreadQuantized(const TensorType& type, uint32_t seed) {
  if (type.dtype.is_float()) return RandomValues(type, seed, -4, 4);
  if (type.dtype.is_uint()) return RandomValues(type, seed, 0, std::exp2(type.dtype.bits - 2));
  const double most = std::exp2(std::min<int>(type.dtype.bits, 16) - 3);
  return RandomValues(type, seed, -most, most - 0.0001);
}

class QuantizedGenerator : RandomSource {
 public:
  using RandomSource::RandomSource;

  Case Run(uint32_t seed) {
    Case result{.name = absl::StrCat("quantised seed ", seed), .graph = {}, .inputs = {}};
    graph_ = &result.graph;
    AddInput();
    const int operators =
        kMinQuantizedOperators + Below(kMaxQuantizedOperators - kMinQuantizedOperators);
    for (int i = 0, tries = 0; i < operators && tries < 200; ++tries) i += AddOperator() ? 1 : 0;
    ReturnUnread(*graph_);
    for (ValueId input : graph_->inputs) {
      result.inputs.push_back(
          SpreadQuantized(graph_->type(input), seed * 7 + static_cast<uint32_t>(input)));
    }
    return result;
  }

 private:
  const TensorType& TypeOf(ValueId v) const { return graph_->type(v); }
  ValueId Last() const { return static_cast<ValueId>(graph_->values.size()) - 1; }

  void AddInput() {
    TensorType type{{}, Pick({kI8, kI8, kU8, kI16, kF32})};
    const int rank = OneIn(2) ? 4 : 1 + Below(4);
    for (int i = 0; i < rank; ++i) type.shape.push_back(Extent());
    if (rank == 4) type.shape[0] = 1 + Below(2);
    while (type.num_elements() > kMaxQuantizedElements / 2)
      *std::max_element(type.shape.begin(), type.shape.end()) = 3;
    graph_->AddInput("x", type);
  }

  // Returns a late value that is data, not a scale or constant.
  ValueId Any() {
    return Like([](const TensorType&) { return true; });
  }
  template <typename Wanted>
  ValueId Like(Wanted wanted) {
    std::vector<ValueId> values;
    for (size_t v = 0; v < graph_->values.size(); ++v) {
      const Value& value = graph_->values[v];
      const bool is_data = value.kind == ValueKind::kNodeOutput || v == 0;
      if (is_data && wanted(*value.type)) values.push_back(static_cast<ValueId>(v));
    }
    const int window = static_cast<int>(std::min<size_t>(values.size(), 3));
    return values[values.size() - 1 - static_cast<size_t>(Below(window))];
  }
  ValueId SameDType(ValueId x) {
    return Like([dtype = TypeOf(x).dtype](const TensorType& type) { return type.dtype == dtype; });
  }

  // ---- Operands.
  ValueId Weight(Shape shape, DType dtype) {
    return graph_->AddConstant(SpreadQuantized({std::move(shape), dtype}, state()));
  }
  // Scales from 2^low to 2^high, with `places` elements or one. Some are float64, some powers of
  // two.
  ValueId Scale(double low, double high, int64_t places = 1) {
    const bool vector = places > 1 && OneIn(2);
    const DType dtype = OneIn(6) ? DType::Float(64) : kF32;
    const bool whole = OneIn(5);
    std::string bytes;
    for (int64_t i = 0; i < (vector ? places : 1); ++i) {
      const double exponent = Between(low, high);
      bytes += Tensor::Scalar(dtype, std::exp2(whole ? std::round(exponent) : exponent)).bytes();
    }
    return graph_->AddConstant({{vector ? Shape{places} : Shape{}, dtype}, std::move(bytes)});
  }
  int64_t ZeroOf(DType dtype) {
    if (OneIn(3) || dtype.bits > 16) return 0;
    if (OneIn(4)) return OneIn(2) ? dtype.MinInt() : dtype.MaxInt();
    const int spread = dtype.bits == 8 ? 256 : 65536;
    return dtype.MinInt() + Below(spread);
  }
  ValueId ZeroConstant(int64_t zero) {
    return graph_->AddConstant(Tensor::Scalar(kI32, static_cast<double>(zero)));
  }
  // Returns a zero point for `dtype`: a constant, or sometimes an input unless `constant` is true.
  ValueId Zero(DType dtype, bool constant = false) {
    if (!constant && OneIn(10))
      return graph_->AddInput(absl::StrCat("zero", graph_->values.size()), {{}, kI32});
    return ZeroConstant(ZeroOf(dtype));
  }
  ValueId Zeros(DType dtype, int64_t places) {
    if (places == 1 || OneIn(2)) return Zero(dtype, /*constant=*/places > 1);
    std::vector<int32_t> zeros;
    for (int64_t i = 0; i < places; ++i) zeros.push_back(static_cast<int32_t>(ZeroOf(dtype)));
    return graph_->AddConstant(Tensor::From<int32_t>({places}, kI32, zeros));
  }

  // ---- Operators. Each function returns true if it could add its operators.
  bool Add(absl::string_view op, std::vector<ValueId> inputs, Attrs attrs = {}) {
    const absl::StatusOr<ValueId> output = AddOp(*graph_, op, std::move(inputs), std::move(attrs));
    return output.ok() && TypeOf(*output).num_elements() <= kMaxQuantizedElements &&
           TypeOf(*output).num_elements() > 0;
  }

  bool AddOperator() {
    const Graph before = *graph_;
    const ValueId x = Any();
    const TensorType type = TypeOf(x);
    const bool done = type.dtype.is_float()   ? OnFloats(x)
                      : type.dtype.bits >= 32 ? OnSums(x)
                      : OneIn(3)              ? Moves(x, type)
                                              : OnNumbers(x, type);
    if (!done) *graph_ = before;
    return done;
  }

  bool OnFloats(ValueId x) {
    if (OneIn(3)) return Add(Pick({"nn.relu", "negative", "abs", "sigmoid"}), {x});
    if (OneIn(4)) return Add(Pick({"add", "multiply", "maximum"}), {x, SameDType(x)});
    return Quantize(x);
  }

  bool Quantize(ValueId x) {
    const DType dtype = Pick({kI8, kU8, kI16});
    const auto [axis, places] = Axis(x);
    const ValueId scale = Scale(-7, -1, places), zero = Zeros(dtype, places);
    return Add(
        "qnn.quantize", {x, scale, zero},
        {{"out_dtype", dtype.ToString()}, {"axis", axis}, {"rounding", Pick({"AWAY", "EVEN"})}});
  }

  // Returns a random axis and its extent, which is the number of scales. A scalar has axis -1.
  std::pair<int64_t, int64_t> Axis(ValueId x) {
    const Shape& shape = TypeOf(x).shape;
    if (shape.empty()) return {-1, 1};
    const int axis = Below(static_cast<int>(shape.size()));
    return {axis, shape[static_cast<size_t>(axis)]};
  }

  bool OnSums(ValueId x) {
    const TensorType& type = TypeOf(x);
    if (OneIn(4) && type.rank() > 1) {
      const int64_t axis = Axis(x).first;
      const ValueId bias = graph_->AddConstant(
          RandomValues({{type.shape[static_cast<size_t>(axis)]}, type.dtype}, state(), -500, 500));
      return Add("nn.bias_add", {x, bias}, {{"axis", axis}}) && Requantize(Last(), -14, -4);
    }
    if (OneIn(12) && type.dtype.bits == 32) return Dequantize(x);
    return Requantize(x, -14, -4);
  }

  bool Dequantize(ValueId x) {
    const auto [axis, places] = Axis(x);
    const ValueId scale = Scale(-10, -3, places), zero = Zeros(TypeOf(x).dtype, places);
    return Add("qnn.dequantize", {x, scale, zero}, {{"axis", axis}});
  }

  bool Requantize(ValueId x, double low, double high) {
    const DType in = TypeOf(x).dtype, out = Pick({kI8, kI8, kU8, kI16, kI32});
    const auto [axis, places] = Axis(x);
    const ValueId in_scale = Scale(low, high, places), in_zero = Zeros(in, places),
                  out_scale = Scale(-3, 3, OneIn(4) ? places : 1), out_zero = Zeros(out, places);
    return Add("qnn.requantize", {x, in_scale, in_zero, out_scale, out_zero},
               {{"axis", axis},
                {"rounding", Pick(kRoundings)},
                {"compute_dtype", OneIn(3) ? Pick({"float32", "float64", "int64"}) : "None"},
                {"out_dtype", out.ToString()}});
  }

  bool OnNumbers(ValueId x, const TensorType& type) {
    switch (Below(11)) {
      case 0:
      case 1:
      case 2:
        return type.rank() == 4 && Convolution(x, type);
      case 3:
        return Dense(x, type);
      case 4:
      case 5:
        return Arithmetic(x, type.dtype);
      case 6:
        return Function(x, type.dtype);
      case 7:
        return type.rank() == 4 && Pool(x, type.dtype);
      case 8:
        return Mean(x, type);
      case 9:
        return Softmax(x, type);
      default:
        return OneIn(3) ? Dequantize(x) : Requantize(x, -4, 4);
    }
  }

  // Adds an operator on the last sum, except for one sum in six, which is used directly.
  bool Requantized() { return OneIn(6) || OnSums(Last()); }

  bool Convolution(ValueId x, const TensorType& type) {
    const bool nhwc = OneIn(2);
    const int64_t channels = type.shape[nhwc ? 3 : 1];
    int64_t groups = 1;
    if (OneIn(3)) groups = channels;
    if (OneIn(4) && channels % 2 == 0) groups = 2;
    const int64_t in = channels / groups, out = groups * (groups == 1 ? Extent() : 1 + Below(3));
    const int64_t height = 1 + Below(3), width = 1 + Below(3);
    const std::string layout = Pick({"OIHW", "HWIO", "OHWI"});
    Shape shape;
    for (const char letter : layout) {
      shape.push_back(letter == 'O' ? out : letter == 'I' ? in : letter == 'H' ? height : width);
    }
    const DType weight = type.dtype == kU8 && OneIn(2) ? kU8 : kI8;
    const ValueId w = Weight(shape, weight);
    const DType sums = type.dtype.bits == 16 && OneIn(2) ? kI64 : kI32;
    const ValueId x_scale = Scale(-7, -1), x_zero = Zero(type.dtype);
    const ValueId w_scale = Scale(-9, -3, out), w_zero = Zeros(weight, out);
    const std::vector<int64_t> padding =
        OneIn(2) ? std::vector<int64_t>{Below(2), Below(2)}
                 : std::vector<int64_t>{Below(2), Below(2), Below(3), Below(3)};
    return Add("qnn.conv2d", {x, w, x_scale, x_zero, w_scale, w_zero},
               {{"groups", groups},
                {"strides", AttrValue::Ints({1 + Below(2), 1 + Below(2)})},
                {"dilation", AttrValue::Ints({1 + Below(2), 1 + Below(2)})},
                {"padding", AttrValue::Ints(padding)},
                {"data_layout", nhwc ? "NHWC" : "NCHW"},
                {"kernel_layout", layout},
                {"out_dtype", sums.ToString()}}) &&
           Requantized();
  }

  bool Dense(ValueId x, const TensorType& type) {
    const int64_t units = Extent();
    const DType weight = type.dtype == kU8 && OneIn(2) ? kU8 : kI8;
    const ValueId w = Weight({units, type.shape.empty() ? 1 : type.shape.back()}, weight);
    const DType sums = type.dtype.bits == 16 && OneIn(2) ? kI64 : kI32;
    const ValueId x_scale = Scale(-7, -1), x_zero = Zero(type.dtype);
    const ValueId w_scale = Scale(-9, -3, units), w_zero = Zeros(weight, units);
    return Add("qnn.dense", {x, w, x_scale, x_zero, w_scale, w_zero},
               {{"out_dtype", sums.ToString()}}) &&
           Requantized();
  }

  bool Arithmetic(ValueId x, DType dtype) {
    ValueId y = SameDType(x);
    if (OneIn(3)) {
      const Shape& shape = TypeOf(x).shape;
      y = Weight(shape.empty() ? Shape{} : Shape{shape.back()}, dtype);
    }
    const ValueId x_scale = Scale(-7, -1), x_zero = Zero(dtype), y_scale = Scale(-7, -1),
                  y_zero = Zero(dtype), out_scale = Scale(-8, 0), out_zero = Zero(dtype);
    return Add(Pick({"qnn.add", "qnn.subtract", "qnn.mul"}),
               {x, y, x_scale, x_zero, y_scale, y_zero, out_scale, out_zero},
               {{"rounding", Pick(kRoundings)}});
  }

  bool Function(ValueId x, DType dtype) {
    const ValueId scale = Scale(-7, -1), zero = ZeroConstant(ZeroOf(dtype));
    if (OneIn(3) || dtype.bits == 16) {
      const bool sigmoid = OneIn(2);
      const double out_scale = dtype.bits == 16 ? 0x1p-15 : sigmoid ? 0x1p-8 : 0x1p-7;
      return Add(sigmoid ? "sigmoid" : "tanh", x, scale, zero, out_scale,
                 dtype.bits == 8 && sigmoid ? -128 : 0);
    }
    const char* op = Pick({"qnn.erf", "qnn.exp", "qnn.hardswish", "qnn.log", "qnn.rsqrt",
                           "qnn.sigmoid", "qnn.sqrt", "qnn.tanh"});
    const ValueId out_scale = Scale(-8, 0), out_zero = ZeroConstant(ZeroOf(dtype));
    return Add(op, {x, scale, zero, out_scale, out_zero});
  }
  // Adds a function with TFLite's rounding.
  bool Add(const char* function, ValueId x, ValueId scale, ValueId zero, double out_scale,
           int64_t out_zero) {
    const ValueId to = graph_->AddConstant(Tensor::Scalar(kF32, out_scale));
    const ValueId at = ZeroConstant(out_zero);
    return Add(absl::StrCat("qnn.", function), {x, scale, zero, to, at}, {{"rounding", "TFLITE"}});
  }

  bool Pool(ValueId x, DType dtype) {
    const Attrs attrs = {{"pool_size", AttrValue::Ints({1 + Below(3), 1 + Below(3)})},
                         {"strides", AttrValue::Ints({1 + Below(2), 1 + Below(2)})},
                         {"padding", AttrValue::Ints({Below(2), Below(2)})},
                         {"layout", Pick({"NCHW", "NHWC"})}};
    if (OneIn(2)) return Add("nn.max_pool2d", {x}, attrs);
    const ValueId scale = Scale(-7, -1), zero = ZeroConstant(ZeroOf(dtype));
    return Add("qnn.avg_pool2d", {x, scale, zero, scale, zero}, attrs);
  }

  bool Mean(ValueId x, const TensorType& type) {
    const ValueId scale = Scale(-7, -1), zero = ZeroConstant(ZeroOf(type.dtype));
    const bool same = OneIn(3);
    const ValueId out_scale = same ? scale : Scale(-7, -1),
                  out_zero = same ? zero : ZeroConstant(ZeroOf(type.dtype));
    std::vector<int64_t> axes;
    for (int axis = 0; axis < type.rank(); ++axis) {
      if (OneIn(2)) axes.push_back(axis);
    }
    return Add("qnn.mean", {x, scale, zero, out_scale, out_zero},
               {{"axis", AttrValue::Ints(axes)}, {"keepdims", OneIn(2)}});
  }

  bool Softmax(ValueId x, const TensorType& type) {
    if (type.rank() == 0 || type.dtype.bits != 8) return false;
    const bool wide = OneIn(4);
    const ValueId scale = Scale(-8, 1), zero = ZeroConstant(ZeroOf(type.dtype)),
                  to = graph_->AddConstant(Tensor::Scalar(kF32, wide ? 0x1p-15 : 0x1p-8)),
                  at = ZeroConstant(wide ? 0 : type.dtype.MinInt());
    return Add("qnn.softmax", {x, scale, zero, to, at},
               {{"axis", Axis(x).first}, {"out_dtype", (wide ? kI16 : type.dtype).ToString()}});
  }

  // Operators without scales.
  bool Moves(ValueId x, const TensorType& type) {
    const int rank = type.rank();
    switch (Below(8)) {
      case 0: {
        const double low = Between(-100, 50);
        return Add("clip", {x},
                   {{"a_min", std::floor(low)}, {"a_max", std::floor(low) + Below(90)}});
      }
      case 1:
        if (OneIn(2)) return Add("nn.relu", {x});
        return Add(Pick({"maximum", "minimum"}), {x, SameDType(x)});
      case 2:
        return Add(
            "reshape", {x},
            {{"newshape",
              AttrValue::Ints(OneIn(2) || rank == 0 ? Shape{-1} : Shape{type.shape[0], -1})}});
      case 3: {
        std::vector<int64_t> axes;
        for (int i = 0; i < rank; ++i) axes.push_back(i);
        for (int i = rank - 1; i > 0; --i)
          std::swap(axes[static_cast<size_t>(i)], axes[static_cast<size_t>(Below(i + 1))]);
        return Add("transpose", {x}, {{"axes", AttrValue::Ints(axes)}});
      }
      case 4:
        return Add("concatenate", {x, OneIn(3) ? x : SameDType(x)},
                   {{"axis", rank == 0 ? 0 : Below(rank)}});
      case 5:
        return rank > 0 && Add("strided_slice", {x},
                               {{"begin", AttrValue::Ints({Below(2)})},
                                {"end", AttrValue::Ints({type.shape[0]})},
                                {"strides", AttrValue::Ints({1 + Below(2)})}});
      case 6:
        return rank > 0 && Add(Pick({"max", "min"}), {x},
                               {{"axis", AttrValue::Ints({Below(rank)})}, {"keepdims", OneIn(2)}});
      default: {
        std::vector<AttrValue> widths;
        for (int i = 0; i < rank; ++i) widths.push_back(AttrValue::Ints({Below(2), Below(2)}));
        const ValueId value = graph_->AddConstant(
            Tensor::Scalar(type.dtype, static_cast<double>(ZeroOf(type.dtype))));
        return Add("nn.pad", {x, value}, {{"pad_width", AttrValue(widths)}});
      }
    }
  }

  Graph* graph_ = nullptr;
};

}  // namespace

Case RandomQuantizedCase(uint32_t seed) { return QuantizedGenerator(seed).Run(seed); }

}  // namespace kiln::equality
