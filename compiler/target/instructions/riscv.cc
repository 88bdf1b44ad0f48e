// SPDX-License-Identifier: Apache-2.0
#include "compiler/target/instructions/rows.h"

namespace kiln::instructions {

std::vector<DotInstruction> RiscV() {
  return {
      // The V extension: products of int16 that are added to int32.
      {.name = "vwmacc",
       .arch = "riscv64",
       .geometry = DotGeometry::kColumns,
       .group = 1,
       .a = kI16,
       .b = kI16,
       .widens_in_steps = false,
       .cost = 1,
       .forms = {{16, "v", "riscv.vwmacc(s, a, b)"},
                 {8, "v", "riscv.vwmacc(s, a, b)"},
                 {4, "v", "riscv.vwmacc(s, a, b)"}}},
  };
}

}  // namespace kiln::instructions
