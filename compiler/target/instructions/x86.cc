// SPDX-License-Identifier: Apache-2.0
#include "compiler/target/instructions/rows.h"

namespace kiln::instructions {

std::vector<DotInstruction> X86() {
  return {
      // AVX-512 VNNI, and AVX-VNNI: four products of unsigned by signed bytes.
      {.name = "vpdpbusd",
       .arch = "x86_64",
       .geometry = DotGeometry::kColumns,
       .group = 4,
       .a = kU8,
       .b = kI8,
       .widens_in_steps = false,
       .cost = 1,
       .llvm_operands = "sab",
       .forms = {{16, "avx512vnni", "llvm.x86.avx512.vpdpbusd.512"},
                 {8, "avx512vnni,avx512vl", "llvm.x86.avx512.vpdpbusd.256"},
                 {8, "avxvnni", "llvm.x86.avx512.vpdpbusd.256"},
                 {4, "avx512vnni,avx512vl", "llvm.x86.avx512.vpdpbusd.128"},
                 {4, "avxvnni", "llvm.x86.avx512.vpdpbusd.128"}}},
      // Two products of int16, and an addition. `vpmaddubsw` would take bytes, but saturates.
      {.name = "vpmaddwd",
       .arch = "x86_64",
       .geometry = DotGeometry::kColumns,
       .group = 2,
       .a = kI16,
       .b = kI16,
       .widens_in_steps = true,
       .cost = 2,
       .llvm_operands = "ab+",
       .forms = {{16, "avx512bw", "llvm.x86.avx512.pmaddw.d.512"},
                 {8, "avx2", "llvm.x86.avx2.pmadd.wd"},
                 {4, "", "llvm.x86.sse2.pmadd.wd"}}},
  };
}

}  // namespace kiln::instructions
