// SPDX-License-Identifier: Apache-2.0
// Quantized operators of ONNX's own domain. ConvInteger and MatMulInteger multiply integers without
// scales.
#include "compiler/frontend/onnx/quantized.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/onnx/formula.h"
#include "compiler/frontend/onnx/pieces.h"
#include "compiler/frontend/onnx/products.h"
#include "compiler/frontend/onnx/storage_types.h"
#include "compiler/frontend/onnx/tensor_proto.h"

namespace kiln::onnx_frontend {
namespace {

// Returns the axis of the scales, or -1 if there is a single scale.
absl::StatusOr<int64_t> AxisOf(const Converter& c, ValueId x, int scale, int64_t axis) {
  KILN_ASSIGN_OR_RETURN(const ValueId s, c.Input(scale));
  if (c.type(s).num_elements() == 1) return -1;
  return NormalAxis(axis, c.type(x).rank());
}

}  // namespace

absl::StatusOr<ValueId> ZeroPoint(Converter& c, int i) {
  if (!c.HasInput(i)) return c.Constant(Tensor::Scalar(kI32, 0));
  KILN_ASSIGN_OR_RETURN(const ValueId zero, c.Input(i));
  if (c.type(zero).dtype == kI32) return zero;
  if (!c.graph().is_constant(zero)) return c.Op("cast", {zero}, {{"dtype", "int32"}});
  const Tensor tensor = c.graph().value(zero).constant;
  std::vector<int32_t> values;
  for (int64_t v : tensor.ToInts()) values.push_back(static_cast<int32_t>(v));
  return c.Constant(Tensor::From<int32_t>(tensor.type().shape, kI32, values));
}

absl::StatusOr<ValueId> Dequantized(Converter& c, const QuantizedInput& from, int64_t axis) {
  KILN_ASSIGN_OR_RETURN(const ValueId data, c.Input(from.data));
  KILN_ASSIGN_OR_RETURN(const ValueId scale, c.Input(from.scale));
  KILN_ASSIGN_OR_RETURN(const ValueId zero, ZeroPoint(c, from.zero_point));
  KILN_ASSIGN_OR_RETURN(axis, AxisOf(c, data, from.scale, axis));
  const DType dtype = c.type(scale).dtype;
  Formula f(c);
  const ValueId y = f("qnn.dequantize", {data, dtype == kF16 ? f.Cast(scale, kF32) : scale, zero},
                      {{"axis", axis}});
  const ValueId result = dtype == kF16 ? f.Cast(y, kF16) : y;
  if (!f.ok()) return f.status();
  return result;
}

absl::StatusOr<ValueId> Dequantized(Converter& c, int x, int64_t axis) {
  return Dequantized(c, {x, x + 1, x + 2}, axis);
}

absl::StatusOr<ValueId> Quantized(Converter& c, ValueId value, int i, int64_t axis, DType dtype) {
  KILN_ASSIGN_OR_RETURN(const ValueId scale, c.Input(i));
  if (c.HasInput(i + 1)) {
    KILN_ASSIGN_OR_RETURN(const ValueId zero, c.Input(i + 1));
    dtype = c.type(zero).dtype;
  }
  KILN_ASSIGN_OR_RETURN(const ValueId zero, ZeroPoint(c, i + 1));
  KILN_ASSIGN_OR_RETURN(axis, AxisOf(c, value, i, axis));
  Formula f(c);
  const ValueId y =
      f("qnn.quantize", {value, c.type(scale).dtype == kF16 ? f.Cast(scale, kF32) : scale, zero},
        {{"out_dtype", dtype.ToString()}, {"axis", axis}, {"rounding", "EVEN"}});
  if (!f.ok()) return f.status();
  return y;
}

absl::StatusOr<DynamicallyQuantized> QuantizedByRange(Converter& c, ValueId x) {
  std::vector<int64_t> axes(static_cast<size_t>(c.type(x).rank()));
  for (size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int64_t>(i);
  Formula f(c);
  const ValueId zero = f.Number(0, x);
  const ValueId low = f("minimum", {f.Reduce("min", x, axes, false), zero});
  const ValueId high = f("maximum", {f.Reduce("max", x, axes, false), zero});
  const ValueId range = f("divide", {f("subtract", {high, low}), f.Number(255, x)});
  // If all values are 0, any scale is right.
  const ValueId scale = f("where", {f("equal", {range, zero}), f.Number(1, x), range});
  const ValueId place = f("negative", {f("divide", {low, scale})});
  if (!f.ok()) return f.status();
  KILN_ASSIGN_OR_RETURN(const ValueId rounded, c.Apply("Round", {place}));
  const ValueId zero_point = f.Cast(f("clip", {rounded}, {{"a_min", 0.0}, {"a_max", 255.0}}), kI32);
  const ValueId y =
      f("qnn.quantize", {x, scale, zero_point}, {{"out_dtype", "uint8"}, {"rounding", "EVEN"}});
  if (!f.ok()) return f.status();
  return DynamicallyQuantized{y, scale, zero_point};
}

absl::StatusOr<ValueId> ThroughBytes(Converter& c, ValueId x) {
  KILN_ASSIGN_OR_RETURN(const DynamicallyQuantized q, QuantizedByRange(c, x));
  return c.Op("qnn.dequantize", {q.value, q.scale, q.zero_point});
}

absl::StatusOr<ValueId> ProductBias(Converter& c, int bias, int x_scale, int w_scale) {
  KILN_ASSIGN_OR_RETURN(const ValueId b, c.Input(bias));
  constexpr char kFirst[] = "the scale of the first factor";
  KILN_ASSIGN_OR_RETURN(const Tensor xs, c.ConstantInput(x_scale, kFirst));
  if (xs.type().num_elements() != 1) {
    return Wrong(kFirst, xs.type().ToString(), "one number, as there is a bias");
  }
  KILN_ASSIGN_OR_RETURN(const Tensor ws,
                        c.ConstantInput(w_scale, "the scale of the second factor"));
  std::vector<float> scales;
  for (int64_t i = 0; i < ws.type().num_elements(); ++i) {
    scales.push_back(static_cast<float>(xs.AsDouble(0)) * static_cast<float>(ws.AsDouble(i)));
  }
  const Shape shape = scales.size() == 1 ? Shape() : Shape{static_cast<int64_t>(scales.size())};
  return c.Op("qnn.dequantize", {b, c.Constant(Tensor::From<float>(shape, kF32, scales)),
                                 c.Constant(Tensor::Scalar(kI32, 0))});
}

namespace {

// Computes scale and zero point from the range of x, extended to contain 0.
absl::Status DynamicQuantizeLinear(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const DynamicallyQuantized q, QuantizedByRange(c, x));
  c.SetOutput(0, q.value);
  c.SetOutput(1, q.scale);
  Formula f(c);
  return f.Output(2, f.Cast(q.zero_point, DType::UInt(8)));
}

absl::Status QLinearConv(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, Dequantized(c, 0));
  KILN_ASSIGN_OR_RETURN(const ValueId w, Dequantized(c, 3, 0));
  std::vector<Item> inputs = {x, w};
  if (c.HasInput(8)) {
    KILN_ASSIGN_OR_RETURN(const ValueId value, ProductBias(c, 8, 1, 4));
    inputs.push_back(value);
  }
  KILN_ASSIGN_OR_RETURN(const ValueId y, c.Apply("Conv", inputs));
  return c.Output(0, Quantized(c, y, 6));
}

absl::Status QLinearMatMul(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId a, Dequantized(c, 0, -2));
  KILN_ASSIGN_OR_RETURN(const ValueId b, Dequantized(c, 3, -1));
  KILN_ASSIGN_OR_RETURN(const ValueId y, c.Apply("MatMul", {a, b}));
  return c.Output(0, Quantized(c, y, 6));
}

// Returns input i minus its zero point, as int32. A vector of zero points belongs to the rows of a
// first factor (axis -2), and to the columns, or output channels, of a second factor.
absl::StatusOr<ValueId> Centred(Converter& c, int i, int zero_point, int64_t axis) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(i));
  Formula f(c);
  const ValueId wide = f.Cast(x, kI32);
  if (!c.HasInput(zero_point)) return wide;
  KILN_ASSIGN_OR_RETURN(ValueId zero, ZeroPoint(c, zero_point));
  const TensorType type = c.type(zero);
  if (type.num_elements() == 1) {
    zero = f.Reshape(zero, {});
  } else if (type.rank() == 1) {
    KILN_ASSIGN_OR_RETURN(axis, NormalAxis(axis, c.type(x).rank()));
    Shape shape(static_cast<size_t>(c.type(x).rank()), 1);
    shape[static_cast<size_t>(axis)] = type.shape[0];
    zero = f.Reshape(zero, shape);
  }
  const ValueId centred = f("subtract", {wide, zero});
  if (!f.ok()) return f.status();
  return centred;
}

// Returns the zero point of input x, which is input i, as a single int32. Constants along the axis
// count as one if they are equal. Absent if there are several.
absl::StatusOr<std::optional<ValueId>> OneZeroPoint(Converter& c, int x, int i, int64_t axis) {
  KILN_ASSIGN_OR_RETURN(const ValueId zero, ZeroPoint(c, i));
  if (c.HasInput(i)) {
    KILN_ASSIGN_OR_RETURN(const ValueId data, c.Input(x));
    KILN_ASSIGN_OR_RETURN(const ValueId given, c.Input(i));
    const DType dtype = c.type(data).dtype;
    if (c.type(given).dtype != dtype) {
      return Wrong("zero point", c.type(given).ToString(), dtype.ToString() + ", as the data");
    }
    if (c.type(zero).num_elements() != 1 && c.type(zero).rank() == 1) {
      KILN_ASSIGN_OR_RETURN(axis, NormalAxis(axis, c.type(data).rank()));
      const int64_t places = c.type(data).shape[static_cast<size_t>(axis)];
      if (c.type(zero).shape[0] != places) {
        return Wrong("zero points", c.type(given).ToString(), absl::StrCat("1 or ", places));
      }
    }
  }
  if (c.type(zero).num_elements() == 1) return c.Reshape(zero, {});
  if (!c.graph().is_constant(zero) || c.type(zero).rank() != 1) return std::nullopt;
  const std::vector<int64_t> values = c.graph().value(zero).constant.ToInts();
  const auto differ = [](int64_t a, int64_t b) { return a != b; };
  if (values.empty() || std::adjacent_find(values.begin(), values.end(), differ) != values.end()) {
    return std::nullopt;
  }
  return c.Constant(Tensor::From<int32_t>({}, kI32, {static_cast<int32_t>(values[0])}));
}

// Pads images (n, channels, h, w) with their zero point as the convolution's `padding` requires,
// and sets `padding` to 0. Only here is it known that the zero point is a number of their dtype.
ValueId Padded(Formula& f, ValueId images, DType dtype, ValueId zero, Attrs& attrs) {
  const std::vector<int64_t> pads = attrs.Ints("padding");
  if (std::all_of(pads.begin(), pads.end(), [](int64_t pad) { return pad == 0; })) return images;
  attrs.Set("padding", AttrValue::Ints({0, 0}));
  const std::vector<AttrValue> widths = {AttrValue::Ints({0, 0}), AttrValue::Ints({0, 0}),
                                         AttrValue::Ints({pads[0], pads[2]}),
                                         AttrValue::Ints({pads[1], pads[3]})};
  return f("nn.pad", {images, f.Cast(zero, dtype)}, {{"pad_width", AttrValue(widths)}});
}

// Returns the product `op` of x - x_zero and y - y_zero, as int32.
absl::StatusOr<ValueId> CentredProduct(Converter& c, absl::string_view op, ValueId x,
                                       ValueId x_zero, ValueId y, ValueId y_zero, Attrs attrs) {
  Formula f(c);
  ValueId product = kNoId;
  if (op == "nn.conv3d") {
    const auto centred = [&](ValueId value, ValueId zero) {
      return f("subtract", {f.Cast(value, kI32), zero});
    };
    product = f(op, {centred(x, x_zero), centred(y, y_zero)}, std::move(attrs));
  } else {
    if (op == "nn.conv2d" && !c.graph().is_constant(x_zero)) {
      x = Padded(f, x, c.type(x).dtype, x_zero, attrs);
    }
    const ValueId one = c.Constant(Tensor::Scalar(kF32, 1));
    product = f(absl::StrCat("q", op), {x, y, one, x_zero, one, y_zero}, std::move(attrs));
  }
  if (!f.ok()) return f.status();
  return product;
}

// Sets output 0 to the sums of (x - x_zero) * (y - y_zero), as int32. x_axis and y_axis are the
// axes of zero points that differ.
absl::Status IntegerProduct(Converter& c, absl::string_view onnx_op, int64_t x_axis,
                            int64_t y_axis) {
  KILN_ASSIGN_OR_RETURN(const auto x_zero, OneZeroPoint(c, 0, 2, x_axis));
  KILN_ASSIGN_OR_RETURN(const auto y_zero, OneZeroPoint(c, 1, 3, y_axis));
  if (!x_zero.has_value() || !y_zero.has_value()) {
    KILN_ASSIGN_OR_RETURN(const ValueId x, Centred(c, 0, 2, x_axis));
    KILN_ASSIGN_OR_RETURN(const ValueId y, Centred(c, 1, 3, y_axis));
    return c.Output(0, c.Apply(onnx_op, {x, y}));
  }
  const auto make = [&](absl::string_view op, ValueId x, ValueId y, Attrs attrs) {
    return CentredProduct(c, op, x, *x_zero, y, *y_zero, std::move(attrs));
  };
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId y, c.Input(1));
  const auto product_of = onnx_op == "Conv" ? ConvolutionProduct : MatrixProduct;
  return c.Output(0, product_of(c, x, y, make));
}

absl::Status ConvInteger(Converter& c) { return IntegerProduct(c, "Conv", 0, 0); }
absl::Status MatMulInteger(Converter& c) { return IntegerProduct(c, "MatMul", -2, -1); }

constexpr OnnxOperator kQuantizedRows[] = {
    {"ConvInteger", ConvInteger},     {"DynamicQuantizeLinear", DynamicQuantizeLinear},
    {"MatMulInteger", MatMulInteger}, {"QLinearConv", QLinearConv},
    {"QLinearMatMul", QLinearMatMul},
};

}  // namespace

absl::Span<const OnnxOperator> QuantizedOperators() { return kQuantizedRows; }

}  // namespace kiln::onnx_frontend
