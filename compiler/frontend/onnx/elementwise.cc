// SPDX-License-Identifier: Apache-2.0
// Element-wise operators. Most are rows of the table, as Relay has the same operator.
#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/common/functions.h"
#include "compiler/frontend/onnx/converter.h"
#include "compiler/frontend/onnx/formula.h"

namespace kiln::onnx_frontend {
namespace {

// Up to opset 6, with `broadcast`, the second operand is aligned with `axis` of the first. From
// opset 7 on, broadcasting is as in NumPy.
absl::Status Binary(Converter& c, absl::string_view relay) {
  KILN_ASSIGN_OR_RETURN(const ValueId a, c.Input(0));
  KILN_ASSIGN_OR_RETURN(ValueId b, c.Input(1));
  if (c.opset() < 7 && c.Int("broadcast", 0) != 0 && c.HasAttr("axis")) {
    KILN_ASSIGN_OR_RETURN(const int64_t axis, NormalAxis(c.Int("axis", 0), c.type(a).rank()));
    Shape shape = c.type(b).shape;
    const int64_t after = c.type(a).rank() - axis - static_cast<int64_t>(shape.size());
    for (int64_t i = 0; i < after; ++i) shape.push_back(1);
    KILN_ASSIGN_OR_RETURN(b, c.Reshape(b, shape));
  }
  return c.Output(0, c.Op(relay, {a, b}));
}

absl::Status Add(Converter& c) { return Binary(c, "add"); }
absl::Status Sub(Converter& c) { return Binary(c, "subtract"); }
absl::Status Mul(Converter& c) { return Binary(c, "multiply"); }
absl::Status Div(Converter& c) { return Binary(c, "divide"); }

absl::Status Pow(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(ValueId e, c.Input(1));
  if (c.type(e).num_elements() == 1 && c.type(e).rank() <= c.type(x).rank()) {
    KILN_ASSIGN_OR_RETURN(const std::optional<Tensor> exponent, c.KnownValue(e));
    // x^2, as exporters write it for variances.
    if (exponent.has_value() && exponent->AsDouble(0) == 2) {
      return c.Output(0, c.Op("multiply", {x, x}));
    }
  }
  Formula f(c);
  const DType dtype = c.type(x).dtype;
  if (dtype.is_integral() && c.type(e).dtype.is_float()) {
    // A power within the rounding error of float64 of an integer is that integer.
    const DType wide = DType::Float(64);
    const ValueId y = f("power", {f.Cast(x, wide), f.Cast(e, wide)}), whole = f("round", {y});
    const ValueId distance = f("abs", {f("subtract", {y, whole})});
    const ValueId near =
        f("less", {distance, f("multiply", {f("abs", {whole}), f.Number(1e-14, y)})});
    return f.Output(0, f.Cast(f("where", {near, whole, y}), dtype));
  }
  return f.Output(0, f("power", {x, f.Cast(e, dtype)}));
}

absl::Status Mod(Converter& c) {
  // With fmod = 1, the result has the sign of the dividend, as in C; otherwise that of the divisor.
  return Binary(c, c.Int("fmod", 0) != 0 ? "mod" : "floor_mod");
}

// Combines any number of inputs: Sum, Max, Min and Mean.
absl::StatusOr<ValueId> Fold(Converter& c, absl::string_view relay) {
  KILN_ASSIGN_OR_RETURN(ValueId y, c.Input(0));
  for (int i = 1; i < c.num_inputs(); ++i) {
    KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(i));
    KILN_ASSIGN_OR_RETURN(y, c.Op(relay, {y, x}));
  }
  return y;
}

absl::Status FoldTo(Converter& c, absl::string_view relay) { return c.Output(0, Fold(c, relay)); }

absl::Status Sum(Converter& c) { return FoldTo(c, "add"); }
absl::Status Max(Converter& c) { return FoldTo(c, "maximum"); }
absl::Status Min(Converter& c) { return FoldTo(c, "minimum"); }

absl::Status Mean(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId y, Fold(c, "add"));
  const ValueId n = c.Scalar(y, c.num_inputs());
  return c.Output(0, c.Op("divide", {y, n}));
}

absl::Status Round(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  return c.Output(0, frontend::RoundEven(c, x));
}

absl::Status LeakyRelu(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  return c.Output(0, c.Op("nn.leaky_relu", {x}, {{"alpha", c.Float("alpha", 0.01)}}));
}

// max(0, min(1, alpha * x + beta))
absl::StatusOr<ValueId> HardSigmoidOf(Converter& c, ValueId x, double alpha, double beta) {
  const ValueId a = c.Scalar(x, alpha);
  const ValueId b = c.Scalar(x, beta);
  KILN_ASSIGN_OR_RETURN(ValueId y, c.Op("multiply", {x, a}));
  KILN_ASSIGN_OR_RETURN(y, c.Op("add", {y, b}));
  return c.Op("clip", {y}, {{"a_min", 0.0}, {"a_max", 1.0}});
}

absl::Status HardSigmoid(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  return c.Output(0, HardSigmoidOf(c, x, c.Float("alpha", 0.2), c.Float("beta", 0.5)));
}

absl::Status HardSwish(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId y, HardSigmoidOf(c, x, 1.0 / 6, 0.5));
  return c.Output(0, c.Op("multiply", {x, y}));
}

absl::Status Reciprocal(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  const ValueId one = c.Scalar(x, 1);
  return c.Output(0, c.Op("divide", {one, x}));
}

absl::Status Elu(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  return c.Output(0, frontend::Elu(c, x, c.Float("alpha", 1)));
}

absl::Status Softplus(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  return c.Output(0, frontend::Softplus(c, x));
}

// x / (1 + |x|)
absl::Status Softsign(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  const ValueId one = c.Scalar(x, 1);
  KILN_ASSIGN_OR_RETURN(ValueId d, c.Op("abs", {x}));
  KILN_ASSIGN_OR_RETURN(d, c.Op("add", {d, one}));
  return c.Output(0, c.Op("divide", {x, d}));
}

absl::Status Gelu(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  const bool approximate = c.String("approximate", "none") == "tanh";
  return c.Output(0, frontend::Gelu(c, x, approximate));
}

// Integers from here on are not exact in a double.
constexpr double kExactInts = 9007199254740992;

// Clips with bounds that may be computed by the model. Up to opset 10 they are attributes.
absl::Status ClipByOperators(Converter& c) {
  KILN_ASSIGN_OR_RETURN(ValueId y, c.Input(0));
  for (int i : {1, 2}) {
    const char* const attribute = i == 1 ? "min" : "max";
    if (!c.HasInput(i) && !c.HasAttr(attribute)) continue;
    ValueId bound = kNoId;
    if (c.HasInput(i)) {
      KILN_ASSIGN_OR_RETURN(bound, c.Input(i));
    } else {
      bound = c.Scalar(y, c.Float(attribute, 0));
    }
    if (c.type(bound).num_elements() != 1) {
      return Wrong(attribute, c.type(bound).ToString(), "a scalar");
    }
    KILN_ASSIGN_OR_RETURN(bound, c.Reshape(bound, {}));
    KILN_ASSIGN_OR_RETURN(y, c.Op(i == 1 ? "maximum" : "minimum", {y, bound}));
  }
  return c.Output(0, y);
}

absl::Status Clip(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  const DType dtype = c.type(x).dtype;
  double bounds[2] = {dtype.is_float() ? -INFINITY : static_cast<double>(dtype.MinInt()),
                      dtype.is_float() ? INFINITY : static_cast<double>(dtype.MaxInt())};
  bounds[0] = c.Float("min", bounds[0]);
  bounds[1] = c.Float("max", bounds[1]);
  for (int i : {1, 2}) {
    if (!c.HasInput(i)) continue;
    KILN_ASSIGN_OR_RETURN(const ValueId input, c.Input(i));
    if (c.type(input).num_elements() != 1) return ClipByOperators(c);
    KILN_ASSIGN_OR_RETURN(const std::optional<Tensor> known, c.KnownValue(input));
    if (!known.has_value()) return ClipByOperators(c);
    const double bound = bounds[i - 1] = known->AsDouble(0);
    if (std::isnan(bound)) return ClipByOperators(c);
    if (std::abs(bound) >= kExactInts && !dtype.is_float()) return ClipByOperators(c);
  }
  // If the bounds cross, every element becomes the upper one. If one is NaN, every element becomes
  // NaN.
  if (!(bounds[0] <= bounds[1])) return ClipByOperators(c);
  ValueId y = x;
  if (bounds[0] == 0 && bounds[1] == INFINITY) {
    KILN_ASSIGN_OR_RETURN(y, c.Op("nn.relu", {x}));
  } else {
    KILN_ASSIGN_OR_RETURN(y, c.Op("clip", {x}, {{"a_min", bounds[0]}, {"a_max", bounds[1]}}));
  }
  return c.Output(0, y);
}

absl::Status Identity(Converter& c) {
  if (!c.HasInput(0)) return c.Input(0).status();
  return c.Output(0, c.InputItem(0));
}

// Nothing is dropped at inference, or if the ratio is 0. The mask is then all true.
absl::Status Dropout(Converter& c) {
  if (c.HasInput(2)) {
    KILN_ASSIGN_OR_RETURN(const Tensor training, c.ConstantInput(2, "training_mode"));
    if (training.type().num_elements() != 1) {
      return Wrong("training_mode", training.type().ToString(), "one bool");
    }
    double ratio = 0.5;
    if (training.AsDouble(0) != 0 && c.HasInput(1)) {
      KILN_ASSIGN_OR_RETURN(const Tensor given, c.ConstantInput(1, "ratio"));
      if (given.type().num_elements() != 1) return Wrong("ratio", given.type().ToString(), "one");
      ratio = given.AsDouble(0);
    }
    if (training.AsDouble(0) != 0 && ratio != 0) {
      return absl::UnimplementedError(
          "training_mode = 1: export the model for inference; in PyTorch, call module.eval() "
          "before "
          "the export");
    }
  }
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  c.SetOutput(0, x);
  if (c.node().output_size() > 1)
    c.SetOutput(1, c.Constant(Tensor::Filled({c.type(x).shape, DType::Bool()}, 1)));
  return absl::OkStatus();
}

absl::Status BitShift(Converter& c) {
  return Binary(c, c.String("direction", "LEFT") == "LEFT" ? "left_shift" : "right_shift");
}

constexpr OnnxOperator kElementwiseRows[] = {
    {"Abs", nullptr, "abs"},
    {"Acos", nullptr, "acos"},
    {"Acosh", nullptr, "acosh"},
    {"Add", Add},
    {"And", nullptr, "logical_and"},
    {"Asin", nullptr, "asin"},
    {"Asinh", nullptr, "asinh"},
    {"Atan", nullptr, "atan"},
    {"Atanh", nullptr, "atanh"},
    {"BitShift", BitShift},
    {"BitwiseAnd", nullptr, "bitwise_and"},
    {"BitwiseNot", nullptr, "bitwise_not"},
    {"BitwiseOr", nullptr, "bitwise_or"},
    {"BitwiseXor", nullptr, "bitwise_xor"},
    {"Ceil", nullptr, "ceil"},
    {"Clip", Clip},
    {"Cos", nullptr, "cos"},
    {"Cosh", nullptr, "cosh"},
    {"Div", Div},
    {"Dropout", Dropout},
    Composite("Elu", Elu),
    {"Equal", nullptr, "equal"},
    {"Erf", nullptr, "erf"},
    {"Exp", nullptr, "exp"},
    {"Floor", nullptr, "floor"},
    Composite("Gelu", Gelu),
    {"Greater", nullptr, "greater"},
    {"GreaterOrEqual", nullptr, "greater_equal"},
    Composite("HardSigmoid", HardSigmoid),
    Composite("HardSwish", HardSwish),
    {"Identity", Identity},
    {"IsNaN", nullptr, "isnan"},
    {"LeakyRelu", LeakyRelu},
    {"Less", nullptr, "less"},
    {"LessOrEqual", nullptr, "less_equal"},
    {"Log", nullptr, "log"},
    {"Max", Max},
    Composite("Mean", Mean),
    {"Min", Min},
    {"Mod", Mod},
    {"Mul", Mul},
    {"Neg", nullptr, "negative"},
    {"Not", nullptr, "logical_not"},
    {"Or", nullptr, "logical_or"},
    {"Pow", Pow},
    {"Reciprocal", Reciprocal},
    {"Relu", nullptr, "nn.relu"},
    {"Round", Round},
    {"Sigmoid", nullptr, "sigmoid"},
    {"Sign", nullptr, "sign"},
    {"Sin", nullptr, "sin"},
    {"Sinh", nullptr, "sinh"},
    Composite("Softplus", Softplus),
    Composite("Softsign", Softsign),
    {"Sqrt", nullptr, "sqrt"},
    {"Sub", Sub},
    Composite("Sum", Sum),
    {"Tan", nullptr, "tan"},
    {"Tanh", nullptr, "tanh"},
    {"Where", nullptr, "where"},
    {"Xor", nullptr, "logical_xor"},
};

}  // namespace

absl::Span<const OnnxOperator> ElementwiseOperators() { return kElementwiseRows; }

}  // namespace kiln::onnx_frontend
