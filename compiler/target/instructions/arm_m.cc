// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

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

// The first taps of the pairs that windows meet, and the pair with the last tap.
std::vector<int> PairsOfTaps(int taps, int slide) {
  std::vector<int> pairs;
  for (int first = 0; first + 1 < taps; ++first) {
    // Windows that move on by whole words all begin with a word.
    const bool is_met = first % 2 == 0 || slide % 2 == 1;
    if (is_met || first + 2 == taps) pairs.push_back(first);
  }
  return pairs;
}

// Windows of `taps` taps, an odd number, that move on by `slide` elements from one sum to the next.
// A window that begins with a word x of data meets pairs of taps (w0, w1), (w2, w3), … and its last
// tap by itself. A window that begins in the upper half of a word meets w0 by itself and then the
// pairs (w1, w2), (w3, w4), …. Each pair that some window meets is in a register.
std::string Windows(int taps, int sums, int slide) {
  const std::vector<int> pairs = PairsOfTaps(taps, slide);
  const auto pair = [&](int first) {
    return absl::StrCat("{t", std::find(pairs.begin(), pairs.end(), first) - pairs.begin(), "}");
  };
  std::string text;
  for (int first : pairs) {
    absl::StrAppend(&text, "ldr ", pair(first), ", [{b}, #{b+", 2 * first, "}]\n");
  }
  const std::string data[] = {absl::StrCat("{t", pairs.size(), "}"),
                              absl::StrCat("{t", pairs.size() + 1, "}")};
  const int words = ((sums - 1) * slide + taps - 1) / 2 + 1;
  for (int word = 0; word < words; ++word) {
    if (word % 2 == 0) {
      const bool loads_two = word + 1 < words;
      absl::StrAppend(
          &text,
          loads_two ? absl::StrCat("ldrd ", data[0], ", ", data[1]) : absl::StrCat("ldr ", data[0]),
          ", [{a}, #{a+", 4 * word, "}]\n");
    }
    for (int i = 0; i < sums; ++i) {
      const int tap = 2 * word - i * slide;  // that the lower half of the word meets
      if (tap < -1 || tap >= taps) continue;
      const bool is_before = tap < 0, is_last = tap + 1 == taps;
      const absl::string_view mnemonic = is_before ? "smlatb" : is_last ? "smlabt" : "smlad";
      const std::string factor = pair(is_before ? 0 : is_last ? tap - 1 : tap);
      const std::string sum = absl::StrCat("{s", i, "}");
      absl::StrAppend(&text, mnemonic, " ", sum, ", ", data[word % 2], ", ", factor, ", ", sum,
                      "\n");
    }
  }
  return text;
}

// Windows of so many taps, sums and elements between windows, in at most twelve registers: two
// addresses, the sums, pairs of taps and two words of data.
DotLoop LoopOfWindows(int taps, int sums, int slide) {
  const int pairs = static_cast<int>(PairsOfTaps(taps, slide).size());
  return {.rows = sums,
          .columns = 1,
          .run = 1,
          .slide = slide,
          .temporaries = pairs + 2,
          .copied_rows = true,
          .step = Windows(taps, sums, slide)};
}

// `taps` taps of the window of a depthwise convolution, along a row of int16.
DotInstruction TapsOfWindow(absl::string_view name, int taps, std::vector<DotLoop> loops) {
  return {.name = name,
          .arch = "thumb,arm",
          .geometry = DotGeometry::kReduction,
          .group = taps,
          .a = kI16,
          .b = kI16,
          .widens_in_steps = false,
          .cost = taps * 4.0 / 3,
          .forms = {{1, "dsp", ""}},
          .c = {.guard = kDspInC, .header = "", .body = ""},
          .loops = std::move(loops)};
}

constexpr absl::string_view kHeliumInC = "defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)";

// Helium, the M-profile vector extension. VMLADAVA is another name of it.
DotInstruction VmlavaS8() {
  return {.name = "vmlava.s8",
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
                // Words if columns are aligned to them: offsets of words reach four times as far.
                .body = "int32x4_t columns;\n"
                        "  KILN_COPY(&columns, b, 16);\n"
                        "  return vmladavaq_s8(sum, vldrbq_s8((const int8_t*)a), "
                        "vreinterpretq_s8_s32(columns));"}};
}

// Rows of int16 by columns of bytes, which are extended when they are loaded.
DotInstruction VmlavaS16() {
  return {.name = "vmlava.s16",
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
                        "vldrbq_s16((const int8_t*)b));"}};
}

// Rows of int16, columns of bytes in the order of the pairs.
DotInstruction Smlad() {
  return {.name = "smlad",
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
                     .step = OneByFour(kLoadRow)}}};
}

DotInstruction SmladTaps() {
  return TapsOfWindow("smlad_taps", 3,
                      {LoopOfWindows(3, 6, 1), LoopOfWindows(3, 2, 1), LoopOfWindows(3, 6, 2),
                       LoopOfWindows(3, 2, 2)});
}

DotInstruction SmladTapsOf5() {
  return TapsOfWindow("smlad_taps5", 5,
                      {LoopOfWindows(5, 4, 1), LoopOfWindows(5, 2, 1), LoopOfWindows(5, 4, 2),
                       LoopOfWindows(5, 2, 2)});
}

DotInstruction SmladTapsOf7() {
  return TapsOfWindow("smlad_taps7", 7,
                      {LoopOfWindows(7, 2, 1), LoopOfWindows(7, 4, 2), LoopOfWindows(7, 2, 2)});
}

// Rows of bytes as they lie in memory.
DotInstruction SmladS8() {
  return {.name = "smlad_s8",
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
                     .step = OneByFour(kLoadRowOfBytes)}}};
}

}  // namespace

std::vector<DotInstruction> ArmM() {
  return {VmlavaS8(), VmlavaS16(), Smlad(), SmladTaps(), SmladTapsOf5(), SmladTapsOf7(), SmladS8()};
}

}  // namespace kiln::instructions
