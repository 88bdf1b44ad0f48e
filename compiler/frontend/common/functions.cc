// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/common/functions.h"

#include <cmath>
#include <numbers>

#include "compiler/base/status.h"

namespace kiln::frontend {
absl::StatusOr<ValueId> Gelu(const Adder& add, ValueId x, bool approximate) {
  const ValueId one = add.number(x, 1);
  ValueId t = x;
  if (approximate) {
    KILN_ASSIGN_OR_RETURN(t, add.op("multiply", {x, x}));
    KILN_ASSIGN_OR_RETURN(t, add.op("multiply", {t, add.number(x, 0.044715)}));
    KILN_ASSIGN_OR_RETURN(t, add.op("add", {t, one}));
    KILN_ASSIGN_OR_RETURN(t, add.op("multiply", {t, x}));
    const double factor = std::sqrt(2 / std::numbers::pi);
    KILN_ASSIGN_OR_RETURN(t, add.op("multiply", {t, add.number(x, factor)}));
    KILN_ASSIGN_OR_RETURN(t, add.op("tanh", {t}));
  } else {
    KILN_ASSIGN_OR_RETURN(t, add.op("multiply", {x, add.number(x, std::sqrt(0.5))}));
    KILN_ASSIGN_OR_RETURN(t, add.op("erf", {t}));
  }
  KILN_ASSIGN_OR_RETURN(t, add.op("add", {t, one}));
  KILN_ASSIGN_OR_RETURN(const ValueId half, add.op("multiply", {x, add.number(x, 0.5)}));
  return add.op("multiply", {half, t});
}

// The even neighbour of a half is twice the nearest integer of its half.
absl::StatusOr<ValueId> RoundEven(const Adder& add, ValueId x) {
  const ValueId half = add.number(x, 0.5);
  KILN_ASSIGN_OR_RETURN(const ValueId truncated, add.op("trunc", {x}));
  KILN_ASSIGN_OR_RETURN(ValueId rest, add.op("subtract", {x, truncated}));
  KILN_ASSIGN_OR_RETURN(rest, add.op("abs", {rest}));
  KILN_ASSIGN_OR_RETURN(const ValueId is_half, add.op("equal", {rest, half}));
  KILN_ASSIGN_OR_RETURN(ValueId even, add.op("multiply", {x, half}));
  KILN_ASSIGN_OR_RETURN(even, add.op("round", {even}));
  KILN_ASSIGN_OR_RETURN(even, add.op("multiply", {even, add.number(x, 2)}));
  KILN_ASSIGN_OR_RETURN(const ValueId nearest, add.op("round", {x}));
  return add.op("where", {is_half, even, nearest});
}

}  // namespace kiln::frontend
