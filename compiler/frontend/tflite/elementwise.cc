// SPDX-License-Identifier: Apache-2.0
// Element-wise operators. Most are rows of the table, as Relay has the same operator.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/common/functions.h"
#include "compiler/frontend/tflite/converter.h"
#include "compiler/frontend/tflite/quantized.h"
#include "compiler/frontend/tflite/quantized_elementwise.h"

namespace kiln::tflite_frontend {
namespace {

namespace schema = tflite_schema;
using tflite_schema::BuiltinOperator;

// The qnn operator for two quantized operands.
struct QnnOp {
  const char* name;
  Attrs attrs = {{"rounding", "TFLITE"}};
};
absl::Status QnnBinary(Converter& c, const QnnOp& qnn, ValueId a, ValueId b,
                       schema::Activation activation) {
  std::vector<ValueId> operands = {a, b};
  KILN_ASSIGN_OR_RETURN(const std::optional<Quantization> out, OutputQuantization(c, 0));
  for (int i : {0, 1, -1}) {
    std::optional<Quantization> q = out;
    if (i >= 0) {
      KILN_ASSIGN_OR_RETURN(q, InputQuantization(c, i));
    }
    if (!q.has_value()) return Wrong("operands", "one without scale", "all quantized");
    operands.push_back(ScaleOf(c, *q));
    operands.push_back(ZeroPointOf(c, *q));
  }
  KILN_ASSIGN_OR_RETURN(ValueId y, c.Op(qnn.name, std::move(operands), qnn.attrs));
  return c.Output(0, ActivatedQuantized(c, y, *out, activation));
}

// Converts an operator with two operands and a fused activation. `qnn` is used for quantized
// operands.
template <typename Options>
absl::Status Binary(Converter& c, absl::string_view relay, const QnnOp& qnn) {
  KILN_ASSIGN_OR_RETURN(const ValueId a, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId b, c.Input(1));
  KILN_ASSIGN_OR_RETURN(const std::optional<Quantization> q, OutputQuantization(c, 0));
  if (q.has_value()) {
    return QnnBinary(c, qnn, a, b, c.Options<Options>().fused_activation_function());
  }
  KILN_ASSIGN_OR_RETURN(const ValueId y, c.Op(relay, {a, b}));
  return c.Output(0, c.Activated(y, c.Options<Options>().fused_activation_function()));
}

absl::Status Add(Converter& c) { return Binary<schema::AddOptions>(c, "add", {"qnn.add"}); }
absl::Status Sub(Converter& c) {
  return Binary<schema::SubOptions>(c, "subtract", {"qnn.subtract"});
}
absl::Status Mul(Converter& c) { return Binary<schema::MulOptions>(c, "multiply", {"qnn.mul"}); }
absl::Status Div(Converter& c) {
  return Binary<schema::DivOptions>(c, "divide", {"qnn.divide", {}});
}

// Calls kQuantized if input 0 is quantized, otherwise kPlain.
template <absl::Status (*kPlain)(Converter&), absl::Status (*kQuantized)(Converter&)>
absl::Status Either(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const std::optional<Quantization> q, InputQuantization(c, 0));
  return q.has_value() ? kQuantized(c) : kPlain(c);
}

absl::Status Abs(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  return c.Output(0, c.Op("abs", {x}));
}

absl::Status Rsqrt(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  return c.Output(0, c.Op("rsqrt", {x}));
}

absl::Status AddN(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const std::vector<ValueId> inputs, c.Inputs());
  ValueId y = inputs[0];
  for (size_t i = 1; i < inputs.size(); ++i) {
    KILN_ASSIGN_OR_RETURN(y, c.Op("add", {y, inputs[i]}));
  }
  return c.Output(0, y);
}

absl::Status SquaredDifference(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId a, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId b, c.Input(1));
  KILN_ASSIGN_OR_RETURN(const ValueId y, c.Op("subtract", {a, b}));
  return c.Output(0, c.Op("multiply", {y, y}));
}

absl::Status Square(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  return c.Output(0, c.Op("multiply", {x, x}));
}

// Returns the quotient of the scales of input and output, computed in float32.
absl::StatusOr<float> ScaleQuotient(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const std::optional<Quantization> in, InputQuantization(c, 0));
  KILN_ASSIGN_OR_RETURN(const std::optional<Quantization> out, OutputQuantization(c, 0));
  if (!in.has_value() || !out.has_value()) return Wrong("operands", "one without scale", "both");
  return in->scales[0] / out->scales[0];
}

absl::Status ActivateWith(Converter& c, schema::Activation activation) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const std::optional<Quantization> q, OutputQuantization(c, 0));
  if (q.has_value()) {
    KILN_ASSIGN_OR_RETURN(const float factor, ScaleQuotient(c));
    KILN_ASSIGN_OR_RETURN(const ValueId y, Requantized(c, x, static_cast<double>(factor)));
    return c.Output(0, ActivatedQuantized(c, y, *q, activation));
  }
  return c.Output(0, c.Activated(x, activation));
}

absl::Status Relu(Converter& c) { return ActivateWith(c, schema::Activation::RELU); }
absl::Status Relu6(Converter& c) { return ActivateWith(c, schema::Activation::RELU6); }
absl::Status ReluN1To1(Converter& c) { return ActivateWith(c, schema::Activation::RELU_N1_TO_1); }

absl::Status Relu0To1(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  return c.Output(0, c.Op("clip", {x}, {{"a_min", 0.0}, {"a_max", 1.0}}));
}

absl::Status LeakyRelu(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  const double alpha = c.Options<schema::LeakyReluOptions>().alpha();
  return c.Output(0, c.Op("nn.leaky_relu", {x}, {{"alpha", alpha}}));
}

absl::Status Prelu(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId slope, c.Input(1));
  KILN_ASSIGN_OR_RETURN(const ValueId negative, c.Op("less", {x, c.Scalar(x, 0)}));
  KILN_ASSIGN_OR_RETURN(const ValueId scaled, c.Op("multiply", {x, slope}));
  return c.Output(0, c.Op("where", {negative, scaled, x}));
}

absl::Status Elu(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  return c.Output(0, frontend::Elu(c, x, 1));
}

// x * min(max(x + 3, 0), 6) / 6
absl::Status HardSwish(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(ValueId y, c.Op("add", {x, c.Scalar(x, 3)}));
  KILN_ASSIGN_OR_RETURN(y, c.Op("clip", {y}, {{"a_min", 0.0}, {"a_max", 6.0}}));
  KILN_ASSIGN_OR_RETURN(y, c.Op("multiply", {x, y}));
  return c.Output(0, c.Op("multiply", {y, c.Scalar(x, 1.0 / 6)}));
}

absl::Status Gelu(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  const bool approximate = c.Options<schema::GeluOptions>().approximate();
  return c.Output(0, frontend::Gelu(c, x, approximate));
}

absl::Status Round(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  return c.Output(0, frontend::RoundEven(c, x));
}

absl::Status Cast(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const DType dtype, c.OutputDType(0));
  return c.Output(0, c.Op("cast", {x}, {{"dtype", dtype.ToString()}}));
}

// Converts float16 to float32, and dequantizes weights stored as integers and quantized results.
absl::Status Dequantize(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  if (c.type(x).dtype.is_float()) return Cast(c);
  KILN_ASSIGN_OR_RETURN(const std::optional<Quantization> q, InputQuantization(c, 0));
  if (!q.has_value()) return Wrong("input", "no scale", "one");
  if (c.IsConstant(x)) {
    KILN_ASSIGN_OR_RETURN(const Tensor value, c.ConstantInput(0, "the quantized tensor"));
    return c.Output(0, c.Constant(Dequantized(value, *q)));
  }
  return c.Output(0, c.Op("qnn.dequantize", {x, ScaleOf(c, *q), ZeroPointOf(c, *q)},
                          {{"axis", q->per_channel() ? q->axis : -1}}));
}

// Quantizes floats, and requantizes numbers of another scale.
absl::Status Quantize(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const std::optional<Quantization> out, OutputQuantization(c, 0));
  KILN_ASSIGN_OR_RETURN(const DType dtype, c.OutputDType(0));
  if (!out.has_value()) return Wrong("output", "no scale", "one");
  if (c.type(x).dtype.is_float()) {
    return c.Output(
        0, c.Op("qnn.quantize", {x, ScaleOf(c, *out), ZeroPointOf(c, *out)},
                {{"out_dtype", dtype.ToString()}, {"axis", out->per_channel() ? out->axis : -1}}));
  }
  return c.Output(0, QnnUnary(c, "qnn.requantize", x,
                              {{"rounding", "TFLITE"}, {"out_dtype", dtype.ToString()}}));
}

absl::Status Saturating(Converter& c, absl::string_view relay, absl::string_view qnn) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const std::optional<Quantization> q, InputQuantization(c, 0));
  return c.Output(0,
                  q.has_value() ? QnnUnary(c, qnn, x, {{"rounding", "TFLITE"}}) : c.Op(relay, {x}));
}

// For uint8, logistic and tanh are tables computed in float32.
bool IsUint8(const Converter& c) {
  const absl::StatusOr<ValueId> x = c.Input(0);
  return x.ok() && c.type(*x).dtype == DType::UInt(8);
}

absl::Status Logistic(Converter& c) {
  return IsUint8(c) ? QuantizedLogistic(c) : Saturating(c, "sigmoid", "qnn.sigmoid");
}
absl::Status Tanh(Converter& c) {
  return IsUint8(c) ? QuantizedTanh(c) : Saturating(c, "tanh", "qnn.tanh");
}

absl::Status Compare(Converter& c, absl::string_view relay) {
  KILN_ASSIGN_OR_RETURN(const std::optional<Quantization> q, InputQuantization(c, 0));
  if (q.has_value()) return QuantizedCompare(c, relay);
  KILN_ASSIGN_OR_RETURN(const ValueId a, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId b, c.Input(1));
  return c.Output(0, c.Op(relay, {a, b}));
}

absl::Status Equal(Converter& c) { return Compare(c, "equal"); }
absl::Status Greater(Converter& c) { return Compare(c, "greater"); }
absl::Status GreaterEqual(Converter& c) { return Compare(c, "greater_equal"); }
absl::Status Less(Converter& c) { return Compare(c, "less"); }
absl::Status LessEqual(Converter& c) { return Compare(c, "less_equal"); }
absl::Status NotEqual(Converter& c) { return Compare(c, "not_equal"); }

// A condition of rank 1 selects along the first dimension of x and y.
absl::Status Select(Converter& c) {
  KILN_ASSIGN_OR_RETURN(ValueId condition, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(1));
  KILN_ASSIGN_OR_RETURN(const ValueId y, c.Input(2));
  const Shape shape = c.type(condition).shape;
  if (shape.size() == 1 && c.type(x).rank() > 1) {
    Shape column(static_cast<size_t>(c.type(x).rank()), 1);
    column[0] = shape[0];
    KILN_ASSIGN_OR_RETURN(condition, c.Reshape(condition, column));
  }
  return c.Output(0, c.Op("where", {condition, x, y}));
}

constexpr TfliteOperator kElementwiseRows[] = {
    {BuiltinOperator::ABS, Either<Abs, QuantizedAbs>, nullptr, Quantised::kComputes},
    {BuiltinOperator::ADD, Add, nullptr, Quantised::kComputes},
    {BuiltinOperator::ADD_N, Either<AddN, QuantizedAddN>, nullptr, Quantised::kComputes8},
    {BuiltinOperator::CAST, Cast},
    {BuiltinOperator::CEIL, nullptr, "ceil"},
    {BuiltinOperator::COS, nullptr, "cos"},
    {BuiltinOperator::DEQUANTIZE, Dequantize, nullptr, Quantised::kComputes},
    {BuiltinOperator::DIV, Div, nullptr, Quantised::kComputes8},
    {BuiltinOperator::ELU, Either<Elu, QuantizedElu>, nullptr, Quantised::kComputes8},
    {BuiltinOperator::EQUAL, Equal, nullptr, Quantised::kComputes},
    {BuiltinOperator::EXP, nullptr, "exp"},
    {BuiltinOperator::FLOOR, nullptr, "floor"},
    {BuiltinOperator::FLOOR_DIV, nullptr, "floor_divide"},
    {BuiltinOperator::FLOOR_MOD, nullptr, "floor_mod"},
    {BuiltinOperator::GELU, Gelu},
    {BuiltinOperator::GREATER, Greater, nullptr, Quantised::kComputes},
    {BuiltinOperator::GREATER_EQUAL, GreaterEqual, nullptr, Quantised::kComputes},
    {BuiltinOperator::HARD_SWISH, Either<HardSwish, QuantizedHardSwish>, nullptr,
     Quantised::kComputes8},
    {BuiltinOperator::LEAKY_RELU, Either<LeakyRelu, QuantizedLeakyRelu>, nullptr,
     Quantised::kComputes},
    {BuiltinOperator::LESS, Less, nullptr, Quantised::kComputes},
    {BuiltinOperator::LESS_EQUAL, LessEqual, nullptr, Quantised::kComputes},
    {BuiltinOperator::LOG, nullptr, "log"},
    {BuiltinOperator::LOGICAL_AND, nullptr, "logical_and"},
    {BuiltinOperator::LOGICAL_NOT, nullptr, "logical_not"},
    {BuiltinOperator::LOGICAL_OR, nullptr, "logical_or"},
    {BuiltinOperator::LOGISTIC, Logistic, nullptr, Quantised::kComputes},
    {BuiltinOperator::MAXIMUM, nullptr, "maximum", Quantised::kMoves},
    {BuiltinOperator::MINIMUM, nullptr, "minimum", Quantised::kMoves},
    {BuiltinOperator::MUL, Mul, nullptr, Quantised::kComputes},
    {BuiltinOperator::NEG, nullptr, "negative"},
    {BuiltinOperator::NOT_EQUAL, NotEqual, nullptr, Quantised::kComputes},
    {BuiltinOperator::POW, nullptr, "power"},
    {BuiltinOperator::PRELU, Either<Prelu, QuantizedPrelu>, nullptr, Quantised::kComputes},
    {BuiltinOperator::QUANTIZE, Quantize, nullptr, Quantised::kComputes},
    {BuiltinOperator::RELU, Relu, nullptr, Quantised::kComputes},
    {BuiltinOperator::RELU6, Relu6, nullptr, Quantised::kComputes},
    {BuiltinOperator::RELU_0_TO_1, Relu0To1},
    {BuiltinOperator::RELU_N1_TO_1, ReluN1To1, nullptr, Quantised::kComputes},
    {BuiltinOperator::ROUND, Round},
    {BuiltinOperator::RSQRT, Either<Rsqrt, QuantizedRsqrt>, nullptr, Quantised::kComputes8},
    {BuiltinOperator::SELECT, Select, nullptr, Quantised::kOneScale},
    {BuiltinOperator::SELECT_V2, nullptr, "where", Quantised::kMoves},
    {BuiltinOperator::SIGN, nullptr, "sign"},
    {BuiltinOperator::SIN, nullptr, "sin"},
    {BuiltinOperator::SQRT, nullptr, "sqrt"},
    {BuiltinOperator::SQUARE, Square},
    {BuiltinOperator::SQUARED_DIFFERENCE, Either<SquaredDifference, QuantizedSquaredDifference>,
     nullptr, Quantised::kComputes},
    {BuiltinOperator::SUB, Sub, nullptr, Quantised::kComputes},
    {BuiltinOperator::TANH, Tanh, nullptr, Quantised::kComputes},
};

}  // namespace

absl::Span<const TfliteOperator> ElementwiseOperators() { return kElementwiseRows; }

}  // namespace kiln::tflite_frontend
