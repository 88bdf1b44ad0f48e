// SPDX-License-Identifier: Apache-2.0
// What an integer expression's value can be, as far as its form says at a glance.
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

// Nothing for floats, for uint64, and where the value needs more than 62 bits.
std::optional<ValueRange> RangeOf(const loop::Expr& e);
// The values of an integer type or bool; nothing for 64 bits.
std::optional<ValueRange> RangeOf(DType dtype);
// a op b without wrap-around; nothing where that is not known.
std::optional<ValueRange> RangeOf(loop::BinaryOp op, ValueRange a, ValueRange b);

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_C_VALUE_RANGE_H_
