// SPDX-License-Identifier: Apache-2.0
#include "compiler/target/instructions/rows.h"

namespace kiln::instructions {

std::vector<DotInstruction> AArch64() {
  return {
      // Armv8.6's i8mm: two rows by two columns of eight bytes.
      {.name = "smmla",
       .arch = "aarch64,arm64",
       .geometry = DotGeometry::kOuter,
       .group = 8,
       .a = kI8,
       .b = kI8,
       .widens_in_steps = false,
       .cost = 1,
       .forms = {{4, "i8mm", "aarch64.neon.smmla(s, a, b)"}}},
      {.name = "usmmla",
       .arch = "aarch64,arm64",
       .geometry = DotGeometry::kOuter,
       .group = 8,
       .a = kU8,
       .b = kI8,
       .widens_in_steps = false,
       .cost = 1,
       .forms = {{4, "i8mm", "aarch64.neon.usmmla(s, a, b)"}}},
      // Of the same extension: unsigned by signed bytes.
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
       // A lane may be the last operand of all lanes: the group of a row.
       .forms = {{4, "dotprod", "aarch64.neon.sdot(s, b, a)"}}},
      // Neon: products of int16 that are added to int32.
      {.name = "smlal",
       .arch = "aarch64,arm64",
       .geometry = DotGeometry::kColumns,
       .group = 1,
       .a = kI16,
       .b = kI16,
       .widens_in_steps = false,
       .cost = 1,
       .forms = {{4, "", "s + aarch64.neon.smull(b, a)"}}},
  };
}

}  // namespace kiln::instructions
