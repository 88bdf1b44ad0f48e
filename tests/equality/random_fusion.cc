// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "absl/strings/str_cat.h"
#include "compiler/ops/add_op.h"
#include "tests/equality/random_graph.h"
#include "tests/equality/random_source.h"

namespace kiln::equality {
namespace {

constexpr DType kDTypes[] = {kI8, kU8, kI16, kF32};
constexpr int kNumDTypes = 4;

enum Kind { kPointwise, kWindow, kDepthwise, kTransposed, kDense, kMatmul, kNumKinds };
constexpr const char* kNames[] = {"1x1", "3x3", "depthwise", "transposed", "dense", "batch matmul"};

// Returns random values; integers cover the whole range of the dtype.
Tensor Spread(const TensorType& type, uint32_t seed) {
  if (type.dtype.is_float()) return RandomValues(type, seed, -1, 1);
  if (type.dtype.is_uint()) return RandomValues(type, seed, 0, std::exp2(type.dtype.bits - 2));
  const double most = std::exp2(type.dtype.bits - 3);
  return RandomValues(type, seed, -most, most - 0.0001);
}

class Fusion : RandomSource {
 public:
  explicit Fusion(uint32_t seed) : RandomSource(seed) {}

  Case Run(uint32_t seed) {
    const auto product = static_cast<Kind>(seed % kNumKinds);
    dtype_ = kDTypes[(seed / kNumKinds + seed % kNumKinds) % kNumDTypes];
    Case result{.name = absl::StrCat("fusion seed ", seed, " (", kNames[product], " of ",
                                     dtype_.ToString(), ")"),
                .graph = {},
                .inputs = {}};
    graph_ = &result.graph;
    Multiply(product);
    if (OneIn(2)) Bias();
    if (!dtype_.is_float()) Requantize();
    for (int i = 1 + Below(3); i > 0; --i) Pointwise();
    graph_->outputs = {last_};
    for (ValueId input : graph_->inputs) {
      result.inputs.push_back(Spread(graph_->type(input), seed * 7 + static_cast<uint32_t>(input)));
    }
    return result;
  }

 private:
  const TensorType& type() const { return graph_->type(last_); }
  bool quantised() const { return !dtype_.is_float(); }

  void Add(absl::string_view op, std::vector<ValueId> inputs, Attrs attrs) {
    last_ = AddOp(*graph_, op, std::move(inputs), std::move(attrs)).value();
  }
  ValueId Constant(Shape shape, DType dtype) {
    if (dtype.is_float()) {
      return graph_->AddConstant(RandomValues({std::move(shape), dtype}, state(), -0.25, 0.25));
    }
    return graph_->AddConstant(Spread({std::move(shape), dtype}, state()));
  }
  ValueId Scale(double low, double high) {
    return graph_->AddConstant(Tensor::Scalar(kF32, std::exp2(Between(low, high))));
  }
  ValueId Zero(int64_t zero) {
    return graph_->AddConstant(Tensor::Scalar(kI32, static_cast<double>(zero)));
  }
  // Returns a zero point for `dtype`: the middle of its range, or a number near it.
  ValueId ZeroOf(DType dtype) {
    const int64_t middle = dtype.is_uint() ? 128 : 0;
    return Zero(dtype == kI16 || OneIn(2) ? middle : middle + Below(21) - 10);
  }

  // ---- The contraction.
  // Few and many channels, which fill whole vectors or not.
  int64_t Channels() {
    static constexpr int64_t kChannels[] = {3, 4, 8, 16, 19, 32, 33, 64};
    return Pick(kChannels);
  }

  // Adds the product `op` of `x` and `weight`. Its result has the channels on `axis`.
  void Product(absl::string_view op, ValueId x, ValueId weight, Attrs attrs, int64_t axis) {
    axis_ = axis;
    if (!quantised()) return Add(absl::StrCat("nn.", op), {x, weight}, std::move(attrs));
    const DType sums = dtype_ == kI16 && OneIn(2) ? kI64 : kI32;
    attrs.Set("out_dtype", sums.ToString());
    const DType w = graph_->type(weight).dtype;
    Add(absl::StrCat("qnn.", op),
        {x, weight, Scale(-7, -3), ZeroOf(dtype_), Scale(-9, -5), OneIn(2) ? Zero(0) : ZeroOf(w)},
        std::move(attrs));
  }

  void Multiply(Kind product) {
    const int64_t in = Channels(), out = product == kDepthwise ? in : Channels();
    const DType weight = dtype_ == kF32 ? kF32 : dtype_ == kU8 && OneIn(2) ? kU8 : kI8;
    if (product == kDense) {
      const ValueId x = graph_->AddInput("x", {{1 + Below(9), in}, dtype_});
      return Product("dense", x, Constant({out, in}, weight), {{"units", AttrValue::None()}}, 1);
    }
    if (product == kMatmul) {
      const int64_t batch = 1 + Below(2);
      const ValueId x = graph_->AddInput("x", {{batch, 1 + Below(9), in}, dtype_});
      const Shape shape = {batch, out, in};
      const ValueId y = OneIn(2) ? graph_->AddInput("y", {shape, weight}) : Constant(shape, weight);
      return Product("batch_matmul", x, y, {{"transpose_a", false}, {"transpose_b", true}}, 2);
    }
    const bool nhwc = OneIn(2);
    const int64_t height = 3 + Below(5), width = 3 + Below(7);
    const ValueId x = graph_->AddInput(
        "x", {nhwc ? Shape{1, height, width, in} : Shape{1, in, height, width}, dtype_});
    const int64_t taps = product == kPointwise ? 1 : product == kTransposed ? 2 + Below(2) : 3;
    const int64_t stride = 1 + Below(2);
    const int64_t padding = taps == 3 ? Below(2) : 0;
    Attrs attrs = {{"strides", AttrValue::Ints({stride, stride})},
                   {"padding", AttrValue::Ints({padding, padding})},
                   {"data_layout", nhwc ? "NHWC" : "NCHW"}};
    Shape shape = {out, in, taps, taps};
    if (product == kDepthwise) {
      shape = {in, 1, taps, taps};
      attrs.Set("groups", in);
    }
    if (product == kTransposed) shape = {in, out, taps, taps};
    Product(product == kTransposed ? "conv2d_transpose" : "conv2d", x, Constant(shape, weight),
            std::move(attrs), nhwc ? 3 : 1);
  }

  // ---- Operators after the contraction.
  void Bias() {
    const TensorType bias{{type().shape[static_cast<size_t>(axis_)]}, type().dtype};
    const double most = quantised() ? 100 : 0.5;
    const ValueId values = graph_->AddConstant(RandomValues(bias, state(), -most, most));
    Add("nn.bias_add", {last_, values}, {{"axis", axis_}});
  }

  void Requantize() {
    const DType out = Pick({kI8, kI8, kU8, kI16});
    Add("qnn.requantize", {last_, Scale(-12, -6), Zero(0), Scale(-3, 0), ZeroOf(out)},
        {{"axis", axis_},
         {"rounding", Pick({"UPWARD", "TONEAREST", "TFLITE", "EVEN"})},
         {"out_dtype", out.ToString()}});
  }

  void Pointwise() {
    switch (Below(7)) {
      case 0:
      case 1:
      case 2:
        return Function(OneIn(2) ? "sigmoid" : "tanh");
      case 3:
        return quantised() && type().dtype.bits == 8 ? LookUp() : Clip();
      case 4:
        return Clip();
      default:
        return Residual();
    }
  }

  void Function(const char* function) {
    const DType dtype = type().dtype;
    if (!quantised()) return Add(function, {last_}, {});
    const bool sigmoid = function[0] == 's';
    const bool tflite = dtype == kI16 || (dtype == kI8 && OneIn(2));
    const double scale = dtype == kI16 ? 0x1p-15 : sigmoid ? 0x1p-8 : 0x1p-7;
    const int64_t zero = dtype == kI16  ? 0
                         : dtype == kU8 ? (sigmoid ? 0 : 128)
                         : sigmoid      ? -128
                                        : 0;
    Add(absl::StrCat("qnn.", function),
        {last_, Scale(-7, -3), ZeroOf(dtype), graph_->AddConstant(Tensor::Scalar(kF32, scale)),
         Zero(zero)},
        {{"rounding", tflite ? "TFLITE" : "None"}});
  }

  // A function that becomes a table with any rounding.
  void LookUp() {
    const DType dtype = type().dtype;
    const char* function = Pick({"qnn.erf", "qnn.exp", "qnn.hardswish", "qnn.sqrt"});
    Add(function, {last_, Scale(-7, -3), ZeroOf(dtype), Scale(-8, -5), ZeroOf(dtype)}, {});
  }

  void Clip() {
    const bool sign = quantised() && !type().dtype.is_uint();
    const double low = quantised() ? (sign ? -90 : 20) : -0.5;
    Add("clip", {last_}, {{"a_min", low}, {"a_max", low + (quantised() ? 100 + Below(60) : 0.75)}});
  }

  void Residual() {
    const TensorType as = type();
    const ValueId other = graph_->AddInput(absl::StrCat("residual", graph_->values.size()), as);
    if (!quantised()) return Add("add", {last_, other}, {});
    Add("qnn.add",
        {last_, other, Scale(-7, -3), ZeroOf(as.dtype), Scale(-7, -3), ZeroOf(as.dtype),
         Scale(-6, -2), ZeroOf(as.dtype)},
        {{"rounding", Pick({"UPWARD", "TONEAREST", "TFLITE", "EVEN"})}});
  }

  DType dtype_ = kF32;  // dtype of the factor x
  int64_t axis_ = 0;    // axis of the channels after the contraction
  Graph* graph_ = nullptr;
  ValueId last_ = 0;
};

}  // namespace

Case RandomFusion(uint32_t seed) { return Fusion(seed).Run(seed); }

}  // namespace kiln::equality
