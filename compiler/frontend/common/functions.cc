// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/common/functions.h"

#include <cmath>
#include <numbers>

#include "compiler/base/status.h"

namespace kiln::frontend {

absl::StatusOr<ValueId> Gelu(Adder& add, ValueId x, bool approximate) {
  const ValueId one = add.Scalar(x, 1);
  ValueId t = x;
  if (approximate) {
    KILN_ASSIGN_OR_RETURN(t, add.Op("multiply", {x, x}));
    KILN_ASSIGN_OR_RETURN(t, add.Op("multiply", {t, add.Scalar(x, 0.044715)}));
    KILN_ASSIGN_OR_RETURN(t, add.Op("add", {t, one}));
    KILN_ASSIGN_OR_RETURN(t, add.Op("multiply", {t, x}));
    const double factor = std::sqrt(2 / std::numbers::pi);
    KILN_ASSIGN_OR_RETURN(t, add.Op("multiply", {t, add.Scalar(x, factor)}));
    KILN_ASSIGN_OR_RETURN(t, add.Op("tanh", {t}));
  } else {
    KILN_ASSIGN_OR_RETURN(t, add.Op("multiply", {x, add.Scalar(x, std::sqrt(0.5))}));
    KILN_ASSIGN_OR_RETURN(t, add.Op("erf", {t}));
  }
  KILN_ASSIGN_OR_RETURN(t, add.Op("add", {t, one}));
  KILN_ASSIGN_OR_RETURN(const ValueId half, add.Op("multiply", {x, add.Scalar(x, 0.5)}));
  return add.Op("multiply", {half, t});
}

// The even neighbour of a half is twice the nearest integer of its half.
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
