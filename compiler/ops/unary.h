// SPDX-License-Identifier: Apache-2.0
// Operators of one tensor whose output at an index is a function of the input at that index.
#ifndef KILN_COMPILER_OPS_UNARY_H_
#define KILN_COMPILER_OPS_UNARY_H_

#include <string>
#include <vector>

#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/op_def.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {

// `kValue` is a function or lambda from Expr to Expr.
template <auto kValue>
absl::Status LowerUnary(StageBuilder& b) {
  b.Output(0, [x = b.Input(0)](const Indices& i) -> Expr { return kValue(x(i)); });
  return absl::OkStatus();
}

// An operator on floats. `expected` are its values at `at`, within a relative and absolute 1e-6.
// `at` should span the range to test, as further random inputs are taken from its range.
OpDef FloatUnary(std::string name, std::string doc, absl::Status (*lower)(StageBuilder&),
                 const std::vector<double>& at, const std::vector<double>& expected);

// An operator on numbers of any kind; the examples are float32 and int32.
OpDef NumericUnary(std::string name, std::string doc, absl::Status (*lower)(StageBuilder&),
                   const std::vector<double>& at, const std::vector<double>& expected,
                   const std::vector<double>& int_at, const std::vector<double>& int_expected);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_UNARY_H_
