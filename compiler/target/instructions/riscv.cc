// SPDX-License-Identifier: Apache-2.0
#include "compiler/target/instructions/rows.h"

namespace kiln::instructions {
namespace {

constexpr absl::string_view k128 = "defined(__riscv_v_intrinsic) && __riscv_v_min_vlen >= 128",
                            k256 = "defined(__riscv_v_intrinsic) && __riscv_v_min_vlen >= 256",
                            k512 = "defined(__riscv_v_intrinsic) && __riscv_v_min_vlen >= 512";

}  // namespace

std::vector<DotInstruction> RiscV() {
  return {
      // The V extension: products of int16 are added to int32.
      {.name = "vwmacc",
       .arch = "riscv64",
       .geometry = DotGeometry::kColumns,
       .group = 1,
       .a = kI16,
       .b = kI16,
       .forms = {{16, "v", "riscv.vwmacc(s, a, b)", k512, "__riscv_vwmacc_vv_i32m1(s, a, b, 16)"},
                 {8, "v", "riscv.vwmacc(s, a, b)", k256, "__riscv_vwmacc_vv_i32m1(s, a, b, 8)"},
                 {4, "v", "riscv.vwmacc(s, a, b)", k128, "__riscv_vwmacc_vv_i32m1(s, a, b, 4)"}}},
  };
}

}  // namespace kiln::instructions
