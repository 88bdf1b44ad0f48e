// SPDX-License-Identifier: Apache-2.0
// Compares the C for given loops with expected text.
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "compiler/codegen/c/codegen_c.h"
#include "compiler/loop/parse.h"
#include "gtest/gtest.h"

namespace kiln::codegen {
namespace {

loop::LoopProgram Parsed(absl::string_view text) {
  const absl::StatusOr<loop::LoopProgram> program = loop::ParseProgram(text);
  EXPECT_TRUE(program.ok()) << program.status();
  return program.ok() ? *program : loop::LoopProgram();
}

constexpr char kFused[] = R"(
operator tvmgen_default_fused(a: float32[2, 4], b: int8[8]) -> (out: int8[8]) {
  for i in 0..2 {
    for k in 0..4 vectorized {
      if i < k {
        let at = i * 4 + k
        let relu = max(a[at], 0f32)
        let wide = int32(b[at])
        out[at] = int8(min(int32(relu * relu) + wide * wide, 127i32))
      } else {
        out[i * 4 + k] = 3i8
      }
    }
  }
}
)";

TEST(Golden, UnpackedFunction) {
  loop::LoopProgram program = Parsed(kFused);
  const auto source = EmitC(program, Target::Host(), {});
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_TRUE(absl::StrContains(*source, R"(
int32_t tvmgen_default_fused(void*, void*, void*);

int32_t tvmgen_default_fused(void* a_ptr, void* b_ptr, void* out_ptr) {
  const float* restrict a = (const float*)a_ptr;
  const int8_t* restrict b = (const int8_t*)b_ptr;
  int8_t* restrict out = (int8_t*)out_ptr;
  for (int64_t i = 0; i < 2; ++i) {
    for (int64_t k = 0; k < 4; ++k) {
      if (i < k) {
        const int64_t t0 = i * 4 + k;
        const float t1 = kiln_max_f32(a[t0], 0.0f);
        const int32_t t2 = (int32_t)b[t0];
        out[t0] = (int8_t)kiln_min_i32((int32_t)((uint32_t)kiln_cast_f32_i32(t1 * t1) + (uint32_t)(t2 * t2)), 127);
      } else {
        out[i * 4 + k] = 3;
      }
    }
  }
  return 0;
}

)")) << *source;
}

// The rescaling of sums, for Helium and for compilers that lack its intrinsics.
TEST(Golden, VectorsOfHelium) {
  const loop::LoopProgram program = Parsed(R"(
operator f(sums: int32[16], scales: int32[16]) -> (out: int8[16]) {
  for i in 0..4 {
    let t0 = ramp(i * 4, 1, 4)
    let t1 = rounding_mul_top(sums[t0] << broadcast(1i32, 4), scales[t0])
    out[t0] = int8x4(max(t1 + (t1 >> broadcast(31i32, 4)), broadcast(-128i32, 4)))
  }
  out[ramp(0, 1, 16)] = max(out[ramp(0, 1, 16)], broadcast(3i8, 16))
}
)");
  const auto source = EmitC(program, *Target::Parse("cortex-m55"), {.libm = false});
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_TRUE(absl::StrContains(*source, R"(
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wunused-function"
#elif defined(__GNUC__)
#pragma GCC optimize("no-schedule-insns", "no-tree-ter")
#endif
#include <arm_mve.h>
#define KILN_HELIUM 1
#else
#define KILN_HELIUM 0
#endif
)")) << *source;
  EXPECT_TRUE(absl::StrContains(*source, R"(
  KILN_ROLLED for (int32_t i = 0; i < 4; ++i) {
#if KILN_HELIUM
    const int32_t t0 = i * 4;
    const int32x4_t t1 = vrmulhq_s32(vshlq_n_s32(vldrwq_s32(&sums[t0]), 1), vldrwq_s32(&scales[t0]));
    vstrbq_s32(&out[t0], vmaxq_s32(vaddq_s32(t1, vshrq_n_s32(t1, 31)), vdupq_n_s32((-128))));
#else
    KILN_ROLLED for (int32_t lane = 0; lane < 4; ++lane) {
      const int32_t t2 = i * 4;
      const int32_t t3 = t2 + lane;
      const int32_t t4 = kiln_rounding_mul_top_i32((int32_t)((uint32_t)sums[t3] << 1), scales[t3]);
      out[t2 + lane] = (int8_t)kiln_max_i32((int32_t)((uint32_t)t4 + (uint32_t)(t4 >> 31)), (-128));
    }
#endif
  }
#if KILN_HELIUM
  vstrbq_s8(&out[0], vmaxq_s8(vldrbq_s8(&out[0]), vdupq_n_s8(3)));
#else
  KILN_ROLLED for (int32_t lane = 0; lane < 16; ++lane) {
    out[lane] = kiln_max_i8(out[lane], 3);
  }
#endif
  return 0;
}

)")) << *source;
}

// A store whose lanes read each other's elements cannot be a loop over lanes.
TEST(Golden, VectorsWhoseLanesMeetAreRefused) {
  const loop::LoopProgram program = Parsed(R"(
operator f() -> (out: int32[8]) {
  out[ramp(1, 1, 4)] = out[ramp(0, 1, 4)]
}
)");
  const auto source = EmitC(program, *Target::Parse("cortex-m55"), {});
  EXPECT_EQ(source.status().code(), absl::StatusCode::kInternal);
}

// Sums of a few lanes: GCC 12 mixes them up if it expands the loop.
TEST(Golden, LoopsOverLanesOfSumsAreNotExpanded) {
  const loop::LoopProgram program = Parsed(R"(
operator f(a: int8[16]) -> (out: int32[4]) {
  allocate acc: int32[4] {
    for k in 0..4 {
      for lane in 0..4 vectorized {
        acc[lane] = acc[lane] + int32(a[k * 4 + lane])
      }
    }
    for i in 0..4 vectorized {
      out[i] = acc[i]
    }
  }
}
)");
  const auto source = EmitC(program, Target::Host(), {});
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_TRUE(absl::StrContains(*source, "#define KILN_LANES _Pragma(\"GCC unroll 1\")"))
      << *source;
  EXPECT_TRUE(absl::StrContains(*source, "    KILN_LANES\n    for (int64_t lane")) << *source;
  EXPECT_FALSE(absl::StrContains(*source, "KILN_LANES\n  for (int64_t i")) << *source;
}

TEST(Golden, NothingThatIsNotNeeded) {
  loop::LoopProgram program = Parsed(kFused);
  program.funcs[0].body = {};
  const auto source = EmitC(program, Target::Host(), {.module_name = "a */ b"});
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ(*source, R"(/* Module "a * / b" for target "host", generated by Kiln. Do not edit.
 *
 * C99. Compile with optimization (-O2 or -O3).
 * Floating-point results must not depend on the compiler: no -ffast-math, no contraction of a * b + c
 * (-ffp-contract=off; the pragmas below say so to gcc and clang), and on 32-bit x86 -msse2 -mfpmath=sse.
 */

#include <stdint.h>

int32_t tvmgen_default_fused(void*, void*, void*);

int32_t tvmgen_default_fused(void* a, void* b, void* out) {
  (void)a;
  (void)b;
  (void)out;
  return 0;
}

)");
}

// f(workspace + 64, workspace + `out_offset`), each of 64 bytes.
std::string PointersOfCallee(int64_t out_offset) {
  const loop::LoopProgram program = Parsed(absl::StrCat(R"(
internal operator f() -> (a: float32[16], out: float32[16]) {
  for i in 0..16 {
    out[i] = a[i]
  }
}
operator g() -> () workspace workspace: uint8[256] {
  call f(workspace + 64, workspace + )",
                                                        out_offset, ")\n}\n"));
  const std::string source = *EmitC(program, Target::Host(), {});
  const size_t begin = source.find("f(const"), end = source.find(')', begin);
  return source.substr(begin, end + 1 - begin);
}

TEST(Golden, RestrictUnlessACallPassesOverlappingMemory) {
  EXPECT_EQ(PointersOfCallee(0), "f(const float* restrict a, float* restrict out)");
  EXPECT_EQ(PointersOfCallee(128), "f(const float* restrict a, float* restrict out)");
  EXPECT_EQ(PointersOfCallee(64), "f(const float* a, float* out)");
  EXPECT_EQ(PointersOfCallee(124), "f(const float* a, float* out)");
  EXPECT_EQ(PointersOfCallee(1), "f(const float* a, float* out)");
}

TEST(Golden, OfOverlappingMemoryConstantsAreNoPart) {
  const loop::LoopProgram program = Parsed(R"(
constant w0 "weights": float32[16]
internal in_place operator f(a: float32[16], w: float32[16]) -> (out: float32[16]) {
  for i in 0..16 {
    out[i] = a[i] * w[i]
  }
}
operator g() -> (x: float32[16]) {
  call f(x, w0, x)
}
)");
  const std::string source = *EmitC(program, Target::Host(), {});
  EXPECT_TRUE(absl::StrContains(source, "f(const float* a, const float* restrict w, float* out)"))
      << source;
}

TEST(Golden, CopiesToTheirOwnMemoryDoNothing) {
  const loop::LoopProgram program = Parsed(R"(
copy operator f(a: float32[16]) -> (out: float32[16]) {
  for i in 0..16 {
    out[i] = a[i]
  }
}
)");
  const std::string source = *EmitC(program, Target::Host(), {});
  const size_t test = source.find("== (const void*)"), loop = source.find("for (");
  ASSERT_NE(test, std::string::npos) << source;
  EXPECT_LT(test, loop) << source;
  EXPECT_TRUE(absl::StrContains(source.substr(test, loop - test), ") return 0;")) << source;
}

// On a microcontroller, the arrays of a function should take memory only while it runs, though
// calls take more code.
TEST(Golden, FunctionsWithArraysAreNotInlinedWhereStackIsShort) {
  const loop::LoopProgram program = Parsed(R"(
internal operator f(a: float32[16]) -> (out: float32[16]) {
  allocate sums: float32[4] {
    for i in 0..4 {
      sums[i] = a[i]
    }
    for i in 0..4 {
      out[i] = sums[3 - i]
    }
  }
}
internal operator g(a: float32[16]) -> (out: float32[16]) {
  for i in 0..16 {
    out[i] = a[i]
  }
}
operator both(a: float32[16]) -> (out: float32[16]) {
  call f(a, out)
  call g(a, out)
}
)");
  const std::string short_stack = *EmitC(program, *Target::Parse("cortex-m4"), {});
  EXPECT_TRUE(absl::StrContains(short_stack, "KILN_NOT_INLINED static int32_t f(")) << short_stack;
  EXPECT_TRUE(absl::StrContains(short_stack, "\nstatic int32_t g(")) << short_stack;
  const std::string small = *EmitC(program, *Target::Parse("cortex-m4"), {.small_code = true});
  EXPECT_TRUE(absl::StrContains(small, "KILN_NOT_INLINED static int32_t f(")) << small;
  EXPECT_FALSE(absl::StrContains(*EmitC(program, Target::Host(), {}), "KILN_NOT_INLINED"));
}

// Tiles with different numbers of iterations call the same function.
TEST(Golden, TilesOfAnyLengthShareALoopWhereCodeIsSmall) {
  const auto tile = [](int steps) {
    return absl::Substitute(
        "  sums[ramp(0, 1, 4)] = dot<smlad, 4, swaps, steps $0, run 2>(sums[ramp(0, 1, 4)], "
        "a[ramp(0, 1, $1)], b[ramp(0, 1, $1)])\n",
        steps, steps * 8);
  };
  const loop::LoopProgram program = Parsed(absl::StrCat(
      "operator f(a: int16[288], b: int8[288]) -> (sums: int32[4]) {\n", tile(8), tile(36), "}\n"));
  const Target target = *Target::Parse("cortex-m4");
  const std::string fast = *EmitC(program, target, {}),
                    small = *EmitC(program, target, {.small_code = true});
  for (const char* call : {"  kiln_dots_smlad_2x2_8(&sums[0], &a[0], &b[0]);\n",
                           "  kiln_dots_smlad_2x2_36(&sums[0], &a[0], &b[0]);\n"}) {
    EXPECT_TRUE(absl::StrContains(fast, call)) << fast;
  }
  for (const char* part :
       {"static void kiln_dots_smlad_2x2_to_end_by_4(int32_t* sums, const int16_t* a, const "
        "int8_t* b, "
        "const int8_t* end) {\n",
        "  kiln_dots_smlad_2x2_to_end_by_4(&sums[0], &a[0], &b[0], &b[0] + 64);\n",
        "  kiln_dots_smlad_2x2_to_end_by_4(&sums[0], &a[0], &b[0], &b[0] + 288);\n"}) {
    EXPECT_TRUE(absl::StrContains(small, part)) << small;
  }
}

// A loop over tiles, whose extent is a parameter, is one call of that function.
TEST(Golden, LoopsOverTilesAreOneCall) {
  const loop::LoopProgram program = Parsed(R"(
internal operator f(count: index, a: int16[64], b: int8[64]) -> (sums: int32[4]) {
  for part in 0..count {
    sums[ramp(0, 1, 4)] = dot<smlad, 4, swaps, steps 4, run 2>(sums[ramp(0, 1, 4)], a[ramp(part * 32, 1, 32)], b[ramp(part * 32, 1, 32)])
  }
}
operator g(a: int16[64], b: int8[64]) -> (sums: int32[4]) {
  call f(a, b, sums, 2)
}
)");
  for (const bool small_code : {false, true}) {
    const std::string source =
        *EmitC(program, *Target::Parse("cortex-m4"), {.small_code = small_code});
    EXPECT_TRUE(absl::StrContains(
        source, "  kiln_dots_smlad_2x2_to_end_by_4(&sums[0], &a[0], &b[0], &b[0] + count * 32);\n"))
        << source;
    EXPECT_FALSE(absl::StrContains(source, "for (int32_t part")) << source;
  }
}

// Windows of tensors with different widths call the same function.
TEST(Golden, WindowsOfAnyWidthShareAFunctionWhereCodeIsSmall) {
  const auto tile = [](int row) {
    const auto dot = [&](const std::string& sum, int i) {
      return absl::Substitute(
          "dot<smlad_taps, 3, run 1>($0, interleave(a[ramp($1, 1, 3)], a[ramp($2, 1, 3)]), "
          "b[ramp($3, 1, 3)])",
          sum, i * row, i * row + 1, i * 3);
    };
    return absl::StrCat("  sums[ramp(0, 1, 2)] = ", dot(dot("sums[ramp(0, 1, 2)]", 0), 1), "\n");
  };
  const loop::LoopProgram program = Parsed(absl::StrCat(
      "operator f(a: int16[64], b: int16[6]) -> (sums: int32[2]) {\n", tile(14), tile(26), "}\n"));
  const Target target = *Target::Parse("cortex-m4");
  const std::string fast = *EmitC(program, target, {}),
                    small = *EmitC(program, target, {.small_code = true});
  for (const char* call : {"  kiln_dots_smlad_taps_2x1_2_by_1_14_3(&sums[0], &a[0], &b[0]);\n",
                           "  kiln_dots_smlad_taps_2x1_2_by_1_26_3(&sums[0], &a[0], &b[0]);\n"}) {
    EXPECT_TRUE(absl::StrContains(fast, call)) << fast;
  }
  for (const char* part :
       {"KILN_NOT_INLINED static void kiln_dots_smlad_taps_2x1_2_by_1_row_3(int32_t* sums, const "
        "int16_t* a, const "
        "int16_t* b, int32_t row) {\n",
        "\"add %[a], %[a], %[row], lsl #1\\n\"",
        "  kiln_dots_smlad_taps_2x1_2_by_1_row_3(&sums[0], &a[0], &b[0], 14);\n",
        "  kiln_dots_smlad_taps_2x1_2_by_1_row_3(&sums[0], &a[0], &b[0], 26);\n"}) {
    EXPECT_TRUE(absl::StrContains(small, part)) << small;
  }
}

// The operands of a range are read once per loop, under a name that no other loop has.
TEST(Golden, LoopsOfOneBlockHaveRangesOfTheirOwn) {
  const loop::LoopProgram program = Parsed(R"(
operator f(a: float32[16]) -> (out: float32[16]) {
  for i in 0..4 {
    for r in max(i - 2, 0)..min(i + 2, 4) {
      out[i * 4 + r] = a[r]
    }
    for r in max(i - 1, 0)..min(i + 1, 4) {
      out[i * 4 + r] = a[r + 4]
    }
  }
}
)");
  const auto source = EmitC(program, Target::Host(), {});
  ASSERT_TRUE(source.ok()) << source.status();
  for (const char* line :
       {"const int64_t r_begin = ", "const int64_t r_end = ", "const int64_t r_begin_1 = ",
        "const int64_t r_end_1 = ", "for (int64_t r = r_begin; r < r_end; ++r)",
        "for (int64_t r = r_begin_1; r < r_end_1; ++r)"}) {
    EXPECT_TRUE(absl::StrContains(*source, line)) << line << " in " << *source;
  }
}

TEST(Golden, SameProgramSameBytes) {
  loop::LoopProgram program = Parsed(kFused);
  EXPECT_EQ(*EmitC(program, Target::Host(), {}), *EmitC(program, Target::Host(), {}));
}

TEST(Golden, IndicesHaveTheWidthOfPointers) {
  loop::LoopProgram program = Parsed(kFused);
  Target target;
  target.pointer_bits = 32;
  EXPECT_TRUE(absl::StrContains(*EmitC(program, target, {}), "for (int32_t i = 0;"));
}

TEST(Golden, HalvesAreTheirBits) {
  const auto program_of = [](absl::string_view value) {
    return Parsed(absl::StrCat(
        "operator f(in: float16[8]) -> (out: float16[8]) {\n",
        "  for i in 0..8 {\n    let t = float32(in[i])\n    out[i] = ", value, "\n  }\n}\n"));
  };
  const loop::LoopProgram program = program_of("select(i < 4, float16(t * t + t), 1.5f16)");
  const auto source = EmitC(program, Target::Host(), {});
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_TRUE(absl::StrContains(*source, R"(
int32_t f(void* in_ptr, void* out_ptr) {
  const uint16_t* restrict in = (const uint16_t*)in_ptr;
  uint16_t* restrict out = (uint16_t*)out_ptr;
  for (int64_t i = 0; i < 8; ++i) {
    const float t0 = kiln_cast_f16_f32(in[i]);
    out[i] = i < 4 ? kiln_cast_f32_f16(t0 * t0 + t0) : 15872;
  }
  return 0;
}

)")) << *source;
  // The arithmetic is in float32. If no value is shared, only the names of helpers show this.
  EXPECT_TRUE(absl::StrContains(*EmitC(program_of("float16(t + t)"), Target::Host(), {}),
                                "fp-contract=off"));
}

TEST(Golden, ErrorsSayWhat) {
  loop::LoopProgram program = Parsed(kFused);
  program.funcs[0].name = "no-name";
  EXPECT_EQ(EmitC(program, Target::Host(), {}).status().message(),
            "C code generator: 'no-name' cannot be the name of a function or of data: it is no "
            "identifier of C");
  program.funcs[0].name = "f";
  program.funcs[0].body = loop::MakeCall("g", {});
  EXPECT_EQ(EmitC(program, Target::Host(), {}).status().message(),
            "C code generator: f calls g, which is not defined before it");
  program = Parsed("operator f() -> (grid: float32[2, 2]) { grid[0] = grid[0, 1] }");
  EXPECT_EQ(EmitC(program, Target::Host(), {}).status().message(),
            "f: C code generator: a load from grid with 2 indices; FlattenBuffers leaves one");
}

}  // namespace
}  // namespace kiln::codegen
