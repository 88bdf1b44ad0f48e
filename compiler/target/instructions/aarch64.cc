// SPDX-License-Identifier: Apache-2.0
#include "compiler/target/instructions/rows.h"

namespace kiln::instructions {
namespace {

constexpr absl::string_view kI8mm = "defined(__ARM_NEON) && defined(__ARM_FEATURE_MATMUL_INT8)",
                            kDotprod = "defined(__ARM_NEON) && defined(__ARM_FEATURE_DOTPROD)",
                            kNeon = "defined(__aarch64__) && defined(__ARM_NEON)";

}  // namespace

std::vector<DotInstruction> AArch64() {
  return {
      // Armv8.6's i8mm: two rows by two columns of eight bytes each.
      {.name = "smmla",
       .arch = "aarch64,arm64",
       .geometry = DotGeometry::kOuter,
       .group = 8,
       .a = kI8,
       .b = kI8,
       .forms = {{4, "i8mm", "aarch64.neon.smmla(s, a, b)", kI8mm, "vmmlaq_s32(s, a, b)"}}},
      {.name = "usmmla",
       .arch = "aarch64,arm64",
       .geometry = DotGeometry::kOuter,
       .group = 8,
       .a = kU8,
       .b = kI8,
       .forms = {{4, "i8mm", "aarch64.neon.usmmla(s, a, b)", kI8mm, "vusmmlaq_s32(s, a, b)"}}},
      // Also i8mm: unsigned by signed bytes.
      {.name = "usdot",
       .arch = "aarch64,arm64",
       .geometry = DotGeometry::kColumns,
       .group = 4,
       .a = kU8,
       .b = kI8,
       .forms = {{4, "i8mm", "aarch64.neon.usdot(s, a, b)", kI8mm, "vusdotq_s32(s, a, b)"}}},
      // Armv8.2's dotprod.
      {.name = "sdot",
       .arch = "aarch64,arm64",
       .geometry = DotGeometry::kColumns,
       .group = 4,
       .a = kI8,
       .b = kI8,
       // The last operand may be one lane for all lanes, so the group of a row is last.
       .forms = {{4, "dotprod", "aarch64.neon.sdot(s, b, a)", kDotprod, "vdotq_s32(s, b, a)"}}},
      // Neon: products of int16 are added to int32.
      {.name = "smlal",
       .arch = "aarch64,arm64",
       .geometry = DotGeometry::kColumns,
       .group = 1,
       .a = kI16,
       .b = kI16,
       .forms = {{4, "", "s + aarch64.neon.smull(b, a)", kNeon, "vmlal_s16(s, b, a)"}}},
  };
}

}  // namespace kiln::instructions
