// SPDX-License-Identifier: Apache-2.0
// Quantised operators. All become operators on dequantised tensors, whose result is quantised
// again: the pass integer-products makes products of integers of them, for these and for models
// that are written so. ConvInteger and MatMulInteger multiply integers without scales.
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/onnx/converter.h"
#include "compiler/frontend/onnx/formula.h"
#include "compiler/frontend/onnx/tensor_proto.h"

namespace kiln::onnx_frontend {
namespace {

constexpr char kMicrosoft[] = "com.microsoft";
const DType kI32 = DType::Int(32), kF32 = DType::Float(32);

// A zero point, of the dtype of the tensor, as int32; 0 where the input is absent.
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

// The axis that scales belong to, of those that have one.
absl::StatusOr<int64_t> AxisOf(const Converter& c, ValueId x, int scale, int64_t axis) {
  KILN_ASSIGN_OR_RETURN(const ValueId s, c.Input(scale));
  if (c.type(s).num_elements() == 1) return -1;
  return NormalAxis(axis, c.type(x).rank());
}

absl::Status CheckBlocks(const Converter& c) {
  if (c.Int("block_size", 0) == 0) return absl::OkStatus();
  return absl::UnimplementedError("block_size; scales of blocks are not supported");
}

// The numbers that input x stands for, whose scale is input x + 1 and zero point input x + 2.
absl::StatusOr<ValueId> Dequantized(Converter& c, int x, int64_t axis = -1) {
  KILN_ASSIGN_OR_RETURN(const ValueId data, c.Input(x));
  KILN_ASSIGN_OR_RETURN(const ValueId scale, c.Input(x + 1));
  KILN_ASSIGN_OR_RETURN(const ValueId zero, ZeroPoint(c, x + 2));
  KILN_ASSIGN_OR_RETURN(axis, AxisOf(c, data, x + 1, axis));
  return c.Op("qnn.dequantize", {data, scale, zero}, {{"axis", axis}});
}

// `value` with the scale of input i and the zero point of input i + 1, whose dtype it gets; uint8
// where that is absent.
absl::StatusOr<ValueId> Quantized(Converter& c, ValueId value, int i, int64_t axis = -1,
                                  DType dtype = DType::UInt(8)) {
  KILN_ASSIGN_OR_RETURN(const ValueId scale, c.Input(i));
  if (c.HasInput(i + 1)) {
    KILN_ASSIGN_OR_RETURN(const ValueId zero, c.Input(i + 1));
    dtype = c.type(zero).dtype;
  }
  KILN_ASSIGN_OR_RETURN(const ValueId zero, ZeroPoint(c, i + 1));
  KILN_ASSIGN_OR_RETURN(axis, AxisOf(c, value, i, axis));
  return c.Op("qnn.quantize", {value, scale, zero},
              {{"out_dtype", dtype.ToString()}, {"axis", axis}, {"rounding", "EVEN"}});
}

absl::Status QuantizeLinear(Converter& c) {
  KILN_RETURN_IF_ERROR(CheckBlocks(c));
  KILN_ASSIGN_OR_RETURN(ValueId x, c.Input(0));
  DType dtype = DType::UInt(8);
  if (c.Int("output_dtype", 0) != 0) {
    KILN_ASSIGN_OR_RETURN(dtype, DTypeOf(static_cast<int>(c.Int("output_dtype", 0))));
  }
  if (c.type(x).dtype.is_integral()) {
    KILN_ASSIGN_OR_RETURN(x, c.Op("cast", {x}, {{"dtype", "float32"}}));
  }
  KILN_ASSIGN_OR_RETURN(const ValueId y, Quantized(c, x, 1, c.Int("axis", 1), dtype));
  c.SetOutput(0, y);
  return absl::OkStatus();
}

absl::Status DequantizeLinear(Converter& c) {
  KILN_RETURN_IF_ERROR(CheckBlocks(c));
  KILN_ASSIGN_OR_RETURN(const ValueId y, Dequantized(c, 0, c.Int("axis", 1)));
  c.SetOutput(0, y);
  return absl::OkStatus();
}

// Scale and zero point from the range of x, which contains 0.
absl::Status DynamicQuantizeLinear(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  std::vector<int64_t> axes(static_cast<size_t>(c.type(x).rank()));
  for (size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int64_t>(i);
  Formula f(c);
  const ValueId zero = f.Number(0, x);
  const ValueId low = f("minimum", {f.Reduce("min", x, axes, false), zero});
  const ValueId high = f("maximum", {f.Reduce("max", x, axes, false), zero});
  const ValueId range = f("divide", {f("subtract", {high, low}), f.Number(255, x)});
  // Of zeros alone any scale does.
  const ValueId scale = f("where", {f("equal", {range, zero}), f.Number(1, x), range});
  const ValueId place = f("negative", {f("divide", {low, scale})});
  if (!f.ok()) return f.status();
  KILN_ASSIGN_OR_RETURN(const ValueId rounded, c.Apply("Round", {place}));
  const ValueId zero_point = f.Cast(f("clip", {rounded}, {{"a_min", 0.0}, {"a_max", 255.0}}), kI32);
  const ValueId y =
      f("qnn.quantize", {x, scale, zero_point}, {{"out_dtype", "uint8"}, {"rounding", "EVEN"}});
  KILN_RETURN_IF_ERROR(f.Output(0, y));
  KILN_RETURN_IF_ERROR(f.Output(1, scale));
  return f.Output(2, f.Cast(zero_point, DType::UInt(8)));
}

// The int32 bias of a product: its scale is the product of the factors' scales.
absl::StatusOr<ValueId> Bias(Converter& c, int bias, int x_scale, int w_scale) {
  KILN_ASSIGN_OR_RETURN(const ValueId b, c.Input(bias));
  KILN_ASSIGN_OR_RETURN(const Tensor xs, c.ConstantInput(x_scale, "the scale of the first factor"));
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

absl::Status QLinearConv(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, Dequantized(c, 0));
  KILN_ASSIGN_OR_RETURN(const ValueId w, Dequantized(c, 3, 0));
  std::vector<Item> inputs = {x, w};
  if (c.HasInput(8)) {
    KILN_ASSIGN_OR_RETURN(const ValueId value, Bias(c, 8, 1, 4));
    inputs.push_back(value);
  }
  KILN_ASSIGN_OR_RETURN(ValueId y, c.Apply("Conv", inputs));
  KILN_ASSIGN_OR_RETURN(y, Quantized(c, y, 6));
  c.SetOutput(0, y);
  return absl::OkStatus();
}

absl::Status QLinearMatMul(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId a, Dequantized(c, 0, -2));
  KILN_ASSIGN_OR_RETURN(const ValueId b, Dequantized(c, 3, -1));
  KILN_ASSIGN_OR_RETURN(ValueId y, c.Apply("MatMul", {a, b}));
  KILN_ASSIGN_OR_RETURN(y, Quantized(c, y, 6));
  c.SetOutput(0, y);
  return absl::OkStatus();
}

// Without a scale for the result, that is float32.
absl::Status QGemm(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId a, Dequantized(c, 0));
  KILN_ASSIGN_OR_RETURN(const ValueId b, Dequantized(c, 3, c.Int("transB", 0) != 0 ? 0 : 1));
  std::vector<Item> inputs = {a, b};
  if (c.HasInput(6)) {
    KILN_ASSIGN_OR_RETURN(const ValueId value, Bias(c, 6, 1, 4));
    inputs.push_back(value);
  }
  KILN_ASSIGN_OR_RETURN(ValueId y, c.Apply("Gemm", inputs));
  if (c.HasInput(7)) {
    KILN_ASSIGN_OR_RETURN(y, Quantized(c, y, 7));
  }
  c.SetOutput(0, y);
  return absl::OkStatus();
}

// An operator of one or two quantised tensors, each with scale and zero point, then those of the
// result.
absl::Status OnDequantized(Converter& c, absl::string_view onnx_op, int operands) {
  std::vector<Item> inputs;
  for (int i = 0; i < operands; ++i) {
    KILN_ASSIGN_OR_RETURN(const ValueId value, Dequantized(c, 3 * i));
    inputs.push_back(value);
  }
  KILN_ASSIGN_OR_RETURN(ValueId y, c.Apply(onnx_op, inputs));
  KILN_ASSIGN_OR_RETURN(y, Quantized(c, y, 3 * operands));
  c.SetOutput(0, y);
  return absl::OkStatus();
}

absl::Status QLinearAdd(Converter& c) { return OnDequantized(c, "Add", 2); }
absl::Status QLinearMul(Converter& c) { return OnDequantized(c, "Mul", 2); }
absl::Status QLinearSigmoid(Converter& c) { return OnDequantized(c, "Sigmoid", 1); }
absl::Status QLinearLeakyRelu(Converter& c) { return OnDequantized(c, "LeakyRelu", 1); }

absl::Status Pool(Converter& c, absl::string_view onnx_op) {
  if (c.Int("channels_last", 0) != 0) {
    return absl::UnimplementedError("channels_last = 1; export the model with channels first");
  }
  return OnDequantized(c, onnx_op, 1);
}
absl::Status QLinearAveragePool(Converter& c) { return Pool(c, "AveragePool"); }
absl::Status QLinearGlobalAveragePool(Converter& c) { return Pool(c, "GlobalAveragePool"); }

// The scale and zero point of the result come first.
absl::Status QLinearConcat(Converter& c) {
  std::vector<Item> inputs;
  for (int i = 2; i + 2 < c.num_inputs(); i += 3) {
    KILN_ASSIGN_OR_RETURN(const ValueId value, Dequantized(c, i));
    inputs.push_back(value);
  }
  KILN_ASSIGN_OR_RETURN(ValueId y, c.Apply("Concat", inputs));
  KILN_ASSIGN_OR_RETURN(y, Quantized(c, y, 0));
  c.SetOutput(0, y);
  return absl::OkStatus();
}

// Input i less its zero point, as int32. A vector of zero points is one of the rows of a first
// factor (axis -2), and of the columns, or output channels, of a second.
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

absl::Status IntegerProduct(Converter& c, absl::string_view onnx_op, int64_t x_axis,
                            int64_t y_axis) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, Centred(c, 0, 2, x_axis));
  KILN_ASSIGN_OR_RETURN(const ValueId y, Centred(c, 1, 3, y_axis));
  KILN_ASSIGN_OR_RETURN(const ValueId product, c.Apply(onnx_op, {x, y}));
  c.SetOutput(0, product);
  return absl::OkStatus();
}

absl::Status ConvInteger(Converter& c) { return IntegerProduct(c, "Conv", 0, 0); }
absl::Status MatMulInteger(Converter& c) { return IntegerProduct(c, "MatMul", -2, -1); }

constexpr OnnxOperator kRows[] = {
    {"ConvInteger", ConvInteger},
    {"DequantizeLinear", DequantizeLinear},
    {"DequantizeLinear", DequantizeLinear, nullptr, kMicrosoft},
    {"DynamicQuantizeLinear", DynamicQuantizeLinear},
    {"MatMulInteger", MatMulInteger},
    {"QGemm", QGemm, nullptr, kMicrosoft},
    {"QLinearAdd", QLinearAdd, nullptr, kMicrosoft},
    {"QLinearAveragePool", QLinearAveragePool, nullptr, kMicrosoft},
    {"QLinearConcat", QLinearConcat, nullptr, kMicrosoft},
    {"QLinearConv", QLinearConv},
    {"QLinearGlobalAveragePool", QLinearGlobalAveragePool, nullptr, kMicrosoft},
    {"QLinearLeakyRelu", QLinearLeakyRelu, nullptr, kMicrosoft},
    {"QLinearMatMul", QLinearMatMul},
    {"QLinearMul", QLinearMul, nullptr, kMicrosoft},
    {"QLinearSigmoid", QLinearSigmoid, nullptr, kMicrosoft},
    {"QuantizeLinear", QuantizeLinear},
    {"QuantizeLinear", QuantizeLinear, nullptr, kMicrosoft},
};

}  // namespace

absl::Span<const OnnxOperator> QuantizedOperators() { return kRows; }

}  // namespace kiln::onnx_frontend
