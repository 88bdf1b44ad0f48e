// SPDX-License-Identifier: Apache-2.0
#include "compiler/target/instructions/rows.h"

namespace kiln::instructions {
namespace {

// AVX-512 extends bytes to words by BW.
constexpr absl::string_view kVnni = "defined(__AVX512VNNI__) && defined(__AVX512BW__)",
                            kVnniVl = "defined(__AVX512VNNI__) && defined(__AVX512VL__)",
                            kAvxVnni = "defined(__AVXVNNI__)";

}  // namespace

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
       .forms = {{16, "avx512vnni", "x86.avx512.vpdpbusd.512(s, a, b)", kVnni,
                  "_mm512_dpbusd_epi32(s, a, b)"},
                 {8, "avx512vnni,avx512vl", "x86.avx512.vpdpbusd.256(s, a, b)", kVnniVl,
                  "_mm256_dpbusd_epi32(s, a, b)"},
                 {8, "avxvnni", "x86.avx512.vpdpbusd.256(s, a, b)", kAvxVnni,
                  "_mm256_dpbusd_avx_epi32(s, a, b)"},
                 {4, "avx512vnni,avx512vl", "x86.avx512.vpdpbusd.128(s, a, b)", kVnniVl,
                  "_mm_dpbusd_epi32(s, a, b)"},
                 {4, "avxvnni", "x86.avx512.vpdpbusd.128(s, a, b)", kAvxVnni,
                  "_mm_dpbusd_avx_epi32(s, a, b)"}}},
      // Of the same extensions: two products of int16.
      {.name = "vpdpwssd",
       .arch = "x86_64",
       .geometry = DotGeometry::kColumns,
       .group = 2,
       .a = kI16,
       .b = kI16,
       .widens_in_steps = true,
       .cost = 1,
       .forms = {{16, "avx512vnni", "x86.avx512.vpdpwssd.512(s, a, b)", kVnni,
                  "_mm512_dpwssd_epi32(s, a, b)"},
                 {8, "avx512vnni,avx512vl", "x86.avx512.vpdpwssd.256(s, a, b)", kVnniVl,
                  "_mm256_dpwssd_epi32(s, a, b)"},
                 {8, "avxvnni", "x86.avx512.vpdpwssd.256(s, a, b)", kAvxVnni,
                  "_mm256_dpwssd_avx_epi32(s, a, b)"},
                 {4, "avx512vnni,avx512vl", "x86.avx512.vpdpwssd.128(s, a, b)", kVnniVl,
                  "_mm_dpwssd_epi32(s, a, b)"},
                 {4, "avxvnni", "x86.avx512.vpdpwssd.128(s, a, b)", kAvxVnni,
                  "_mm_dpwssd_avx_epi32(s, a, b)"}}},
      // Two products of int16, and an addition. `vpmaddubsw` would take bytes, but saturates.
      {.name = "vpmaddwd",
       .arch = "x86_64",
       .geometry = DotGeometry::kColumns,
       .group = 2,
       .a = kI16,
       .b = kI16,
       .widens_in_steps = true,
       .cost = 2,
       .forms = {{16, "avx512bw", "s + x86.avx512.pmaddw.d.512(a, b)", "defined(__AVX512BW__)",
                  "_mm512_add_epi32(s, _mm512_madd_epi16(a, b))"},
                 {8, "avx2", "s + x86.avx2.pmadd.wd(a, b)", "defined(__AVX2__)",
                  "_mm256_add_epi32(s, _mm256_madd_epi16(a, b))"},
                 {4, "", "s + x86.sse2.pmadd.wd(a, b)", "defined(__SSE2__)",
                  "_mm_add_epi32(s, _mm_madd_epi16(a, b))"}}},
  };
}

}  // namespace kiln::instructions
