// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/target/instructions/rows.h"

namespace kiln::instructions {
namespace {

// AVX-512 needs BW to extend bytes to words.
constexpr absl::string_view kVnni = "defined(__AVX512VNNI__) && defined(__AVX512BW__)",
                            kVnniVl = "defined(__AVX512VNNI__) && defined(__AVX512VL__)",
                            kAvxVnni = "defined(__AVXVNNI__)", kAmxInt8 = "defined(__AMX_INT8__)",
                            kAmxBFloat = "defined(__AMX_BF16__)",
                            kBFloat = "defined(__AVX512BF16__)",
                            kBFloatVl = "defined(__AVX512BF16__) && defined(__AVX512VL__)";

// Forms of vp`stem` in AVX-512 VNNI and AVX-VNNI.
std::vector<DotForm> VnniForms(absl::string_view stem) {
  const auto form = [&](int lanes, absl::string_view features, absl::string_view guard,
                        absl::string_view extension = "") {
    const int bits = 32 * lanes;
    const std::string prefix = bits == 128 ? "_mm_" : absl::StrCat("_mm", bits, "_");
    return DotForm{.lanes = lanes,
                   .features = features,
                   .llvm = absl::StrCat("x86.avx512.vp", stem, ".", bits, "(s, a, b)"),
                   .guard = guard,
                   .c = absl::StrCat(prefix, stem, extension, "_epi32(s, a, b)")};
  };
  return {form(16, "avx512vnni", kVnni), form(8, "avx512vnni,avx512vl", kVnniVl),
          form(8, "avxvnni", kAvxVnni, "_avx"), form(4, "avx512vnni,avx512vl", kVnniVl),
          form(4, "avxvnni", kAvxVnni, "_avx")};
}

// A form of vdpbf16ps in AVX-512 BF16.
DotForm BFloatForm(int lanes, absl::string_view features, absl::string_view guard) {
  const int bits = 32 * lanes;
  return {.lanes = lanes,
          .features = features,
          .llvm = absl::StrCat("x86.avx512bf16.dpbf16ps.", bits, "(s, a, b)"),
          .guard = guard,
          .c = absl::StrCat("_mm", bits == 128 ? "" : absl::StrCat(bits), "_dpbf16_ps(s, a, b)")};
}

// Two products of int16 are added to each lane.
DotInstruction PairsOfWords(absl::string_view name, double cost, std::vector<DotForm> forms) {
  return {.name = name,
          .arch = "x86_64",
          .geometry = DotGeometry::kColumns,
          .group = 2,
          .a = kI16,
          .b = kI16,
          .widens_in_steps = true,
          .cost = cost,
          .forms = std::move(forms)};
}

// AMX: sixteen rows of 64 bytes by sixteen columns, whose elements are grouped in 32-bit words. It
// issues every 16 cycles (measured on Granite Rapids). Two vectors of multiply-adds issue per
// cycle, so it costs 32 slots.
DotInstruction OfMatrices(absl::string_view name, DType a, DType b, DType sum = DType::Int(32)) {
  constexpr double kSlots = 32;
  const int bytes = a.bytes();
  const bool of_floats = sum.is_float();
  return {.name = name,
          .arch = "x86_64",
          .geometry = DotGeometry::kMatrix,
          .group = kMatrixRowBytes / bytes,
          .a = a,
          .b = b,
          .sum = sum,
          .column_run = 4 / bytes,
          .cost = kSlots,
          .forms = {{.lanes = kMatrixSide * kMatrixSide,
                     .features = of_floats ? "amx-tile,amx-bf16" : "amx-tile,amx-int8",
                     .llvm = absl::StrCat("x86.", name),
                     .guard = of_floats ? kAmxBFloat : kAmxInt8,
                     .c = absl::StrCat("_tile_", name.substr(1))}}};
}

}  // namespace

std::vector<DotInstruction> X86() {
  return {
      // AVX-512 VNNI and AVX-VNNI: four products of unsigned by signed bytes.
      {.name = "vpdpbusd",
       .arch = "x86_64",
       .geometry = DotGeometry::kColumns,
       .group = 4,
       .a = kU8,
       .b = kI8,
       .forms = VnniForms("dpbusd")},
      // The same extensions: two products of int16.
      PairsOfWords("vpdpwssd", 1, VnniForms("dpwssd")),
      // The addition is a second instruction. `vpmaddubsw` would multiply bytes, but saturates.
      PairsOfWords("vpmaddwd", 2,
                   {{16, "avx512bw", "s + x86.avx512.pmaddw.d.512(a, b)", "defined(__AVX512BW__)",
                     "_mm512_add_epi32(s, _mm512_madd_epi16(a, b))"},
                    {8, "avx2", "s + x86.avx2.pmadd.wd(a, b)", "defined(__AVX2__)",
                     "_mm256_add_epi32(s, _mm256_madd_epi16(a, b))"},
                    {4, "", "s + x86.sse2.pmadd.wd(a, b)", "defined(__SSE2__)",
                     "_mm_add_epi32(s, _mm_madd_epi16(a, b))"}}),
      // AVX-512 BF16: two products of bfloat16. DotNumbers::bfloat_slots has its issue slots.
      {.name = "vdpbf16ps",
       .arch = "x86_64",
       .geometry = DotGeometry::kColumns,
       .group = 2,
       .a = kBF16,
       .b = kBF16,
       .sum = DType::Float(32),
       .forms = {BFloatForm(16, "avx512bf16", kBFloat),
                 BFloatForm(8, "avx512bf16,avx512vl", kBFloatVl),
                 BFloatForm(4, "avx512bf16,avx512vl", kBFloatVl)}},
      // AMX-BF16 and AMX-INT8, the latter for all signs of bytes.
      OfMatrices("tdpbf16ps", kBF16, kBF16, DType::Float(32)),
      OfMatrices("tdpbssd", kI8, kI8),
      OfMatrices("tdpbsud", kI8, kU8),
      OfMatrices("tdpbusd", kU8, kI8),
      OfMatrices("tdpbuud", kU8, kU8),
  };
}

}  // namespace kiln::instructions
