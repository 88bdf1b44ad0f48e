// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/common/functions.h"

#include <cmath>
#include <numbers>
#include <utility>

#include "compiler/base/status.h"

namespace kiln::frontend {

absl::StatusOr<ValueId> Gelu(Adder& add, ValueId x, bool approximate) {
  const ValueId one = add.Scalar(x, 1);
  ValueId t = x;
  if (approximate) {
    // (1 + tanh(u)) / 2 is sigmoid(2 u), which has no cancellation for negative u.
    KILN_ASSIGN_OR_RETURN(t, add.Op("multiply", {x, x}));
    KILN_ASSIGN_OR_RETURN(t, add.Op("multiply", {t, add.Scalar(x, 0.044715)}));
    KILN_ASSIGN_OR_RETURN(t, add.Op("add", {t, one}));
    KILN_ASSIGN_OR_RETURN(t, add.Op("multiply", {t, x}));
    const double factor = 2 * std::sqrt(2 / std::numbers::pi);
    KILN_ASSIGN_OR_RETURN(t, add.Op("multiply", {t, add.Scalar(x, factor)}));
    KILN_ASSIGN_OR_RETURN(t, add.Op("sigmoid", {t}));
    return add.Op("multiply", {x, t});
  }
  KILN_ASSIGN_OR_RETURN(t, add.Op("multiply", {x, add.Scalar(x, std::sqrt(0.5))}));
  KILN_ASSIGN_OR_RETURN(t, add.Op("erf", {t}));
  KILN_ASSIGN_OR_RETURN(t, add.Op("add", {t, one}));
  KILN_ASSIGN_OR_RETURN(const ValueId half, add.Op("multiply", {x, add.Scalar(x, 0.5)}));
  return add.Op("multiply", {half, t});
}

absl::StatusOr<ValueId> Elu(Adder& add, ValueId x, double alpha) {
  KILN_ASSIGN_OR_RETURN(ValueId e, add.Op("exp", {x}));
  KILN_ASSIGN_OR_RETURN(e, add.Op("subtract", {e, add.Scalar(x, 1)}));
  if (alpha != 1) {
    KILN_ASSIGN_OR_RETURN(e, add.Op("multiply", {e, add.Scalar(x, alpha)}));
  }
  KILN_ASSIGN_OR_RETURN(const ValueId negative, add.Op("less", {x, add.Scalar(x, 0)}));
  return add.Op("where", {negative, e, x});
}

// Computes max(x, 0) + log(1 + exp(-|x|)), which does not overflow.
absl::StatusOr<ValueId> Softplus(Adder& add, ValueId x) {
  KILN_ASSIGN_OR_RETURN(ValueId e, add.Op("abs", {x}));
  KILN_ASSIGN_OR_RETURN(e, add.Op("negative", {e}));
  KILN_ASSIGN_OR_RETURN(e, add.Op("exp", {e}));
  KILN_ASSIGN_OR_RETURN(e, add.Op("add", {e, add.Scalar(x, 1)}));
  KILN_ASSIGN_OR_RETURN(e, add.Op("log", {e}));
  KILN_ASSIGN_OR_RETURN(const ValueId positive, add.Op("nn.relu", {x}));
  return add.Op("add", {positive, e});
}

absl::StatusOr<ValueId> WideProduct(Adder& add, absl::string_view op, ValueId x, ValueId y,
                                    Attrs attrs) {
  if (add.type(x).dtype == DType::Float(16)) attrs.Set("out_dtype", "float32");
  return add.Op(op, {x, y}, std::move(attrs));
}

// If x is halfway between two integers, the even one is 2 * round(x / 2).
absl::StatusOr<ValueId> RoundEven(Adder& add, ValueId x) {
  const ValueId half = add.Scalar(x, 0.5);
  KILN_ASSIGN_OR_RETURN(const ValueId truncated, add.Op("trunc", {x}));
  KILN_ASSIGN_OR_RETURN(ValueId rest, add.Op("subtract", {x, truncated}));
  KILN_ASSIGN_OR_RETURN(rest, add.Op("abs", {rest}));
  KILN_ASSIGN_OR_RETURN(const ValueId is_half, add.Op("equal", {rest, half}));
  KILN_ASSIGN_OR_RETURN(ValueId even, add.Op("multiply", {x, half}));
  KILN_ASSIGN_OR_RETURN(even, add.Op("round", {even}));
  KILN_ASSIGN_OR_RETURN(even, add.Op("multiply", {even, add.Scalar(x, 2)}));
  KILN_ASSIGN_OR_RETURN(const ValueId nearest, add.Op("round", {x}));
  return add.Op("where", {is_half, even, nearest});
}

}  // namespace kiln::frontend
