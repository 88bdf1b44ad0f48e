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
       .forms = {{16, "avx512vnni", "x86.avx512.vpdpbusd.512(s, a, b)"},
                 {8, "avx512vnni,avx512vl", "x86.avx512.vpdpbusd.256(s, a, b)"},
                 {8, "avxvnni", "x86.avx512.vpdpbusd.256(s, a, b)"},
                 {4, "avx512vnni,avx512vl", "x86.avx512.vpdpbusd.128(s, a, b)"},
                 {4, "avxvnni", "x86.avx512.vpdpbusd.128(s, a, b)"}}},
      // Of the same extensions: two products of int16.
      {.name = "vpdpwssd",
       .arch = "x86_64",
       .geometry = DotGeometry::kColumns,
       .group = 2,
       .a = kI16,
       .b = kI16,
       .widens_in_steps = true,
       .cost = 1,
       .forms = {{16, "avx512vnni", "x86.avx512.vpdpwssd.512(s, a, b)"},
                 {8, "avx512vnni,avx512vl", "x86.avx512.vpdpwssd.256(s, a, b)"},
                 {8, "avxvnni", "x86.avx512.vpdpwssd.256(s, a, b)"},
                 {4, "avx512vnni,avx512vl", "x86.avx512.vpdpwssd.128(s, a, b)"},
                 {4, "avxvnni", "x86.avx512.vpdpwssd.128(s, a, b)"}}},
      // Two products of int16, and an addition. `vpmaddubsw` would take bytes, but saturates.
      {.name = "vpmaddwd",
       .arch = "x86_64",
       .geometry = DotGeometry::kColumns,
       .group = 2,
       .a = kI16,
       .b = kI16,
       .widens_in_steps = true,
       .cost = 2,
       .forms = {{16, "avx512bw", "s + x86.avx512.pmaddw.d.512(a, b)"},
                 {8, "avx2", "s + x86.avx2.pmadd.wd(a, b)"},
                 {4, "", "s + x86.sse2.pmadd.wd(a, b)"}}},
  };
}

}  // namespace kiln::instructions
