// SPDX-License-Identifier: Apache-2.0
#include "compiler/target/instructions/rows.h"

namespace kiln::instructions {

std::vector<DotInstruction> AArch64() {
  return {
      // Armv8.6's i8mm: unsigned by signed bytes.
      {.name = "usdot",
       .arch = "aarch64,arm64",
       .geometry = DotGeometry::kColumns,
       .group = 4,
       .a = kU8,
       .b = kI8,
       .widens_in_steps = false,
       .cost = 1,
       .forms = {{4, "i8mm", "aarch64.neon.usdot(s, a, b)"}}},
      // Armv8.2's dotprod.
      {.name = "sdot",
       .arch = "aarch64,arm64",
       .geometry = DotGeometry::kColumns,
       .group = 4,
       .a = kI8,
       .b = kI8,
       .widens_in_steps = false,
       .cost = 1,
       .forms = {{4, "dotprod", "aarch64.neon.sdot(s, a, b)"}}},
  };
}

}  // namespace kiln::instructions
