// SPDX-License-Identifier: Apache-2.0
// The result of the passes for the most important loops: the register tile of a convolution. LLVM
// holds the accumulators in registers if all their indices are constants. It addresses neighbors by
// displacement if their indices differ only in the last constant.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "compiler/loop/mutate.h"
#include "compiler/loop/partition.h"
#include "compiler/loop/passes.h"
#include "compiler/loop/random_program.h"

namespace kiln::loop {
namespace {

constexpr DType kFloat = DType::Float(32);

// A 3×3 convolution of size × size × 64 to 64 channels, channels last. Its weights are packed by 32
// output channels, and its tile is `rows` pixels × two vectors of 16. With `padded`, the input is
// padded by one on the fly.
struct Convolution {
  Convolution(int64_t size, int64_t rows, bool padded) : rows(rows) {
    const int64_t in = padded ? size : size + 2;
    a = MakeBuffer("A", kFloat, {in, in, 64}, BufferScope::kParam);
    w = MakeBuffer("W", kFloat, {2, 3, 3, 64, 32}, BufferScope::kParam);
    bias = MakeBuffer("B", kFloat, {64}, BufferScope::kParam);
    out = MakeBuffer("O", kFloat, {size, size, 64}, BufferScope::kParam);
    acc = MakeBuffer("acc", kFloat, {rows * 32}, BufferScope::kLocal);
    const Var oh = MakeVar("oh"), ocb = MakeVar("ocb"), owt = MakeVar("owt");
    const Var kh = MakeVar("kh"), kw = MakeVar("kw"), ic = MakeVar("ic");

    auto input = [&](const Expr& y, const Expr& x) {
      if (!padded) return MakeLoad(a, {y, x, ic});
      const Expr top = y - Expr(1), left = x - Expr(1), end = Expr(size);
      return MakeSelect(top >= 0 && top < end && left >= 0 && left < end,
                        MakeLoad(a, {Max(Min(top, end - 1), 0), Max(Min(left, end - 1), 0), ic}),
                        Const(kFloat, 0));
    };
    const Stmt init = Tile([&](const Expr& at, const Expr&, const Expr&) {
      return MakeStore(acc, {at}, Const(kFloat, 0));
    });
    Stmt update = Tile([&](const Expr& at, const Expr& m, const Expr& channel) {
      return MakeStore(acc, {at},
                       MakeFma(input(oh + kh, owt * Expr(rows) + m + kw),
                               MakeLoad(w, {ocb, kh, kw, ic, channel}), MakeLoad(acc, {at})));
    });
    update = MakeFor(ic, 0, 64, ForKind::kSerial, update);
    update = MakeFor(kh, 0, 3, ForKind::kSerial, MakeFor(kw, 0, 3, ForKind::kSerial, update));
    const Stmt finish = Tile([&](const Expr& at, const Expr& m, const Expr& channel) {
      const Expr oc = ocb * 32 + channel;
      return MakeStore(out, {oh, owt * Expr(rows) + m, oc},
                       Max(MakeLoad(acc, {at}) + MakeLoad(bias, {oc}), Const(kFloat, 0)));
    });
    body = MakeAllocate(acc, MakeBlock({init, update, finish}));
    body = MakeFor(owt, 0, Expr(size / rows), ForKind::kSerial, body);
    body =
        MakeFor(oh, 0, Expr(size), ForKind::kParallel, MakeFor(ocb, 0, 2, ForKind::kSerial, body));
  }

  template <typename F>
  Stmt Tile(const F& f) {
    const Var m = MakeVar("m"), v = MakeVar("v"), lane = MakeVar("lane");
    Stmt s = f(m * 32 + v * 16 + lane, m, v * 16 + lane);
    s = MakeFor(v, 0, 2, ForKind::kUnrolled, MakeFor(lane, 0, 16, ForKind::kVectorized, s));
    return MakeFor(m, 0, Expr(rows), ForKind::kUnrolled, s);
  }

  LoopProgram Program(const Stmt& s) const {
    LoopProgram program;
    Func func;
    func.name = "f";
    func.params = {a, w, bias, out};
    func.num_inputs = 3;
    func.body = s;
    program.funcs.push_back(func);
    return program;
  }

  int64_t rows;
  Buffer a, w, bias, out, acc;
  Stmt body;
};

Stmt Compile(const Stmt& s) {
  return Simplify(VectorizeLoops(
      Simplify(UnrollLoops(Simplify(PartitionLoops(Simplify(FlattenBuffers(s)))))), 512));
}

int CountLines(const std::string& text, absl::string_view word) {
  int count = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) count += absl::StrContains(line, word);
  return count;
}

TEST(ConvolutionTileTest, AccumulatorsHaveConstantIndices) {
  const Convolution convolution(56, 14, /*padded=*/false);
  const Stmt s = Compile(convolution.body);
  int accesses = 0;
  auto check = [&](const Buffer& buffer, const Expr& index) {
    if (buffer != convolution.acc) return;
    ++accesses;
    const auto* ramp = index.As<Ramp>();
    ASSERT_NE(ramp, nullptr) << ToString(index);
    EXPECT_EQ(ramp->stride, 1);
    EXPECT_EQ(ramp->lanes, 16);
    EXPECT_NE(ramp->base.As<IntImm>(), nullptr) << ToString(index);
  };
  VisitStmt(
      s,
      [&](const Expr& e) {
        if (const auto* load = e.As<Load>()) check(load->buffer, load->index[0]);
      },
      [&](const Stmt& stmt) {
        if (const auto* store = stmt.As<Store>()) check(store->buffer, store->index[0]);
      });
  // Two loads and two stores of each of 28 vectors; loads of one vector are one node.
  EXPECT_GE(accesses, 28 * 3);

  const std::string text = ToString(s);
  EXPECT_EQ(CountLines(text, "fma("), 28);
  EXPECT_EQ(CountLines(text, "max("), 28);
  for (absl::string_view never : {"/", "%", "select", "vectorized", "unrolled"}) {
    EXPECT_EQ(CountLines(text, never), 0) << never;
  }
}

TEST(ConvolutionTileTest, NeighboursDifferInTheLastConstant) {
  const std::string text = ToString(Compile(Convolution(56, 14, /*padded=*/false).body));
  for (int m = 0; m < 14; ++m) {
    const std::string displacement = m == 0 ? "" : " + " + std::to_string(m * 64);
    EXPECT_EQ(CountLines(text, "broadcast(A[oh * 3712 + owt * 896 + kh * 3712 + kw * 64 + ic" +
                                   displacement + "], 16)"),
              2)
        << m;
  }
  EXPECT_EQ(CountLines(text, "W[ramp(ocb * 18432 + kh * 6144 + kw * 2048 + ic * 32, 1, 16)]"), 14);
  EXPECT_EQ(CountLines(text, "W[ramp(ocb * 18432 + kh * 6144 + kw * 2048 + ic * 32 + 16, 1, 16)]"),
            14);
}

// Number of innermost statements with a guard.
int GuardedUpdates(const std::string& text) {
  int count = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    count += absl::StrContains(line, "fma(") && absl::StrContains(line, "select");
  }
  return count;
}

TEST(ConvolutionTileTest, TheInteriorOfAPaddedImageHasNoGuards) {
  const std::string text = ToString(Compile(Convolution(56, 14, /*padded=*/true).body));
  const size_t border = text.find("} else {");
  ASSERT_NE(border, std::string::npos);
  const std::string interior = text.substr(0, border);
  EXPECT_TRUE(absl::StrContains(interior, "if oh >= 1 && oh < 55 {")) << interior;
  // Three tiles in a row: the left one, those in between, and the right one. One pixel of 14
  // crosses the edge in the two outer tiles.
  EXPECT_EQ(CountLines(interior, "fma("), 3 * 28);
  EXPECT_LE(GuardedUpdates(interior), 2 * 2);
  EXPECT_EQ(CountLines(interior, "min("), 2);
}

TEST(ConvolutionTileTest, CodeStaysWithinBounds) {
  for (int64_t size : {7, 14, 28, 56}) {
    const int64_t rows = size == 7 ? 7 : 14;
    const std::string text = ToString(Compile(Convolution(size, rows, /*padded=*/true).body));
    EXPECT_LE(CountLines(text, "fma("), rows * 2 * 12) << size;
  }
}

TEST(ConvolutionTileTest, KeepsEveryBit) {
  const Convolution convolution(7, 7, /*padded=*/true);
  const LoopProgram before = convolution.Program(convolution.body);
  LoopProgram after = convolution.Program(Compile(convolution.body));
  const auto expected = RunOnRandomInputs(before, "f", 1);
  EXPECT_EQ(RunOnRandomInputs(after, "f", 1), expected);
  OutlineParallel(after, 4);
  EXPECT_EQ(after.funcs.size(), 2u);
  EXPECT_EQ(RunOnRandomInputs(after, "f", 1), expected);
}

}  // namespace
}  // namespace kiln::loop
