// SPDX-License-Identifier: Apache-2.0
// Activations, and other element-wise operators that are formulas of Relay operators.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/onnx/converter.h"
#include "compiler/frontend/onnx/formula.h"
#include "compiler/frontend/onnx/operands.h"

namespace kiln::onnx_frontend {
namespace {

// gamma * x if x > 0, else gamma * alpha * (exp(x) - 1)
absl::Status Selu(Converter& c) {
  Formula f(c);
  const ValueId x = f.Input(0), one = f.Number(1, x);
  const ValueId alpha = f.Number(c.Float("alpha", 1.67326319217681884765625), x);
  const ValueId gamma = f.Number(c.Float("gamma", 1.05070102214813232421875), x);
  const ValueId below = f("multiply", {alpha, f("subtract", {f("exp", {x}), one})});
  const ValueId y = f("where", {f("greater", {x, f.Number(0, x)}), x, below});
  return f.Output(0, f("multiply", {y, gamma}));
}

// max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0)
absl::Status Celu(Converter& c) {
  Formula f(c);
  const ValueId x = f.Input(0), one = f.Number(1, x), zero = f.Number(0, x);
  const ValueId alpha = f.Number(c.Float("alpha", 1), x);
  const ValueId e = f("exp", {f("divide", {x, alpha})});
  const ValueId below = f("multiply", {alpha, f("subtract", {e, one})});
  return f.Output(0, f("add", {f("nn.relu", {x}), f("minimum", {below, zero})}));
}

// x + bias if x < -lambd, x - bias if x > lambd, else 0.
absl::Status Shrink(Converter& c) {
  Formula f(c);
  const ValueId data = f.Input(0);
  if (!f.ok()) return f.status();
  // The attributes are floats, so integers are converted to float32 before the addition.
  const DType dtype = c.type(data).dtype;
  const ValueId x = dtype.is_float() ? data : f.Cast(data, DType::Float(32));
  const ValueId zero = f.Number(0, x), bias = f.Number(c.Float("bias", 0), x);
  const double lambda = c.Float("lambd", 0.5);
  const ValueId low = f("less", {x, f.Number(-lambda, x)});
  const ValueId high = f("greater", {x, f.Number(lambda, x)});
  const ValueId above = f("where", {high, f("subtract", {x, bias}), zero});
  return f.Output(0, f.Cast(f("where", {low, f("add", {x, bias}), above}), dtype));
}

absl::Status ThresholdedRelu(Converter& c) {
  Formula f(c);
  const ValueId x = f.Input(0), alpha = f.Number(c.Float("alpha", 1), x);
  return f.Output(0, f("where", {f("greater", {x, alpha}), x, f.Number(0, x)}));
}

// x * tanh(log(1 + exp(x))). With u = exp(-|x|), tanh(log(1 + exp(x))) is a quotient that does not
// overflow: (1 + 2u) / (1 + 2u + 2u²) if x >= 0, otherwise (u² + 2u) / (u² + 2u + 2).
absl::Status Mish(Converter& c) {
  Formula f(c);
  const ValueId x = f.Input(0), one = f.Number(1, x), two = f.Number(2, x);
  const ValueId u = f("exp", {f("negative", {f("abs", {x})})});
  const ValueId twice = f("multiply", {u, two}), square = f("multiply", {u, u});
  const ValueId p = f("add", {one, twice}), q = f("add", {square, twice});
  const ValueId above = f("divide", {p, f("add", {p, f("multiply", {square, two})})});
  const ValueId below = f("divide", {q, f("add", {q, two})});
  const ValueId positive = f("greater_equal", {x, f.Number(0, x)});
  return f.Output(0, f("multiply", {x, f("where", {positive, above, below})}));
}

// x * sigmoid(alpha * x)
absl::Status Swish(Converter& c) {
  Formula f(c);
  const ValueId x = f.Input(0);
  const double alpha = c.Float("alpha", 1);
  const ValueId scaled = alpha == 1 ? x : f("multiply", {x, f.Number(alpha, x)});
  return f.Output(0, f("multiply", {x, f("sigmoid", {scaled})}));
}

// 1 at the first of the largest elements along `axis`, else 0. Up to opset 12, all dimensions from
// `axis` on count as a single one.
absl::Status Hardmax(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  const TensorType type = c.type(x);
  KILN_ASSIGN_OR_RETURN(
      int64_t axis, NormalAxis(c.Int("axis", c.opset() < 13 ? 1 : -1), std::max(type.rank(), 1)));
  Formula f(c);
  ValueId rows = x;
  if (c.opset() < 13) {
    const auto outer = static_cast<size_t>(axis);
    rows = f.Reshape(x, {NumElements({type.shape.data(), outer}),
                         NumElements({type.shape.data() + outer, type.shape.size() - outer})});
    axis = 1;
  }
  const ValueId place = f.Reduce("argmax", rows, {axis}, false);
  if (!f.ok()) return f.status();
  const int64_t extent = c.type(rows).shape[static_cast<size_t>(axis)];
  const ValueId hot = f("one_hot", {place, f.Number(1, x), f.Number(0, x)},
                        {{"depth", extent}, {"axis", axis}, {"dtype", type.dtype.ToString()}});
  return f.Output(0, f.Reshape(hot, type.shape));
}

absl::Status IsInf(Converter& c) {
  Formula f(c);
  const ValueId x = f.Input(0);
  ValueId y = f("isinf", {x});
  if (c.Int("detect_negative", 1) == 0) {
    y = f("logical_and", {y, f("greater", {x, f.Number(0, x)})});
  }
  if (c.Int("detect_positive", 1) == 0) {
    y = f("logical_and", {y, f("less", {x, f.Number(0, x)})});
  }
  return f.Output(0, y);
}

// The slopes broadcast to x. A vector with one slope per channel of x is taken as the slopes of the
// channels if it does not broadcast as such.
absl::Status PRelu(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(ValueId slope, c.Input(1));
  const Shape data = c.type(x).shape, slopes = c.type(slope).shape;
  Formula f(c);
  if (data.size() >= 2 && slopes.size() == 1 && slopes[0] == data[1] && slopes[0] != 1 &&
      (c.opset() < 7 || slopes[0] != data.back())) {
    Shape shape(data.size() - 1, 1);
    shape[0] = slopes[0];
    slope = f.Reshape(slope, shape);
  }
  KILN_RETURN_IF_ERROR(f.status());
  KILN_RETURN_IF_ERROR(CheckBroadcasts(c, slope, "slope", data));
  const ValueId negative = f("less", {x, f.Number(0, x)});
  return f.Output(0, f("where", {negative, f("multiply", {x, slope}), x}));
}

constexpr OnnxOperator kActivationRows[] = {
    Composite("Celu", Celu),
    {"Hardmax", Hardmax},
    {"IsInf", IsInf},
    Composite("Mish", Mish),
    {"PRelu", PRelu},
    Composite("Selu", Selu),
    Composite("Shrink", Shrink),
    Composite("Swish", Swish),
    Composite("ThresholdedRelu", ThresholdedRelu),
};

}  // namespace

absl::Span<const OnnxOperator> ActivationOperators() { return kActivationRows; }

}  // namespace kiln::onnx_frontend
