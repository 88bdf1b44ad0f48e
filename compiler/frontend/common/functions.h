// SPDX-License-Identifier: Apache-2.0
// Functions that model formats have as one operator, and Relay as several.
#ifndef KILN_COMPILER_FRONTEND_COMMON_FUNCTIONS_H_
#define KILN_COMPILER_FRONTEND_COMMON_FUNCTIONS_H_

#include "absl/status/statusor.h"
#include "compiler/frontend/common/adder.h"

namespace kiln::frontend {

// x / 2 * (1 + erf(x / sqrt(2))), or its approximation
// x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))).
absl::StatusOr<ValueId> Gelu(Adder& add, ValueId x, bool approximate);

// x rounded to the nearest integer, halves to the even one. (Relay's round takes them away from
// zero.)
absl::StatusOr<ValueId> RoundEven(Adder& add, ValueId x);

}  // namespace kiln::frontend

#endif  // KILN_COMPILER_FRONTEND_COMMON_FUNCTIONS_H_
