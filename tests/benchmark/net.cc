// SPDX-License-Identifier: Apache-2.0
#include "tests/benchmark/net.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/ops/add_op.h"

namespace kiln::benchmark {
namespace {

constexpr double kZeroPoint = -128;  // zero point of data after a ReLU

// Returns a tensor with `value(i)` as element i.
template <typename T, typename F>
Tensor Made(const Shape& shape, DType dtype, const F& value) {
  std::vector<T> values(static_cast<size_t>(NumElements(shape)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(value(static_cast<int>(i)));
  return Tensor::From<T>(shape, dtype, values);
}

}  // namespace

ValueId Net::Input(Shape shape, DType dtype) {
  const std::string name = absl::StrCat("x", graph_.inputs.size());
  return graph_.AddInput(name, {std::move(shape), dtype});
}

ValueId Net::Weights(const Shape& shape) {
  return graph_.AddConstant(Made<float>(shape, kF32, [](int i) { return i % 13 / 64.0 - 0.1; }));
}

ValueId Net::Int8Weights(const Shape& shape) {
  return graph_.AddConstant(Made<int8_t>(shape, DType::Int(8), [](int i) { return i % 27 - 13; }));
}

ValueId Net::Scalar(DType dtype, double value) {
  return graph_.AddConstant(Tensor::Scalar(dtype, value));
}

ValueId Net::Op(absl::string_view op, std::vector<ValueId> inputs, Attrs attrs) {
  if (!status_.ok()) return {};
  absl::StatusOr<ValueId> value = AddOp(graph_, op, std::move(inputs), std::move(attrs));
  status_ = value.status();
  return value.ok() ? *value : ValueId{};
}

ValueId Net::QuantisedProduct(absl::string_view op, ValueId data, ValueId weights, int64_t channels,
                              Attrs attrs) {
  const auto scales = Made<double>({channels}, kF64, [](int i) { return 1e-3 * (1 + i % 5); });
  const auto bias = Made<int32_t>({channels}, kI32, [](int i) { return 100 * (i % 9 - 4); });
  const ValueId scale = graph_.AddConstant(scales);
  const ValueId zero = Scalar(kI32, 0), zero_point = Scalar(kI32, kZeroPoint);
  attrs.Set("out_dtype", "int32");
  ValueId sum = Op(op, {data, weights, Scalar(kF64, 1), zero_point, scale, zero}, std::move(attrs));
  sum = Op("nn.bias_add", {sum, graph_.AddConstant(bias)}, {{"axis", -1}});
  return Op("qnn.requantize", {sum, scale, zero, Scalar(kF64, 1), zero_point},
            {{"rounding", "TFLITE"}, {"out_dtype", "int8"}});
}

absl::StatusOr<Graph> Net::Take() && {
  KILN_RETURN_IF_ERROR(status_);
  return std::move(graph_);
}

}  // namespace kiln::benchmark
