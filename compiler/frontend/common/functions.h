// SPDX-License-Identifier: Apache-2.0
// Functions that model formats have as one operator, and Relay as several.
#ifndef KILN_COMPILER_FRONTEND_COMMON_FUNCTIONS_H_
#define KILN_COMPILER_FRONTEND_COMMON_FUNCTIONS_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/graph/graph.h"

namespace kiln::frontend {

// What an importer adds to its graph with.
struct Adder {
  // An operator with one output.
  std::function<absl::StatusOr<ValueId>(absl::string_view op, std::vector<ValueId> inputs)> op;
  // A scalar of the dtype of `like`.
  std::function<ValueId(ValueId like, double value)> number;
};

// x / 2 * (1 + erf(x / sqrt(2))), or its approximation
// x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))).
absl::StatusOr<ValueId> Gelu(const Adder& add, ValueId x, bool approximate);

// x rounded to the nearest integer, halves to the even one. (Relay's round takes them away from
// zero.)
absl::StatusOr<ValueId> RoundEven(const Adder& add, ValueId x);

}  // namespace kiln::frontend

#endif  // KILN_COMPILER_FRONTEND_COMMON_FUNCTIONS_H_
