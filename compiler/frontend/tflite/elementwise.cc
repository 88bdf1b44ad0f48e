// SPDX-License-Identifier: Apache-2.0
// Element by element: most operators have a Relay twin and are rows alone.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/tflite/converter.h"

namespace kiln::tflite_frontend {
namespace {

namespace schema = tflite_schema;
using schema::BuiltinOperator;

// An operator of two operands with a fused activation.
template <typename Options>
absl::Status Binary(Converter& c, absl::string_view relay) {
  KILN_ASSIGN_OR_RETURN(const ValueId a, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId b, c.Input(1));
  KILN_ASSIGN_OR_RETURN(ValueId y, c.Op(relay, {a, b}));
  KILN_ASSIGN_OR_RETURN(y, c.Activated(y, c.Options<Options>().fused_activation_function()));
  c.SetOutput(0, y);
  return absl::OkStatus();
}

absl::Status Add(Converter& c) { return Binary<schema::AddOptions>(c, "add"); }
absl::Status Sub(Converter& c) { return Binary<schema::SubOptions>(c, "subtract"); }
absl::Status Mul(Converter& c) { return Binary<schema::MulOptions>(c, "multiply"); }
absl::Status Div(Converter& c) { return Binary<schema::DivOptions>(c, "divide"); }

absl::Status AddN(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const std::vector<ValueId> inputs, c.Inputs());
  ValueId y = inputs[0];
  for (size_t i = 1; i < inputs.size(); ++i) {
    KILN_ASSIGN_OR_RETURN(y, c.Op("add", {y, inputs[i]}));
  }
  c.SetOutput(0, y);
  return absl::OkStatus();
}

absl::Status SquaredDifference(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId a, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId b, c.Input(1));
  KILN_ASSIGN_OR_RETURN(ValueId y, c.Op("subtract", {a, b}));
  KILN_ASSIGN_OR_RETURN(y, c.Op("multiply", {y, y}));
  c.SetOutput(0, y);
  return absl::OkStatus();
}

absl::Status Square(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId y, c.Op("multiply", {x, x}));
  c.SetOutput(0, y);
  return absl::OkStatus();
}

absl::Status ActivateWith(Converter& c, schema::Activation activation) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId y, c.Activated(x, activation));
  c.SetOutput(0, y);
  return absl::OkStatus();
}

absl::Status Relu6(Converter& c) { return ActivateWith(c, schema::Activation::RELU6); }
absl::Status ReluN1To1(Converter& c) { return ActivateWith(c, schema::Activation::RELU_N1_TO_1); }

absl::Status Relu0To1(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId y, c.Op("clip", {x}, {{"a_min", 0.0}, {"a_max", 1.0}}));
  c.SetOutput(0, y);
  return absl::OkStatus();
}

absl::Status LeakyRelu(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  const double alpha = c.Options<schema::LeakyReluOptions>().alpha();
  KILN_ASSIGN_OR_RETURN(const ValueId y, c.Op("nn.leaky_relu", {x}, {{"alpha", alpha}}));
  c.SetOutput(0, y);
  return absl::OkStatus();
}

absl::Status Prelu(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId slope, c.Input(1));
  KILN_ASSIGN_OR_RETURN(const ValueId negative, c.Op("less", {x, c.Scalar(x, 0)}));
  KILN_ASSIGN_OR_RETURN(const ValueId scaled, c.Op("multiply", {x, slope}));
  KILN_ASSIGN_OR_RETURN(const ValueId y, c.Op("where", {negative, scaled, x}));
  c.SetOutput(0, y);
  return absl::OkStatus();
}

// exp(x) - 1 where x < 0
absl::Status Elu(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(ValueId e, c.Op("exp", {x}));
  KILN_ASSIGN_OR_RETURN(e, c.Op("subtract", {e, c.Scalar(x, 1)}));
  KILN_ASSIGN_OR_RETURN(const ValueId negative, c.Op("less", {x, c.Scalar(x, 0)}));
  KILN_ASSIGN_OR_RETURN(const ValueId y, c.Op("where", {negative, e, x}));
  c.SetOutput(0, y);
  return absl::OkStatus();
}

// x * min(max(x + 3, 0), 6) / 6
absl::Status HardSwish(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(ValueId y, c.Op("add", {x, c.Scalar(x, 3)}));
  KILN_ASSIGN_OR_RETURN(y, c.Op("clip", {y}, {{"a_min", 0.0}, {"a_max", 6.0}}));
  KILN_ASSIGN_OR_RETURN(y, c.Op("multiply", {x, y}));
  KILN_ASSIGN_OR_RETURN(y, c.Op("multiply", {y, c.Scalar(x, 1.0 / 6)}));
  c.SetOutput(0, y);
  return absl::OkStatus();
}

// x / 2 * (1 + erf(x / sqrt(2))), or its tanh approximation.
absl::Status Gelu(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  ValueId t = x;
  if (c.Options<schema::GeluOptions>().approximate()) {
    KILN_ASSIGN_OR_RETURN(t, c.Op("multiply", {x, x}));
    KILN_ASSIGN_OR_RETURN(t, c.Op("multiply", {t, c.Scalar(x, 0.044715)}));
    KILN_ASSIGN_OR_RETURN(t, c.Op("add", {t, c.Scalar(x, 1)}));
    KILN_ASSIGN_OR_RETURN(t, c.Op("multiply", {t, x}));
    KILN_ASSIGN_OR_RETURN(
        t, c.Op("multiply", {t, c.Scalar(x, std::sqrt(2 / 3.14159265358979323846))}));
    KILN_ASSIGN_OR_RETURN(t, c.Op("tanh", {t}));
  } else {
    KILN_ASSIGN_OR_RETURN(t, c.Op("multiply", {x, c.Scalar(x, std::sqrt(0.5))}));
    KILN_ASSIGN_OR_RETURN(t, c.Op("erf", {t}));
  }
  KILN_ASSIGN_OR_RETURN(t, c.Op("add", {t, c.Scalar(x, 1)}));
  KILN_ASSIGN_OR_RETURN(ValueId y, c.Op("multiply", {x, c.Scalar(x, 0.5)}));
  KILN_ASSIGN_OR_RETURN(y, c.Op("multiply", {y, t}));
  c.SetOutput(0, y);
  return absl::OkStatus();
}

// Halves go to the even neighbour; Relay's round takes them away from zero. The even neighbour of a
// half is twice the nearest integer of its half.
absl::Status Round(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  const ValueId half = c.Scalar(x, 0.5);
  KILN_ASSIGN_OR_RETURN(const ValueId truncated, c.Op("trunc", {x}));
  KILN_ASSIGN_OR_RETURN(ValueId rest, c.Op("subtract", {x, truncated}));
  KILN_ASSIGN_OR_RETURN(rest, c.Op("abs", {rest}));
  KILN_ASSIGN_OR_RETURN(const ValueId is_half, c.Op("equal", {rest, half}));
  KILN_ASSIGN_OR_RETURN(ValueId even, c.Op("multiply", {x, half}));
  KILN_ASSIGN_OR_RETURN(even, c.Op("round", {even}));
  KILN_ASSIGN_OR_RETURN(even, c.Op("multiply", {even, c.Scalar(x, 2)}));
  KILN_ASSIGN_OR_RETURN(const ValueId nearest, c.Op("round", {x}));
  KILN_ASSIGN_OR_RETURN(const ValueId y, c.Op("where", {is_half, even, nearest}));
  c.SetOutput(0, y);
  return absl::OkStatus();
}

absl::Status Cast(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const DType dtype, c.OutputDType(0));
  KILN_ASSIGN_OR_RETURN(const ValueId y, c.Op("cast", {x}, {{"dtype", dtype.ToString()}}));
  c.SetOutput(0, y);
  return absl::OkStatus();
}

// Of float16, and of constants, such as weights that are stored as integers.
absl::Status Dequantize(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  if (c.type(x).dtype.is_float()) return Cast(c);
  KILN_ASSIGN_OR_RETURN(const TensorInfo* const info, c.InputInfo(0));
  KILN_ASSIGN_OR_RETURN(const std::optional<Quantization> quantization, info->ToQuantization());
  KILN_ASSIGN_OR_RETURN(const Tensor value, c.ConstantInput(0, "the quantised tensor"));
  if (!quantization.has_value()) return Wrong("input", "no scale", "one");
  c.SetOutput(0, c.Constant(Dequantized(value, *quantization)));
  return absl::OkStatus();
}

// A condition of rank 1 chooses along the first dimension of x and y.
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
  KILN_ASSIGN_OR_RETURN(const ValueId result, c.Op("where", {condition, x, y}));
  c.SetOutput(0, result);
  return absl::OkStatus();
}

constexpr TfliteOperator kRows[] = {
    {BuiltinOperator::ABS, nullptr, "abs"},
    {BuiltinOperator::ADD, Add},
    {BuiltinOperator::ADD_N, AddN},
    {BuiltinOperator::CAST, Cast},
    {BuiltinOperator::CEIL, nullptr, "ceil"},
    {BuiltinOperator::COS, nullptr, "cos"},
    {BuiltinOperator::DEQUANTIZE, Dequantize},
    {BuiltinOperator::DIV, Div},
    {BuiltinOperator::ELU, Elu},
    {BuiltinOperator::EQUAL, nullptr, "equal", true},
    {BuiltinOperator::EXP, nullptr, "exp"},
    {BuiltinOperator::FLOOR, nullptr, "floor"},
    {BuiltinOperator::FLOOR_DIV, nullptr, "floor_divide"},
    {BuiltinOperator::FLOOR_MOD, nullptr, "floor_mod"},
    {BuiltinOperator::GELU, Gelu},
    {BuiltinOperator::GREATER, nullptr, "greater", true},
    {BuiltinOperator::GREATER_EQUAL, nullptr, "greater_equal", true},
    {BuiltinOperator::HARD_SWISH, HardSwish},
    {BuiltinOperator::LEAKY_RELU, LeakyRelu},
    {BuiltinOperator::LESS, nullptr, "less", true},
    {BuiltinOperator::LESS_EQUAL, nullptr, "less_equal", true},
    {BuiltinOperator::LOG, nullptr, "log"},
    {BuiltinOperator::LOGICAL_AND, nullptr, "logical_and"},
    {BuiltinOperator::LOGICAL_NOT, nullptr, "logical_not"},
    {BuiltinOperator::LOGICAL_OR, nullptr, "logical_or"},
    {BuiltinOperator::LOGISTIC, nullptr, "sigmoid"},
    {BuiltinOperator::MAXIMUM, nullptr, "maximum", true},
    {BuiltinOperator::MINIMUM, nullptr, "minimum", true},
    {BuiltinOperator::MUL, Mul},
    {BuiltinOperator::NEG, nullptr, "negative"},
    {BuiltinOperator::NOT_EQUAL, nullptr, "not_equal", true},
    {BuiltinOperator::POW, nullptr, "power"},
    {BuiltinOperator::PRELU, Prelu},
    {BuiltinOperator::RELU, nullptr, "nn.relu"},
    {BuiltinOperator::RELU6, Relu6},
    {BuiltinOperator::RELU_0_TO_1, Relu0To1},
    {BuiltinOperator::RELU_N1_TO_1, ReluN1To1},
    {BuiltinOperator::ROUND, Round},
    {BuiltinOperator::RSQRT, nullptr, "rsqrt"},
    {BuiltinOperator::SELECT, Select, nullptr, true},
    {BuiltinOperator::SELECT_V2, nullptr, "where", true},
    {BuiltinOperator::SIGN, nullptr, "sign"},
    {BuiltinOperator::SIN, nullptr, "sin"},
    {BuiltinOperator::SQRT, nullptr, "sqrt"},
    {BuiltinOperator::SQUARE, Square},
    {BuiltinOperator::SQUARED_DIFFERENCE, SquaredDifference},
    {BuiltinOperator::SUB, Sub},
    {BuiltinOperator::TANH, nullptr, "tanh"},
};

}  // namespace

absl::Span<const TfliteOperator> ElementwiseOperators() { return kRows; }

}  // namespace kiln::tflite_frontend
