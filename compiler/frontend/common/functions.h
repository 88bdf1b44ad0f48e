// SPDX-License-Identifier: Apache-2.0
// Functions that are one operator in model formats and several in Relay.
#ifndef KILN_COMPILER_FRONTEND_COMMON_FUNCTIONS_H_
#define KILN_COMPILER_FRONTEND_COMMON_FUNCTIONS_H_

#include "absl/status/statusor.h"
#include "compiler/frontend/common/adder.h"

namespace kiln::frontend {

// x / 2 * (1 + erf(x / sqrt(2))), or its approximation
// x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))).
absl::StatusOr<ValueId> Gelu(Adder& add, ValueId x, bool approximate);

// alpha * (exp(x) - 1) if x < 0, else x.
absl::StatusOr<ValueId> Elu(Adder& add, ValueId x, double alpha);

// log(1 + exp(x)).
absl::StatusOr<ValueId> Softplus(Adder& add, ValueId x);

// A matrix product or a convolution (`op` must have out_dtype), for an operator that computes
// further with the result. Sums of float16 factors stay float32, so that only the final result is
// rounded.
absl::StatusOr<ValueId> WideProduct(Adder& add, absl::string_view op, ValueId x, ValueId y,
                                    Attrs attrs);

// x rounded to the nearest integer, with halves to even. (Relay's round moves halves away from
// zero.)
absl::StatusOr<ValueId> RoundEven(Adder& add, ValueId x);

}  // namespace kiln::frontend

#endif  // KILN_COMPILER_FRONTEND_COMMON_FUNCTIONS_H_
