// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/target/instructions/rows.h"

namespace kiln::instructions {
namespace {

// The DSP extension multiplies pairs of int16. SXTB16 makes a pair of bytes 0 and 2 of a word, or
// of bytes 1 and 3 if it rotates the word by 8 bits. Without optimization gcc and clang reserve a
// register for frames, which leaves too few for the loops. codegen/c/compiler_macros.h defines
// KILN_ASSEMBLY.
constexpr absl::string_view kDspInC =
    "KILN_ASSEMBLY && defined(__ARM_FEATURE_DSP) && (defined(__OPTIMIZE__) || !defined(__GNUC__))";

// 15 instructions for 16 products. It takes twelve registers, including the end of the loop: a
// Cortex-M has thirteen, and a compiler may reserve one. A step loads pairs of both rows at once.
constexpr absl::string_view kTwoByTwo =
    "ldrd {t0}, {t1}, [{b}], #8\n"
    "ldrd {t3}, {t4}, [{a}], #8\n"
    "sxtb16 {t2}, {t0}\n"
    "smlad {s0}, {t2}, {t3}, {s0}\n"
    "smlad {s2}, {t2}, {t4}, {s2}\n"
    "sxtb16 {t2}, {t1}\n"
    "smlad {s1}, {t2}, {t3}, {s1}\n"
    "smlad {s3}, {t2}, {t4}, {s3}\n"
    "ldrd {t3}, {t4}, [{a}], #8\n"
    "sxtb16 {t0}, {t0}, ror #8\n"
    "smlad {s0}, {t0}, {t3}, {s0}\n"
    "smlad {s2}, {t0}, {t4}, {s2}\n"
    "sxtb16 {t1}, {t1}, ror #8\n"
    "smlad {s1}, {t1}, {t3}, {s1}\n"
    "smlad {s3}, {t1}, {t4}, {s3}\n";

// Two columns of a single row whose pairs are in t3 and t4. They are added to sums `s` and `s + 1`.
std::string TwoColumns(int s) {
  const std::string first = absl::StrCat("{s", s, "}"), second = absl::StrCat("{s", s + 1, "}");
  return absl::StrReplaceAll(
      "ldrd {t0}, {t1}, [{b}], #8\n"
      "sxtb16 {t2}, {t0}\n"
      "smlad $0, {t2}, {t3}, $0\n"
      "sxtb16 {t0}, {t0}, ror #8\n"
      "smlad $0, {t0}, {t4}, $0\n"
      "sxtb16 {t2}, {t1}\n"
      "smlad $1, {t2}, {t3}, $1\n"
      "sxtb16 {t1}, {t1}, ror #8\n"
      "smlad $1, {t1}, {t4}, $1\n",
      {{"$0", first}, {"$1", second}});
}

// A single row: 19 instructions, or 21 if the row is bytes that have to be extended.
std::string OneByFour(absl::string_view load_row) {
  return absl::StrCat(load_row, TwoColumns(0), TwoColumns(2));
}

constexpr absl::string_view kLoadRow = "ldrd {t3}, {t4}, [{a}], #8\n";
constexpr absl::string_view kLoadRowOfBytes =
    "ldr {t4}, [{a}], #4\n"
    "sxtb16 {t3}, {t4}\n"
    "sxtb16 {t4}, {t4}, ror #8\n";

// Windows of three taps. The windows of neighboring sums are `slide` elements apart. If a window
// begins at a word boundary, its products are x0 w0 + x1 w1, then x2 w2. Otherwise they are x0 w0,
// then x1 w1 + x2 w2. The pairs of taps (w0, w1) and (w1, w2) are in t0 and t1. At most twelve
// registers.
std::string Windows(int sums, int slide) {
  std::string text =
      "ldr {t0}, [{b}, #{b+0}]\n"
      "ldr {t1}, [{b}, #{b+2}]\n";
  const int words = ((sums - 1) * slide + 2) / 2 + 1;
  for (int word = 0; word < words; ++word) {
    const bool is_first = word % 2 == 0;  // of two words that are loaded together
    const absl::string_view data = is_first ? "{t2}" : "{t3}";
    if (is_first) {
      absl::StrAppend(&text, word + 1 < words ? "ldrd {t2}, {t3}" : "ldr {t2}", ", [{a}, #{a+",
                      4 * word, "}]\n");
    }
    for (int i = 0; i < sums; ++i) {
      const int in_window = 2 * word - i * slide;
      const absl::string_view step = in_window == 0    ? "smlad $s, $x, {t0}, $s\n"
                                     : in_window == 2  ? "smlabt $s, $x, {t1}, $s\n"
                                     : in_window == -1 ? "smlatb $s, $x, {t0}, $s\n"
                                     : in_window == 1  ? "smlad $s, $x, {t1}, $s\n"
                                                       : "";
      const std::string sum = absl::StrCat("{s", i, "}");
      absl::StrAppend(&text, absl::StrReplaceAll(step, {{"$s", sum}, {"$x", data}}));
    }
  }
  return text;
}

DotLoop LoopOfWindows(int sums, int slide) {
  return {.rows = sums,
          .columns = 1,
          .run = 1,
          .slide = slide,
          .temporaries = 4,
          .copied_rows = true,
          .step = Windows(sums, slide)};
}

constexpr absl::string_view kHeliumInC = "defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)";

}  // namespace

std::vector<DotInstruction> ArmM() {
  return {
      // Helium, the M-profile vector extension. VMLADAVA is an alias of VMLAVA.
      {.name = "vmlava.s8",
       .arch = "thumb,arm",
       .geometry = DotGeometry::kReduction,
       .group = 16,
       .a = kI8,
       .b = kI8,
       .widens_in_steps = false,
       .cost = 1,
       .forms = {{1, "mve", "arm.mve.vmldava(0, 0, 0, s, a, b)"}},
       .c = {.guard = kHeliumInC,
             .header = "arm_mve.h",
             // Columns are loaded as words if they are aligned to words: the offsets of such loads
             // reach four times as far.
             .body = "int32x4_t columns;\n"
                     "  KILN_COPY(&columns, b, 16);\n"
                     "  return vmladavaq_s8(sum, vldrbq_s8((const int8_t*)a), "
                     "vreinterpretq_s8_s32(columns));"}},
      // Rows of int16 by columns of bytes that are extended when they are loaded.
      {.name = "vmlava.s16",
       .arch = "thumb,arm",
       .geometry = DotGeometry::kReduction,
       .group = 8,
       .a = kI16,
       .b = kI8,
       .widens_in_steps = false,
       .cost = 1,
       .forms = {{1, "mve", "arm.mve.vmldava(0, 0, 0, s, a, widen(b))"}},
       .c = {.guard = kHeliumInC,
             .header = "arm_mve.h",
             .body = "return vmladavaq_s16(sum, vldrhq_s16((const int16_t*)a), "
                     "vldrbq_s16((const int8_t*)b));"}},
      // Rows of int16, and columns of bytes in the order of the pairs.
      {.name = "smlad",
       .arch = "thumb,arm",
       .geometry = DotGeometry::kReduction,
       .group = 4,
       .a = kI16,
       .b = kI8,
       .widens_in_steps = false,
       .swaps = true,
       .cost = 4,
       .forms = {{1, "dsp",
                  "arm.smlad(a1, arm.sxtb16(ror8(b0)), arm.smlad(a0, arm.sxtb16(b0), s))"}},
       .c = {.guard = kDspInC,
             .header = "",
             .body = "int32_t even, odd, x, y;\n"
                     "  KILN_COPY(&x, a, 4);\n"
                     "  KILN_COPY(&y, a + 2, 4);\n"
                     "  KILN_COPY(&odd, b, 4);\n"
                     "  __asm(\"sxtb16 %0, %1\" : \"=r\"(even) : \"r\"(odd));\n"
                     "  __asm(\"sxtb16 %0, %1, ror #8\" : \"=r\"(odd) : \"r\"(odd));\n"
                     "  __asm(\"smlad %0, %1, %2, %0\" : \"+r\"(sum) : \"r\"(x), \"r\"(even));\n"
                     "  __asm(\"smlad %0, %1, %2, %0\" : \"+r\"(sum) : \"r\"(y), \"r\"(odd));\n"
                     "  return sum;"},
       .loops = {{.rows = 2,
                  .columns = 2,
                  .run = 2,
                  .temporaries = 5,
                  .copied_rows = true,
                  .step = std::string(kTwoByTwo)},
                 {.rows = 1,
                  .columns = 4,
                  .run = 4,
                  .temporaries = 5,
                  .copied_rows = true,
                  .step = OneByFour(kLoadRow)}}},
      // Three taps of the window of a depthwise convolution, along a row of int16.
      {.name = "smlad_taps",
       .arch = "thumb,arm",
       .geometry = DotGeometry::kReduction,
       .group = 3,
       .a = kI16,
       .b = kI16,
       .widens_in_steps = false,
       .cost = 4,
       .forms = {{1, "dsp", ""}},
       .c = {.guard = kDspInC, .header = "", .body = ""},
       .loops = {LoopOfWindows(6, 1), LoopOfWindows(2, 1), LoopOfWindows(6, 2),
                 LoopOfWindows(2, 2)}},
      // Rows of bytes that are not copied.
      {.name = "smlad_s8",
       .arch = "thumb,arm",
       .geometry = DotGeometry::kReduction,
       .group = 4,
       .a = kI8,
       .b = kI8,
       .widens_in_steps = false,
       .cost = 5,
       .forms = {{1, "dsp",
                  "arm.smlad(arm.sxtb16(ror8(a0)), arm.sxtb16(ror8(b0)), "
                  "arm.smlad(arm.sxtb16(a0), arm.sxtb16(b0), s))"}},
       .c = {.guard = kDspInC,
             .header = "",
             .body = "int32_t a_even, a_odd, b_even, b_odd;\n"
                     "  KILN_COPY(&a_odd, a, 4);\n"
                     "  KILN_COPY(&b_odd, b, 4);\n"
                     "  __asm(\"sxtb16 %0, %1\" : \"=r\"(a_even) : \"r\"(a_odd));\n"
                     "  __asm(\"sxtb16 %0, %1\" : \"=r\"(b_even) : \"r\"(b_odd));\n"
                     "  __asm(\"sxtb16 %0, %1, ror #8\" : \"=r\"(a_odd) : \"r\"(a_odd));\n"
                     "  __asm(\"sxtb16 %0, %1, ror #8\" : \"=r\"(b_odd) : \"r\"(b_odd));\n"
                     "  __asm(\"smlad %0, %1, %2, %0\" : \"+r\"(sum) : \"r\"(a_even), "
                     "\"r\"(b_even));\n"
                     "  __asm(\"smlad %0, %1, %2, %0\" : \"+r\"(sum) : \"r\"(a_odd), "
                     "\"r\"(b_odd));\n"
                     "  return sum;"},
       .loops = {{.rows = 1,
                  .columns = 4,
                  .run = 4,
                  .temporaries = 5,
                  .copied_rows = false,
                  .step = OneByFour(kLoadRowOfBytes)}}},
  };
}

}  // namespace kiln::instructions
