// SPDX-License-Identifier: Apache-2.0
// Text that the parser reads. Tests that make programs check that printed text reads back
// (round_trip.h). parse_error_test.cc has the text that is refused.
#include "compiler/loop/parse.h"

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/loop/interpret.h"
#include "compiler/loop/round_trip.h"
#include "gtest/gtest.h"

namespace kiln::loop {
namespace {

LoopProgram Parsed(const std::string& text) {
  absl::StatusOr<LoopProgram> program = ParseProgram(text);
  EXPECT_TRUE(program.ok()) << program.status();
  return program.ok() ? *std::move(program) : LoopProgram();
}

// Expects that the program read from the text prints as the text.
void ExpectReadsBack(const std::string& text) {
  const LoopProgram program = Parsed(text);
  EXPECT_EQ(ToString(program), text);
  EXPECT_EQ(CheckRoundTrip(program), absl::OkStatus());
}

// A function that stores `value`, an expression of the parameters below, to y of the given type.
std::string Storing(const std::string& type, const std::string& value) {
  return "operator f(x: float32[16], d: float64[16], h: float16[16], n: int32[16], u: uint64[2], "
         "b: bool[16]) -> (y: " +
         type + "[16]) {\n  for i in 0..8 {\n    y[i] = " + value + "\n  }\n}\n";
}

TEST(ParseTest, Expressions) {
  for (const char* value : {"x[i] + 1f32 * x[i + 1] - (x[i] - 2f32)",
                            "-x[i]",
                            "-(-3f32)",
                            "-(inf_f32)",
                            "-inf_f32",
                            "nan_f32",
                            "-0f32",
                            "1e-45f32",
                            "3.4028235e+38f32",
                            "fma(x[i], x[i], -1f32)",
                            "select(x[i] < 0f32 || b[i] && !b[i + 1], -x[i], x[i])",
                            "max(min(x[i], 6f32), 0f32)",
                            "sqrt(abs(x[i]))",
                            "round_even(floor(x[i]) + ceil(x[i]) + trunc(x[i]))",
                            "bitcast<float32>(n[i] & 1i32 << 3i32 | n[i] ^ -1i32)",
                            "float32(h[i])",
                            "float32(d[i] + 0.1f64)",
                            "float32(i)",
                            "x[select(i < 3, i, 3)]",
                            "float32(u[0] / 18446744073709551615u64)",
                            "x[i * 3 % 16]"}) {
    SCOPED_TRACE(value);
    ExpectReadsBack(Storing("float32", value));
  }
  ExpectReadsBack(Storing("bool", "n[i] == -7i32 != x[i] >= 1f32 && (b[i] || b[0])"));
  ExpectReadsBack(Storing("int32", "~n[i] + int32(uint8(n[i]))"));
  ExpectReadsBack(Storing("float16", "select(b[i], h[0], 0.5f16)"));
  ExpectReadsBack(Storing("int64", "int64(i) - -9223372036854775808i64"));
}

TEST(ParseTest, VectorsAndLets) {
  ExpectReadsBack(R"(operator f(x: float32[64], n: int32[8]) -> (y: float32[64]) {
  let t0 = x[ramp(0, 1, 8)] * broadcast(0.5f32, 8)
  let t1 = t0 * t0
  y[ramp(8, 2, 8)] = t1 + select(broadcast(true, 8), t1, t0)
  y[indexx8(n[ramp(0, 1, 8)])] = float32x8(n[ramp(0, 1, 8)])
}
)");
}

constexpr char kDots[] = R"(main f(x: int16[8], w: int8[8]) -> (y: int32[3]) {
  y[0] = dot<4>(0i32, x[ramp(0, 1, 4)], w[ramp(0, 1, 4)])
  y[1] = dot<smlad, 4, swaps>(0i32, x[ramp(0, 1, 4)], w[ramp(0, 1, 4)])
  y[2] = dot<8, swaps>(5i32, x[ramp(0, 1, 8)], w[ramp(0, 1, 8)])
}
)";

TEST(ParseTest, Dots) {
  ExpectReadsBack(kDots);
  std::vector<int16_t> x = {1, 10, 100, 1000, 2, 20, 200, 2000};
  std::vector<int8_t> w = {1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<int32_t> y(3);
  const LoopProgram program = Parsed(kDots);
  ASSERT_EQ(Interpreter(program).Run("f", {x.data(), w.data(), y.data()}), absl::OkStatus());
  // Elements 1 and 2 of every four of w are exchanged.
  EXPECT_EQ(y[0], 1 + 20 + 300 + 4000);
  EXPECT_EQ(y[1], 1 + 30 + 200 + 4000);
  EXPECT_EQ(y[2], 5 + 4231 + 2 * 5 + 20 * 7 + 200 * 6 + 2000 * 8);
}

// Two steps of two rows and two columns. The rows alternate in pairs of elements.
constexpr char kTile[] = R"(main f(x: int16[16], w: int8[16]) -> (y: int32[4]) {
  y[ramp(0, 1, 4)] = broadcast(7i32, 4)
  y[ramp(0, 1, 4)] = dot<smlad, 4, swaps, steps 2, run 2>(y[ramp(0, 1, 4)], x[ramp(0, 1, 16)], w[ramp(0, 1, 16)])
}
)";

TEST(ParseTest, DotsOfSeveralSteps) {
  ExpectReadsBack(kTile);
  ExpectReadsBack(R"(main f(x: int8[32], w: int8[32]) -> (y: int32[4]) {
  y[ramp(0, 1, 4)] = broadcast(7i32, 4)
  y[ramp(0, 1, 4)] = dot<tdpbssd, 8, steps 2, column_run 4>(y[ramp(0, 1, 4)], x[ramp(0, 1, 32)], w[ramp(0, 1, 32)])
}
)");
  ExpectReadsBack(R"(main f(x: int8[24], w: int8[24]) -> (y: int32[4]) {
  y[ramp(0, 1, 4)] = broadcast(7i32, 4)
  y[ramp(0, 1, 4)] = dot<tdpbssd, 4, column_run 2, parts 3>(y[ramp(0, 1, 4)], x[ramp(0, 1, 24)], w[ramp(0, 1, 24)])
}
)");
  std::vector<int16_t> x(16);
  std::vector<int8_t> w(16);
  // In step s, element e of row r is 10^r. It is multiplied by element e of column c, which is
  // 4 s + e + c.
  const int element[] = {0, 1, 2, 3}, swapped[] = {0, 2, 1, 3};
  for (int s = 0; s < 2; ++s) {
    for (int e : element) {
      for (int r = 0; r < 2; ++r) x[8 * s + e / 2 * 4 + r * 2 + e % 2] = r == 0 ? 1 : 10;
      for (int c = 0; c < 2; ++c) w[8 * s + 4 * c + swapped[e]] = 4 * s + e + c;
    }
  }
  x[1] = 0;  // element 1 of row 0, which is multiplied by element 1 of both columns
  std::vector<int32_t> y(4);
  const LoopProgram program = Parsed(kTile);
  ASSERT_EQ(Interpreter(program).Run("f", {x.data(), w.data(), y.data()}), absl::OkStatus());
  EXPECT_EQ(y, (std::vector<int32_t>{7 + 28 - 1, 7 + 36 - 2, 7 + 280, 7 + 360}));
}

constexpr char kInterleaved[] = R"(main f(x: int8[8]) -> (y: int8[8], z: int8[4]) {
  y[ramp(0, 1, 8)] = interleave(x[ramp(0, 1, 2)], x[ramp(4, 1, 2)], broadcast(9i8, 2), x[ramp(2, 1, 2)])
  z[ramp(0, 1, 4)] = interleave(x[0], 5i8, x[2], x[3])
}
)";

TEST(ParseTest, InterleavedLanes) {
  ExpectReadsBack(kInterleaved);
  std::vector<int8_t> x = {10, 11, 12, 13, 14, 15, 16, 17}, y(8), z(4);
  const LoopProgram program = Parsed(kInterleaved);
  ASSERT_EQ(Interpreter(program).Run("f", {x.data(), y.data(), z.data()}), absl::OkStatus());
  EXPECT_EQ(y, (std::vector<int8_t>{10, 14, 9, 12, 11, 15, 9, 13}));
  EXPECT_EQ(z, (std::vector<int8_t>{10, 5, 12, 13}));
}

TEST(ParseTest, Statements) {
  ExpectReadsBack(R"(profile_hook hook

internal operator f(x: float32[4, 16]) -> (y: float32[4, 16]) workspace w: uint8[128] align 64 {
  allocate a: float32[16] align 32 {
    allocate s: float32[] workspace 64 {
      allocate t: int8[4] static {
        s[] = 0f32
        for i in 0..4 parallel {
          for j in i..+16 - i vectorized {
            y[i, j] = s[]
          }
          for j in 3..9 unrolled {
            prefetch x[i + j]
            prefetch x[-64] to cache 2
            y[i, j] = x[i, j]
          }
        }
      }
    }
  }
  allocate a: float32[16] align 32 {
    if x[0, 0] < 1f32 {
      a[3] = 1f32
    } else {
      y[0, 1] = a[3]
    }
  }
}

packed in_place task g(task: index, num_tasks: index, x: float32[4]) -> (y: float32[4]) {
  y[task] = x[task % num_tasks]
}

internal packed by_name external e() -> (y: float32[4])

main m(x: float32[64]) -> (y: float32[64]) pools p: uint8[128] contexts device: uint8[0] {
  call f(x, y, p) profile 0
  for i in 0..4 {
    launch 4 g(x + 3, y + i * 2)
  }
  call e(y)
}
)");
}

TEST(ParseTest, ConstantsAndData) {
  ExpectReadsBack(R"(constant w0 "a/long name": float32[2] align 64 pool fast = [0.5f32, -inf_f32]
constant w1 "k": int64[1] = [-9223372036854775808i64]
constant w2 "h": float16[2] = [0.099975586f16, 65504f16]
internal data pair: "struct Pair" header "pair.h" align 16 = {42i32, "x\n\"", &w, null, &f(), [1.5f64, 2f64], bytes(2, "\000a")}
variable context: "void*" = null
packed weak getter get_pair of pair
profile_hook hook

operator f() -> (y: float32[2]) {
  y[1] = w0[1]
}
)");
}

TEST(ParseTest, HandWrittenTextIsFree) {
  const LoopProgram program = Parsed(
      "// A comment.\n"
      "constant w: float32[4]  // zeros\n"
      "operator f(x: float32[4]) -> (y: float32[4]) { for i in 1..1+3 { y[i]=x[i]+w[i] }\n }");
  EXPECT_EQ(ToString(program.funcs[0]),
            "operator f(x: float32[4]) -> (y: float32[4]) {\n"
            "  for i in 1..+1 + 3 - 1 {\n"
            "    y[i] = x[i] + w[i]\n"
            "  }\n"
            "}\n");
  std::vector<float> x = {1, 2, 3, 4}, y(4);
  ASSERT_TRUE(Interpreter(program).Run("f", {x.data(), y.data()}).ok());
  EXPECT_EQ(y, (std::vector<float>{0, 2, 3, 4}));
}

// A tensor whose name is a constant in the text gets another name there.
TEST(ParseTest, NamesAreNoConstants) {
  for (const char* name : {"inf_bf16", "nan_bf16", "inf_f32", "true"}) {
    const Buffer x = MakeBuffer(name, DType::Float(32), {1}, BufferScope::kParam),
                 y = MakeBuffer("y", DType::Float(32), {1}, BufferScope::kParam);
    LoopProgram program;
    program.funcs.push_back({.name = "f",
                             .params = {x, y},
                             .num_inputs = 1,
                             .body = MakeStore(y, {0}, MakeLoad(x, {0}))});
    EXPECT_EQ(CheckRoundTrip(program), absl::OkStatus()) << name;
  }
}

TEST(ParseTest, LargeConstantsAreGivenByTheirHash) {
  const std::string bytes(64, '\1');
  ParseOptions options;
  std::string asked;
  options.contents = [&](absl::string_view hash) {
    asked = std::string(hash);
    return &bytes;
  };
  const std::string text = "constant w0: int8[64] = #29103aad\n";
  const absl::StatusOr<LoopProgram> program = ParseProgram(text, options);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(asked, "29103aad");
  EXPECT_EQ(program->constants[0].tensor.bytes(), bytes);
  EXPECT_EQ(ParseProgram(text).status().message(),
            "loops:1:25: the 64 bytes of #29103aad are not known here; wanted their values");
}

}  // namespace
}  // namespace kiln::loop
