// SPDX-License-Identifier: Apache-2.0
// Loads, stores, loops, branches, local buffers and constants: machine code and interpreter agree.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "compiler/base/tensor.h"
#include "compiler/codegen/llvm/codegen_llvm.h"
#include "compiler/codegen/llvm/test_programs.h"
#include "compiler/loop/expr.h"
#include "compiler/loop/loop.h"

namespace kiln::codegen {
namespace {

using loop::Buffer;
using loop::Expr;
using loop::ForKind;
using loop::MakeFor;
using loop::MakeLoad;
using loop::MakeRamp;
using loop::MakeStore;
using loop::MakeVar;
using loop::Stmt;
using loop::Var;

void CheckOnAll(const loop::LoopProgram& program, const std::vector<std::string>& args) {
  for (const Target& target : RunnableTargets()) ExpectSameBits(program, "f", args, target);
}

std::string Zeros(const Buffer& buffer) { return std::string(buffer->num_bytes(), '\0'); }

TEST(MemoryTest, StridesOfLoadsAndStores) {
  for (DType dtype : {DType::Int(8), kF32, DType::Float(64), DType::Bool()}) {
    for (int lanes : {2, 4, 16}) {
      for (int64_t stride : {-1, 0, 1, 2, 3, 4, 5}) {
        const Buffer in = Param("in", dtype, {96}), loaded = Param("loaded", dtype, {lanes}),
                     stored = Param("stored", dtype, {96});
        const int64_t first = stride < 0 ? lanes : 3;
        const Expr strided = stride == 0 ? loop::MakeBroadcast(Expr(first), lanes)
                                         : MakeRamp(Expr(first), stride, lanes);
        std::vector<Stmt> body = {
            MakeStore(loaded, {MakeRamp(Expr(0), 1, lanes)}, MakeLoad(in, {strided}))};
        if (stride != 0) {
          body.push_back(MakeStore(stored, {strided}, MakeLoad(in, {MakeRamp(Expr(7), 1, lanes)})));
        }
        CheckOnAll(OneFunc({in, loaded, stored}, 1, loop::MakeBlock(body)),
                   {EdgeValues(dtype, 96), Zeros(loaded), Zeros(stored)});
      }
    }
  }
}

// Transposes a tile: its rows are vectors of the input, its columns vectors of the output. Each
// step in local memory interleaves the first half of the vectors with the second.
loop::LoopProgram TransposedTile(DType dtype, int side) {
  const Buffer in = Param("in", dtype, {side * side}), out = Param("out", dtype, {side * side});
  const auto vectors = [&](int first, int count) {
    return MakeRamp(Expr(first * side), 1, count * side);
  };
  std::vector<Buffer> steps;
  std::vector<Stmt> body;
  Buffer from = in;
  for (int done = 1; done < side; done *= 2) {
    const bool last = done * 2 == side;
    const Buffer to =
        last ? out : loop::MakeBuffer("step", dtype, {side * side}, loop::BufferScope::kLocal);
    for (int i = 0; i < side / 2; ++i) {
      body.push_back(MakeStore(to, {vectors(2 * i, 2)},
                               loop::MakeInterleave({MakeLoad(from, {vectors(i, 1)}),
                                                     MakeLoad(from, {vectors(i + side / 2, 1)})})));
    }
    if (!last) steps.push_back(to);
    from = to;
  }
  Stmt all = loop::MakeBlock(body);
  for (const Buffer& step : steps) all = loop::MakeAllocate(step, all);
  return OneFunc({in, out}, 1, all);
}

TEST(MemoryTest, TilesAreTransposedInRegisters) {
  for (DType dtype : {DType::Int(8), DType::Float(16), kF32, DType::Float(64), DType::Bool()}) {
    for (int side : {4, 8, 16}) {
      CheckOnAll(TransposedTile(dtype, side),
                 {EdgeValues(dtype, side * side), std::string(side * side * dtype.bytes(), '\0')});
    }
  }
  const std::string text =
      EmitAssembly(TransposedTile(kF32, 16), *Target::Parse("x86-64-v4")).value();
  // No element is moved individually, and nothing is on the stack.
  EXPECT_FALSE(absl::StrContains(text, "vinsertps")) << text;
  EXPECT_FALSE(absl::StrContains(text, "vmovss")) << text;
  EXPECT_FALSE(absl::StrContains(text, "(%rsp")) << text;
  const std::vector<absl::string_view> parts = absl::StrSplit(text, "vperm");
  EXPECT_LE(parts.size() - 1, 64u) << text;  // four steps of 16 vectors
}

TEST(MemoryTest, Prefetches) {
  const Buffer in = Param("in", kF32, {64}), out = Param("out", kF32, {16});
  const Var i = MakeVar("i");
  const loop::LoopProgram program =
      OneFunc({in, out}, 1,
              MakeFor(i, 0, 16, ForKind::kSerial,
                      loop::MakeBlock({loop::MakePrefetch(in, i * 4),
                                       MakeStore(out, {i}, MakeLoad(in, {i}))})));
  CheckOnAll(program, {EdgeValues(kF32, 64), Zeros(out)});
  EXPECT_NE(EmitAssembly(program, *Target::Parse("x86-64"))->find("prefetcht0"), std::string::npos);
  EXPECT_NE(EmitAssembly(program, *Target::Parse("aarch64"))->find("prfm"), std::string::npos);
}

// Rows with a distance of 4 KiB times a vector of columns, in registers: the tile of AVX-512.
TEST(MemoryTest, RowsAreOperandsOfMultiplyAddsWithoutAnIndexRegister) {
  constexpr int64_t kRows = 28, kSteps = 64, kStride = 1024, kLanes = 16;
  const Buffer x = Param("x", kF32, {kRows * kStride}), w = Param("w", kF32, {kSteps * kLanes}),
               out = Param("out", kF32, {kRows * kLanes});
  const Buffer acc = loop::MakeBuffer("acc", kF32, {kRows * kLanes}, loop::BufferScope::kLocal);
  const Var k = MakeVar("k");
  std::vector<Stmt> clear, step, store;
  for (int64_t row = 0; row < kRows; ++row) {
    const Expr at = MakeRamp(Expr(row * kLanes), 1, kLanes);
    const Expr sum = MakeLoad(acc, {at});
    const Expr value = loop::MakeBroadcast(MakeLoad(x, {Expr(row * kStride) + k}), kLanes);
    clear.push_back(MakeStore(acc, {at}, loop::MakeBroadcast(loop::Const(kF32, 0), kLanes)));
    step.push_back(MakeStore(
        acc, {at}, loop::MakeFma(value, MakeLoad(w, {MakeRamp(k * kLanes, 1, kLanes)}), sum)));
    store.push_back(MakeStore(out, {at}, sum));
  }
  const loop::LoopProgram program = OneFunc(
      {x, w, out}, 2,
      loop::MakeAllocate(
          acc, loop::MakeBlock({loop::MakeBlock(clear),
                                MakeFor(k, 0, kSteps, ForKind::kSerial, loop::MakeBlock(step)),
                                loop::MakeBlock(store)})));
  CheckOnAll(program,
             {EdgeValues(kF32, kRows * kStride), EdgeValues(kF32, kSteps * kLanes, 3), Zeros(out)});
  const std::string assembly = *EmitAssembly(program, *Target::Parse("x86-64-v4"));
  int operands = 0;
  for (const absl::string_view line : absl::StrSplit(assembly, '\n')) {
    if (!absl::StrContains(line, "vfmadd") || !absl::StrContains(line, "{1to16}")) continue;
    ++operands;
    // offset(%base), not offset(%base,%index,scale)
    const absl::string_view address = line.substr(line.find('('));
    EXPECT_EQ(absl::StrContains(address.substr(0, address.find(')')), ','), false) << line;
  }
  EXPECT_EQ(operands % kRows, 0);
  EXPECT_GE(operands, kRows);
}

// A window of a depthwise convolution: nine taps of 16 channels. Its rows and columns are farther
// apart than the offset of a Helium instruction reaches. No pointer to a tap is on the stack.
TEST(MemoryTest, VectorsOfAWindowAreReachedFromFewPointers) {
  constexpr int64_t kTiles = 8, kChannels = 16 * kTiles, kRow = 6 * kChannels, kLanes = 4;
  constexpr DType kI8 = DType::Int(8);
  const Buffer x = Param("x", kI8, {3 * kRow}), w = Param("w", kI8, {9 * kChannels}),
               out = Param("out", kI32, {kChannels});
  const Buffer acc = loop::MakeBuffer("acc", kI32, {16}, loop::BufferScope::kLocal);
  const Var tile = MakeVar("tile");
  const auto vector = [&](const Expr& at) { return MakeRamp(at, 1, kLanes); };
  std::vector<Stmt> stmts;
  for (int64_t tap = -1; tap <= 9; ++tap) {
    for (int64_t lane = 0; lane < 16; lane += kLanes) {
      const Expr at = tile * 16 + lane, sum = MakeLoad(acc, {vector(lane)});
      if (tap < 0) {
        const Expr zero = loop::MakeBroadcast(loop::Const(kI32, 0), kLanes);
        stmts.push_back(MakeStore(acc, {vector(lane)}, zero));
      } else if (tap == 9) {
        stmts.push_back(MakeStore(out, {vector(at)}, sum));
      } else {
        const Expr element = MakeLoad(x, {vector(at + tap / 3 * kRow + tap % 3 * kChannels)});
        const Expr weight = MakeLoad(w, {vector(at + tap * kChannels)});
        const Expr product = loop::MakeCast(kI32, element) * loop::MakeCast(kI32, weight);
        stmts.push_back(MakeStore(acc, {vector(lane)}, sum + product));
      }
    }
  }
  const loop::LoopProgram program = OneFunc(
      {x, w, out}, 2,
      loop::MakeAllocate(
          acc, MakeFor(tile, 0, kTiles, ForKind::kSerial, loop::MakeBlock(std::move(stmts)))));
  CheckOnAll(program, {EdgeValues(kI8, 3 * kRow), EdgeValues(kI8, 9 * kChannels), Zeros(out)});
  const std::string assembly = *EmitAssembly(program, *Target::Parse("cortex-m55"));
  EXPECT_TRUE(absl::StrContains(assembly, "vldrb.s32")) << assembly;
  EXPECT_FALSE(absl::StrContains(assembly, "[sp")) << assembly;
}

// There are more sums than registers. Each spilled vector lies in one cache line.
TEST(MemoryTest, VectorsOnTheStackAreAligned) {
  constexpr int64_t kSums = 40, kLanes = 16;
  const Buffer in = Param("in", kF32, {kSums * kLanes}), out = Param("out", kF32, {kSums * kLanes});
  const Buffer acc = loop::MakeBuffer("acc", kF32, {kSums * kLanes}, loop::BufferScope::kLocal);
  const Var k = MakeVar("k");
  std::vector<Stmt> clear, step, store;
  for (int64_t i = 0; i < kSums; ++i) {
    const Expr at = MakeRamp(Expr(i * kLanes), 1, kLanes);
    clear.push_back(MakeStore(acc, {at}, loop::MakeBroadcast(loop::Const(kF32, 0), kLanes)));
    step.push_back(MakeStore(acc, {at},
                             MakeLoad(acc, {at}) * MakeLoad(in, {at}) +
                                 loop::MakeBroadcast(loop::Const(kF32, 1), kLanes)));
    store.push_back(MakeStore(out, {at}, MakeLoad(acc, {at})));
  }
  const loop::LoopProgram program =
      OneFunc({in, out}, 1,
              loop::MakeAllocate(
                  acc, loop::MakeBlock({loop::MakeBlock(clear),
                                        MakeFor(k, 0, 8, ForKind::kSerial, loop::MakeBlock(step)),
                                        loop::MakeBlock(store)})));
  CheckOnAll(program, {EdgeValues(kF32, kSums * kLanes), Zeros(out)});
  int aligned = 0;
  const std::string assembly = *EmitAssembly(program, *Target::Parse("x86-64-v4"));
  for (const absl::string_view line : absl::StrSplit(assembly, '\n')) {
    if (!absl::StrContains(line, "%zmm") || !absl::StrContains(line, "(%rsp")) continue;
    EXPECT_FALSE(absl::StrContains(line, "vmovup") || absl::StrContains(line, "vmovdqu")) << line;
    ++aligned;
  }
  EXPECT_GT(aligned, 0);
}

// Copies rows of `bytes` bytes, which are farther apart in the source.
loop::LoopProgram CopiedRows(int64_t bytes) {
  const Buffer in = Param("in", DType::Int(8), {8 * 128}),
               out = Param("out", DType::Int(8), {8 * bytes});
  const Var i = MakeVar("i"), k = MakeVar("k");
  const Stmt copy = MakeStore(out, {i * bytes + k}, MakeLoad(in, {i * 128 + k + 3}));
  return OneFunc({in, out}, 1,
                 MakeFor(i, 0, 8, ForKind::kSerial, MakeFor(k, 0, bytes, ForKind::kSerial, copy)));
}

TEST(MemoryTest, SmallMachinesCopyWordsOrCall) {
  loop::LoopProgram words = CopiedRows(8), rows = CopiedRows(100);
  const Target target = *Target::Parse("cortex-m4");
  EXPECT_FALSE(absl::StrContains(*EmitAssembly(words, target), "ldrb"));
  EXPECT_TRUE(absl::StrContains(*EmitAssembly(rows, target), "bl\tmemcpy"));
  rows.funcs[0].in_place = true;
  EXPECT_TRUE(absl::StrContains(*EmitAssembly(rows, target), "bl\tmemmove"));
  EXPECT_FALSE(absl::StrContains(*EmitAssembly(rows, *Target::Parse("x86-64")), "memmove"));
}

TEST(MemoryTest, GatherAndScatter) {
  const Buffer in = Param("in", kF32, {64}), index = Param("index", kI32, {32}),
               out = Param("out", kF32, {64});
  const Var i = MakeVar("i");
  const Expr lanes = MakeRamp(i * 8, 1, 8);
  const Expr loaded = MakeLoad(index, {lanes});
  const Expr place = loop::ToIndex(
      loop::MakeBinary(loop::BinaryOp::kAnd, loaded, loop::IntConst(loop::Type::Of(kI32, 8), 31)));
  // By an index in memory, which may have equal elements, and by a computed index.
  const Stmt body = loop::MakeBlock({MakeStore(out, {lanes}, MakeLoad(in, {place})),
                                     MakeStore(out, {place + 32}, MakeLoad(in, {lanes % 5}))});
  CheckOnAll(OneFunc({in, index, out}, 2, MakeFor(i, 0, 4, ForKind::kSerial, body)),
             {EdgeValues(kF32, 64), EdgeValues(kI32, 32), Zeros(out)});
}

TEST(MemoryTest, MultiDimensionalIndices) {
  const Buffer in = Param("in", kF32, {3, 4, 5}), out = Param("out", kF32, {5, 3, 4});
  const Var i = MakeVar("i"), j = MakeVar("j"), k = MakeVar("k");
  const Stmt body = MakeFor(
      i, 0, 3, ForKind::kSerial,
      MakeFor(
          j, 0, 4, ForKind::kSerial,
          MakeFor(k, 0, 5, ForKind::kSerial,
                  MakeStore(out, {k, i, j}, MakeLoad(in, {i, j, k}) + MakeLoad(in, {0, 0, k})))));
  CheckOnAll(OneFunc({in, out}, 1, body), {EdgeValues(kF32, 60), Zeros(out)});
}

TEST(MemoryTest, LoopsOfEveryKindAndExtent) {
  for (ForKind kind :
       {ForKind::kSerial, ForKind::kParallel, ForKind::kVectorized, ForKind::kUnrolled}) {
    for (int64_t extent : {0, 1, 2, 7}) {
      const Buffer in = Param("in", kI32, {16}), out = Param("out", kI32, {16});
      const Var i = MakeVar("i");
      CheckOnAll(OneFunc({in, out}, 1,
                         MakeFor(i, 2, Expr(extent), kind,
                                 MakeStore(out, {i}, MakeLoad(in, {i}) * MakeLoad(in, {i + 1})))),
                 {EdgeValues(kI32, 16), Zeros(out)});
    }
  }
}

TEST(MemoryTest, ExtentsThatAreComputed) {
  // A triangle: the inner loop's bounds depend on the outer variable, and are empty at its start.
  const Buffer out = Param("out", kI32, {6, 6});
  const Var i = MakeVar("i"), j = MakeVar("j");
  CheckOnAll(OneFunc({out}, 0,
                     MakeFor(i, 0, 6, ForKind::kSerial,
                             MakeFor(j, loop::Max(i - 2, 0), loop::Min(i, 3), ForKind::kSerial,
                                     MakeStore(out, {i, j}, loop::MakeCast(kI32, i * 10 + j))))),
             {Zeros(out)});
}

TEST(MemoryTest, Branches) {
  const Buffer in = Param("in", kI32, {32}), out = Param("out", kI32, {32});
  const Var i = MakeVar("i");
  const Expr x = MakeLoad(in, {i});
  const Stmt nested = loop::MakeIf(x < loop::Const(kI32, 3), MakeStore(out, {i}, x + x));
  CheckOnAll(OneFunc({in, out}, 1,
                     MakeFor(i, 0, 32, ForKind::kSerial,
                             loop::MakeIf(x > loop::Const(kI32, 0), nested,
                                          MakeStore(out, {i}, loop::Const(kI32, 9))))),
             {EdgeValues(kI32, 32), Zeros(out)});
}

TEST(MemoryTest, LocalBuffersConstantsAndWorkspace) {
  std::vector<float> weights(40);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = 0.5f * static_cast<float>(i) - 3;
  const Buffer constant = loop::MakeBuffer("weights", kF32, {40}, loop::BufferScope::kConstant);
  const Buffer local = loop::MakeBuffer("local", kF32, {8}, loop::BufferScope::kLocal);
  const Buffer scratch = loop::MakeBuffer("scratch", kF32, {5}, loop::BufferScope::kWorkspace);
  const Buffer workspace =
      loop::MakeBuffer("workspace", DType::UInt(8), {128}, loop::BufferScope::kWorkspace, 64);
  const Buffer in = Param("in", kF32, {40}), out = Param("out", kF32, {5});
  const Var i = MakeVar("i"), j = MakeVar("j"), k = MakeVar("k");
  const Expr lanes = MakeRamp(Expr(0), 1, 8);
  const Stmt accumulate = loop::MakeAllocate(
      local, loop::MakeBlock({
                 MakeStore(local, {lanes},
                           MakeLoad(in, {MakeRamp(i * 8, 1, 8)}) *
                               MakeLoad(constant, {MakeRamp(i * 8, 1, 8)})),
                 MakeStore(scratch, {i}, loop::Const(kF32, 1)),
                 MakeFor(j, 0, 8, ForKind::kSerial,
                         MakeStore(scratch, {i}, MakeLoad(scratch, {i}) + MakeLoad(local, {j}))),
             }));
  loop::LoopProgram program =
      OneFunc({in, out}, 1,
              loop::MakeAllocate(
                  scratch,
                  loop::MakeBlock({MakeFor(i, 0, 5, ForKind::kSerial, accumulate),
                                   MakeFor(k, 0, 5, ForKind::kSerial,
                                           MakeStore(out, {k}, MakeLoad(scratch, {4 - k})))}),
                  /*workspace_offset=*/64));
  program.funcs[0].workspace = workspace;
  program.constants.push_back({constant, Tensor::From<float>({40}, kF32, weights)});
  CheckOnAll(program, {EdgeValues(kF32, 40, 3), Zeros(out), std::string(128, '\0')});
}

// Four stores of vectors to `stored`, whose values take many dependent operations. The last of
// these is a division.
loop::LoopProgram LongStores(const Buffer& in, const Buffer& stored) {
  constexpr int kLanes = 16, kSteps = 20;
  std::vector<Stmt> body;
  for (int store = 0; store < 4; ++store) {
    const Expr lanes = MakeRamp(Expr(store * kLanes), 1, kLanes);
    const Expr x = MakeLoad(in, {lanes});
    Expr value = x;
    for (int step = 0; step < kSteps; ++step) value = value * x + loop::Const(x.type(), step);
    body.push_back(MakeStore(stored, {lanes}, value / (x * x + loop::Const(x.type(), 1))));
  }
  return OneFunc({in, stored}, stored == in ? 0 : 1, loop::MakeBlock(body));
}

// Number of multiplications between the first and the last division.
int64_t MultiplicationsBetweenDivisions(const std::string& text) {
  const size_t first = text.find(" fdiv "), last = text.rfind(" fdiv ");
  const absl::string_view between = absl::string_view(text).substr(first, last - first);
  return static_cast<int64_t>(
             std::vector<absl::string_view>(absl::StrSplit(between, " fmul ")).size()) -
         1;
}

TEST(MemoryTest, LongStoresAreComputedTogether) {
  const Buffer in = Param("in", kF32, {64}), out = Param("out", kF32, {64});
  const Target target = *Target::Parse("x86-64-v4");
  const loop::LoopProgram apart = LongStores(in, out), in_place = LongStores(in, in);
  EXPECT_EQ(MultiplicationsBetweenDivisions(EmitLlvmText(apart, target).value()), 0);
  CheckOnAll(apart, {EdgeValues(kF32, 64), Zeros(out)});
  // A store that may read another one's result follows it.
  EXPECT_GT(MultiplicationsBetweenDivisions(EmitLlvmText(in_place, target).value()), 40);
}

TEST(MemoryTest, SharedExpressionsAreEmittedOnce) {
  const Buffer in = Param("in", DType::UInt(32), {4}), out = Param("out", DType::UInt(32), {4});
  const Var i = MakeVar("i");
  Expr e = MakeLoad(in, {i});
  for (int step = 0; step < 200; ++step) e = e + e * e;  // 2^200 nodes as a tree
  CheckOnAll(OneFunc({in, out}, 1, MakeFor(i, 0, 4, ForKind::kSerial, MakeStore(out, {i}, e))),
             {EdgeValues(DType::UInt(32), 4), Zeros(out)});
}

}  // namespace
}  // namespace kiln::codegen
