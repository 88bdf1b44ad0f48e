// SPDX-License-Identifier: Apache-2.0
#include "tools/firmware/cycles.h"

#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace {

ThumbInstruction Decode(uint32_t code) {
  return code > 0xFFFF ? DecodeThumb(static_cast<uint16_t>(code >> 16), static_cast<uint16_t>(code))
                       : DecodeThumb(static_cast<uint16_t>(code), 0);
}

// Returns the cycles of instructions that are executed one after the other.
int Cycles(const std::string& core, const std::vector<uint32_t>& codes) {
  const CoreCycles* cycles = CyclesOfCore(core.c_str());
  std::vector<ThumbInstruction> block;
  int sum = 0;
  for (const uint32_t code : codes) {
    block.push_back(Decode(code));
    sum += CyclesOf(cycles, block.size() > 1 ? &block[block.size() - 2] : nullptr, &block.back());
  }
  return sum;
}

// Cycles of a single instruction on M0+, M3, M4, M7, M33, M55. -1 is not checked.
struct Row {
  uint32_t code;
  std::vector<int> cycles;
};

TEST(Cycles, OfSingleInstructions) {
  const std::vector<Row> rows = {
      // 16-bit arithmetic
      {0x2001, {1, 1, 1, 1, 1, 1}},  // movs r0, #1
      {0x4348, {1, 1, 1, 1, 1, 1}},  // muls r0, r1, r0
      // 16-bit loads and stores
      {0x6811, {2, 2, 2, 1, 2, 1}},  // ldr r1, [r2]
      {0x4902, {2, 2, 2, 1, 2, 1}},  // ldr r1, [pc, #8]
      {0x56D1, {2, 2, 2, 1, 2, 1}},  // ldrsb r1, [r2, r3]
      {0x7011, {2, 1, 1, 1, 1, 1}},  // strb r1, [r2]
      {0x50D1, {2, 2, 2, 1, 2, 1}},  // str r1, [r2, r3]
      {0xB510, {3, 3, 3, 1, 3, 1}},  // push {r4, lr}
      {0xBD30, {4, 4, 4, 2, 4, 2}},  // pop {r4, r5, pc}
      {0xC80E, {4, 4, 4, 2, 4, 2}},  // ldm r0!, {r1, r2, r3}
      // 16-bit and 32-bit branches
      {0x4770, {1, 1, 1, 1, 1, 1}},      // bx lr
      {0xF000F9F4, {2, 1, 1, 1, 1, 1}},  // bl
      // 32-bit arithmetic
      {0xFB08F002, {-1, 1, 1, 1, 1, 1}},   // mul r0, r8, r2
      {0xFB013002, {-1, 2, 2, 1, 1, 1}},   // mla r0, r1, r2, r3
      {0xFB213002, {-1, -1, 1, 1, 1, 1}},  // smlad r0, r1, r2, r3
      {0xFB820103, {-1, 4, 1, 1, 1, 1}},   // smull r0, r1, r2, r3
      {0xFBE20103, {-1, 5, 1, 1, 1, 1}},   // umlal r0, r1, r2, r3
      {0xFB91F0F2, {-1, 7, 7, 7, 7, 7}},   // sdiv r0, r1, r2
      // 32-bit loads, stores and table branches
      {0xF8598002, {-1, 2, 2, 1, 2, 1}},  // ldr.w r8, [r9, r2]
      {0xF891F000, {-1, 1, 1, 1, 1, 1}},  // pld [r1]
      {0xE9D20100, {-1, 3, 3, 1, 3, 1}},  // ldrd r0, r1, [r2]
      {0xE8E20102, {-1, 3, 3, 1, 3, 1}},  // strd r0, r1, [r2], #8
      {0xE8DFF000, {-1, 2, 2, 2, 2, 2}},  // tbb [pc, r0]
      // Floating-point loads
      {0xED900A00, {-1, -1, 2, 1, 2, 1}},  // vldr s0, [r0]
      {0xED900B00, {-1, -1, 3, 1, 3, 1}},  // vldr d0, [r0]
      {0xECB00A04, {-1, -1, 5, 2, 5, 2}},  // vldmia r0!, {s0, s1, s2, s3}
      // Floating-point arithmetic
      {0xEE300A81, {-1, -1, 1, 1, 1, 1}},      // vadd.f32 s0, s1, s2
      {0xEE000A81, {-1, -1, 3, 1, 3, 1}},      // vmla.f32 s0, s1, s2
      {0xEEA00A81, {-1, -1, 3, 1, 3, 1}},      // vfma.f32 s0, s1, s2
      {0xEE800A81, {-1, -1, 14, -1, -1, -1}},  // vdiv.f32 s0, s1, s2
      {0xEEB10AE0, {-1, -1, 14, -1, -1, -1}},  // vsqrt.f32 s0, s1
  };
  const std::vector<std::string> cores = {"cortex-m0plus", "cortex-m3",  "cortex-m4",
                                          "cortex-m7",     "cortex-m33", "cortex-m55"};
  for (const Row& row : rows) {
    for (size_t i = 0; i < cores.size(); ++i) {
      if (row.cycles[i] < 0) continue;
      EXPECT_EQ(Cycles(cores[i], {row.code}), row.cycles[i]) << std::hex << row.code << cores[i];
    }
  }
}

TEST(Cycles, OfVectors) {
  // Loads
  EXPECT_EQ(Cycles("cortex-m55", {0xECB01E10}), 2);   // vldrb.u8 q0, [r0], #16
  EXPECT_EQ(Cycles("cortex-m55", {0xECB00E88}), 2);   // vldrb.s16 q0, [r0], #8
  EXPECT_EQ(Cycles("cortex-m55", {0xFC901E00}), 2);   // vld20.8 {q0, q1}, [r0]
  EXPECT_EQ(Cycles("cortex-m55", {0xFC900E02}), 16);  // vldrb.u8 q0, [r0, q1]
  EXPECT_EQ(Cycles("cortex-m55", {0xEC900F02}), 4);   // vldrb.s32 q0, [r0, q1]
  EXPECT_EQ(Cycles("cortex-m55", {0xFC900FD2}), 4);   // vldrd.u64 q0, [r0, q1]
  EXPECT_EQ(Cycles("cortex-m55", {0xFD921E01}), 4);   // vldrw.u32 q0, [q1, #4]
  // Arithmetic and moves
  EXPECT_EQ(Cycles("cortex-m55", {0xEEF00F22}), 2);  // vmladava.s8 r0, q0, q1
  EXPECT_EQ(Cycles("cortex-m55", {0xEF220844}), 2);  // vadd.i32 q0, q1, q2
  EXPECT_EQ(Cycles("cortex-m55", {0xEEA00B10}), 1);  // vdup.32 q0, r0
  EXPECT_EQ(Cycles("cortex-m55", {0xEC010F00}), 2);  // vmov r0, r1, q0[2], q0[0]
  // Control
  EXPECT_EQ(Cycles("cortex-m55", {0xFE714F4D}), 1);  // vpste
  EXPECT_EQ(Cycles("cortex-m55", {0xF000E801}), 1);  // vctp.8 r0
  EXPECT_EQ(Cycles("cortex-m55", {0xF00FC005}), 0);  // le lr, the loop's beginning
  // A load next to arithmetic takes one cycle less, and so does the following instruction. Two of
  // the same kind do not overlap.
  EXPECT_EQ(Cycles("cortex-m55", {0xECB01E10, 0xEEF00F22, 0xECB01E10, 0xEEF00F22}), 5);
  EXPECT_EQ(Cycles("cortex-m55", {0xECB01E10, 0xECB01E10}), 4);
}

TEST(Cycles, OfLoadsInARow) {
  const std::vector<uint32_t> independent = {0x6811, 0x6853, 0x6894};  // ldr r1, r3, r4 of [r2]
  EXPECT_EQ(Cycles("cortex-m4", independent), 4);
  EXPECT_EQ(Cycles("cortex-m0plus", independent), 6);
  EXPECT_EQ(Cycles("cortex-m7", independent), 3);
  EXPECT_EQ(Cycles("cortex-m4", {0x6811, 0x680B}), 4);          // ldr r1, [r2]; ldr r3, [r1]
  EXPECT_EQ(Cycles("cortex-m4", {0x6811, 0x1AD0, 0x6853}), 5);  // with a subtraction between
}

TEST(Cycles, OfARefill) {
  const CoreCycles* m0 = CyclesOfCore("cortex-m0plus");
  const CoreCycles* m4 = CyclesOfCore("cortex-m4");
  const CoreCycles* m55 = CyclesOfCore("cortex-m55");
  const ThumbInstruction branch = Decode(0xD1FA), pop = Decode(0xBD30), loop = Decode(0xF00FC005);
  EXPECT_EQ(RefillCycles(m0, &branch), 1);
  EXPECT_EQ(RefillCycles(m0, &pop), 2);
  EXPECT_EQ(RefillCycles(m4, &branch), 2);
  EXPECT_EQ(RefillCycles(CyclesOfCore("cortex-m7"), &branch), 0);
  EXPECT_EQ(RefillCycles(m55, &branch), 2);
  EXPECT_EQ(RefillCycles(m55, &loop), 0);
}

TEST(Cycles, KnowsItsCores) {
  EXPECT_EQ(CyclesOfCore("generic-rv32"), nullptr);
  int count = 0;
  for (const char* const* name = CoresWithCycles(); *name != nullptr; ++name, ++count) {
    EXPECT_NE(CyclesOfCore(*name), nullptr) << *name;
  }
  EXPECT_EQ(count, 6);
}

}  // namespace
