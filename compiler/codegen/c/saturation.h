// SPDX-License-Identifier: Apache-2.0
// Saturation: numbers that are limited to the values of a narrower type, for which machines have
// instructions.
#ifndef KILN_COMPILER_CODEGEN_C_SATURATION_H_
#define KILN_COMPILER_CODEGEN_C_SATURATION_H_

#include <optional>

#include "compiler/base/dtype.h"
#include "compiler/loop/expr.h"

namespace kiln::codegen {

struct Saturation {
  loop::Expr value;  // before
  DType to;          // int8, uint8, int16 or uint16
};

// What max(min(value, most), least) of int32, or of a vector of them, is, where it is that.
std::optional<Saturation> AsSaturation(const loop::Expr& e);

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_C_SATURATION_H_
