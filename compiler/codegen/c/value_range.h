// SPDX-License-Identifier: Apache-2.0
// Ranges of integer expressions, from a quick look at their form.
#ifndef KILN_COMPILER_CODEGEN_C_VALUE_RANGE_H_
#define KILN_COMPILER_CODEGEN_C_VALUE_RANGE_H_

#include <cstdint>
#include <optional>

#include "compiler/loop/expr.h"

namespace kiln::codegen {

struct ValueRange {
  int64_t min;
  int64_t max;
};

// The range of the expression's value. Nothing for floats and vectors, or if no bounds within 2^62
// are known.
std::optional<ValueRange> RangeOf(const loop::Expr& e);
// The values of an integer type or bool; nothing for 64 bits.
std::optional<ValueRange> RangeOf(DType dtype);
// The range of `a op b` without wrap-around; nothing if it is unknown.
std::optional<ValueRange> RangeOf(loop::BinaryOp op, ValueRange a, ValueRange b);

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_C_VALUE_RANGE_H_
