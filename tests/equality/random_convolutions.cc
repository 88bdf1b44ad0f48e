// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "compiler/ops/add_op.h"
#include "tests/equality/random_graph.h"
#include "tests/equality/random_source.h"

namespace kiln::equality {
namespace {

class ConvolutionsGenerator : RandomSource {
 public:
  explicit ConvolutionsGenerator(uint32_t seed) : RandomSource(seed), is_float_(seed % 4 == 3) {}

  Case Run(uint32_t seed) {
    Case result{.name = absl::StrCat("convolutions seed ", seed), .graph = {}, .inputs = {}};
    graph_ = &result.graph;
    const TensorType type{{1, 16 + Below(16), 3 + Below(3), 1 + Below(4)}, is_float_ ? kF32 : kI8};
    values_ = {graph_->AddInput("x", type)};
    const int convolutions = 2 + Below(4);
    for (int i = 0, tries = 0; i < convolutions && tries < 50; ++tries) i += AddBlock() ? 1 : 0;
    ReturnUnread(*graph_);
    result.inputs.push_back(
        RandomValues(type, seed + 1, is_float_ ? -2 : -128, is_float_ ? 2 : 127));
    return result;
  }

 private:
  const Shape& ShapeOf(ValueId value) const { return graph_->type(value).shape; }
  ValueId Number(DType dtype, double value) {
    return graph_->AddConstant(Tensor::Scalar(dtype, value));
  }
  ValueId Zero() { return Number(kI32, Below(256) - 128); }
  ValueId Scale() { return Number(kF64, Between(0.01, 0.2)); }
  ValueId Random(Shape shape, DType dtype, double most) {
    return graph_->AddConstant(RandomValues({std::move(shape), dtype}, state(), -most, most));
  }

  // Adds a convolution of the last value with its operators, and sometimes a sum with an earlier
  // value.
  bool AddBlock() {
    const Graph before = *graph_;
    absl::StatusOr<ValueId> value = Convolve(values_.back());
    if (value.ok() && OneIn(2)) value = AddEarlier(*value);
    if (value.ok() && OneIn(3)) value = AddOp(*graph_, "nn.relu", {*value});
    if (value.ok()) {
      values_.push_back(*value);
    } else {
      *graph_ = before;
    }
    return value.ok();
  }

  absl::StatusOr<ValueId> Convolve(ValueId x) {
    const int64_t in = ShapeOf(x)[3];
    const bool depthwise = OneIn(3);
    const int64_t out = depthwise ? in : 2 + Below(14), taps = OneIn(3) ? 1 : 2 + Below(2);
    const int64_t stride = OneIn(5) ? 2 : 1, dilation = OneIn(5) ? 2 : 1;
    const ValueId weight =
        Random({out, taps, taps, depthwise ? 1 : in}, is_float_ ? kF32 : kI8, is_float_ ? 1 : 127);
    const Attrs attrs = {{"groups", depthwise ? in : 1},
                         {"strides", AttrValue::Ints({stride, stride})},
                         {"dilation", AttrValue::Ints({dilation, dilation})},
                         {"padding", AttrValue::Ints({Below(2), Below(2), Below(2), Below(2)})},
                         {"data_layout", "NHWC"},
                         {"kernel_layout", "OHWI"},
                         {"out_dtype", is_float_ ? "float32" : "int32"}};
    const ValueId bias = Random({out}, is_float_ ? kF32 : kI32, is_float_ ? 1 : 500);
    if (is_float_) {
      const absl::StatusOr<ValueId> sums = AddOp(*graph_, "nn.conv2d", {x, weight}, attrs);
      if (!sums.ok()) return sums;
      return AddOp(*graph_, "nn.bias_add", {*sums, bias}, {{"axis", 3}});
    }
    const ValueId x_scale = Scale(), x_zero = Zero(), w_scale = Scale(), w_zero = Number(kI32, 0);
    const absl::StatusOr<ValueId> sums =
        AddOp(*graph_, "qnn.conv2d", {x, weight, x_scale, x_zero, w_scale, w_zero}, attrs);
    if (!sums.ok()) return sums;
    const absl::StatusOr<ValueId> biased =
        AddOp(*graph_, "nn.bias_add", {*sums, bias}, {{"axis", 3}});
    if (!biased.ok()) return biased;
    const ValueId scale = Number(kF64, Between(0.0005, 0.01)), out_scale = Number(kF64, 1);
    return AddOp(*graph_, "qnn.requantize", {*biased, scale, w_zero, out_scale, Zero()},
                 {{"rounding", Pick({"TFLITE", "UPWARD"})}, {"out_dtype", "int8"}});
  }

  // Adds an earlier value of the same shape. Returns `value` if there is none.
  absl::StatusOr<ValueId> AddEarlier(ValueId value) {
    std::vector<ValueId> alike;
    for (ValueId earlier : values_) {
      if (ShapeOf(earlier) == ShapeOf(value)) alike.push_back(earlier);
    }
    if (alike.empty()) return value;
    const ValueId other = alike[static_cast<size_t>(Below(static_cast<int>(alike.size())))];
    if (is_float_) return AddOp(*graph_, "add", {value, other});
    const ValueId x_scale = Scale(), x_zero = Zero(), y_scale = Scale(), y_zero = Zero(),
                  out_scale = Scale(), out_zero = Zero();
    return AddOp(*graph_, "qnn.add",
                 {value, other, x_scale, x_zero, y_scale, y_zero, out_scale, out_zero},
                 {{"rounding", "TFLITE"}});
  }

  const bool is_float_;
  Graph* graph_ = nullptr;
  std::vector<ValueId> values_;  // ends of blocks
};

}  // namespace

Case RandomConvolutions(uint32_t seed) { return ConvolutionsGenerator(seed).Run(seed); }

}  // namespace kiln::equality
