// SPDX-License-Identifier: Apache-2.0
// Speed of one core on convolutions with 1 x 1 and 3 x 3 kernels, channels last. A register tile of
// MR pixels x NR vectors is in a local buffer, so the result shows if the code generator keeps such
// a tile in registers. Also measures the compilation of such layers, and a packed call.
//
//   bazel run -c opt //compiler/codegen/llvm:codegen_benchmark
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "compiler/codegen/llvm/jit.h"
#include "compiler/loop/expr.h"
#include "compiler/loop/loop.h"
#include "compiler/loop/passes.h"
#include "compiler/target/target.h"

namespace kiln::codegen {
namespace {

using loop::Buffer;
using loop::Expr;
using loop::ForKind;
using loop::MakeBlock;
using loop::MakeBroadcast;
using loop::MakeFor;
using loop::MakeLoad;
using loop::MakeRamp;
using loop::MakeStore;
using loop::MakeVar;
using loop::Stmt;
using loop::Var;

struct Convolution {
  int64_t pixels;  // pixels of a row and of a column of the output
  int64_t in_channels;
  int64_t out_channels;
  int64_t kernel;

  int64_t flops() const {
    return 2 * pixels * pixels * in_channels * out_channels * kernel * kernel;
  }
};

struct Tile {
  int rows;     // pixels
  int vectors;  // of output channels
  int lanes;
};

// Shapes: input [pixels + kernel - 1][pixels + kernel - 1][in], weights [out /
// width][kernel][kernel][in][width], output [pixels][pixels][out].
loop::LoopProgram MakeProgram(const Convolution& c, const Tile& tile) {
  const int64_t width = tile.vectors * tile.lanes;
  const int64_t padded = c.pixels + c.kernel - 1;
  auto param = [](const char* name, int64_t count) {
    return loop::MakeBuffer(name, kF32, {count}, loop::BufferScope::kParam);
  };
  const Buffer input = param("input", padded * padded * c.in_channels);
  const Buffer weights = param("weights", c.out_channels * c.kernel * c.kernel * c.in_channels);
  const Buffer output = param("output", c.pixels * c.pixels * c.out_channels);
  const Buffer acc = loop::MakeBuffer("acc", kF32, {tile.rows * width}, loop::BufferScope::kLocal);

  const Var block = MakeVar("block"), y = MakeVar("y"), x = MakeVar("x"), ky = MakeVar("ky"),
            kx = MakeVar("kx"), k = MakeVar("k");
  auto each = [&](auto make) {
    std::vector<Stmt> stmts;
    for (int r = 0; r < tile.rows; ++r) {
      for (int v = 0; v < tile.vectors; ++v) {
        stmts.push_back(
            make(r, v, Expr(MakeRamp(Expr(r * width + v * tile.lanes), 1, tile.lanes))));
      }
    }
    return MakeBlock(stmts);
  };
  const Stmt clear = each([&](int, int, Expr at) {
    return MakeStore(acc, {at}, loop::FloatConst(loop::Type::Of(kF32, tile.lanes), 0));
  });
  const Stmt multiply = each([&](int r, int v, Expr at) {
    const Expr pixel = ((y + ky) * padded + x * tile.rows + kx + r) * c.in_channels + k;
    const Expr weight =
        (((block * c.kernel + ky) * c.kernel + kx) * c.in_channels + k) * width + v * tile.lanes;
    return MakeStore(
        acc, {at},
        loop::MakeFma(MakeBroadcast(MakeLoad(input, {pixel}), tile.lanes),
                      MakeLoad(weights, {MakeRamp(weight, 1, tile.lanes)}), MakeLoad(acc, {at})));
  });
  const Stmt store = each([&](int r, int v, Expr at) {
    const Expr pixel =
        (y * c.pixels + x * tile.rows + r) * c.out_channels + block * width + v * tile.lanes;
    return MakeStore(output, {MakeRamp(pixel, 1, tile.lanes)}, MakeLoad(acc, {at}));
  });
  const Stmt reduce = MakeFor(ky, 0, c.kernel, ForKind::kSerial,
                              MakeFor(kx, 0, c.kernel, ForKind::kSerial,
                                      MakeFor(k, 0, c.in_channels, ForKind::kSerial, multiply)));
  const Stmt tiles =
      MakeFor(block, 0, c.out_channels / width, ForKind::kSerial,
              MakeFor(y, 0, c.pixels, ForKind::kSerial,
                      MakeFor(x, 0, c.pixels / tile.rows, ForKind::kSerial,
                              loop::MakeAllocate(acc, MakeBlock({clear, reduce, store})))));
  loop::LoopProgram program;
  loop::Func func;
  func.name = "convolution";
  func.params = {input, weights, output};
  func.num_inputs = 2;
  func.body = tiles;
  program.funcs.push_back(func);
  return program;
}

Tile TileFor(const Target& target) {
  const int lanes = target.Lanes(kF32);
  if (lanes == 16) return {14, 2, 16};
  return lanes == 8 ? Tile{7, 1, 8} : Tile{4, 2, 4};
}

void BM_Convolution(benchmark::State& state) {
  const Convolution c{state.range(0), state.range(1), state.range(2), state.range(3)};
  const Target target = Target::Host();
  const Tile tile = TileFor(target);
  const loop::LoopProgram program = MakeProgram(c, tile);
  if (std::getenv("KILN_PRINT_ASSEMBLY") != nullptr) {
    std::puts(EmitAssembly(program, target)->c_str());
  }
  absl::StatusOr<std::unique_ptr<Jit>> jit = Jit::Create(program, target);
  if (!jit.ok()) {
    state.SkipWithError(jit.status().ToString().c_str());
    return;
  }
  std::vector<std::vector<float>> memory;
  std::vector<void*> args;
  for (const Buffer& buffer : program.funcs[0].params) {
    memory.emplace_back(buffer->num_elements() + 16, 0.5f);
    const auto address = reinterpret_cast<uintptr_t>(memory.back().data());
    args.push_back(memory.back().data() + (64 - address % 64) % 64 / sizeof(float));
  }
  for (auto _ : state) {
    if (!(*jit)->Run("convolution", args).ok()) state.SkipWithError("failed");
  }
  state.counters["GFLOP/s"] = benchmark::Counter(static_cast<double>(c.flops()) * 1e-9,
                                                 benchmark::Counter::kIsIterationInvariantRate);
}

// Compiles fifty layers like these in one program.
void BM_CompileFiftyLayers(benchmark::State& state) {
  const Target target = Target::Host();
  loop::LoopProgram program;
  for (int layer = 0; layer < 50; ++layer) {
    const Convolution c{56, 64 + 32 * layer, 64, layer % 2 == 0 ? 3 : 1};
    program.funcs.push_back(MakeProgram(c, TileFor(target)).funcs[0]);
    program.funcs.back().name = "layer" + std::to_string(layer);
  }
  LlvmOptions options;
  options.opt_level = static_cast<int>(state.range(0));
  for (auto _ : state) {
    if (!EmitObject(program, target, options).ok()) state.SkipWithError("failed");
  }
}

BENCHMARK(BM_CompileFiftyLayers)->Arg(1)->Arg(2)->Arg(3)->Unit(benchmark::kMillisecond);

// Compiles a constant of many megabytes.
void BM_CompileConstant(benchmark::State& state) {
  const int64_t count = state.range(0) << 18;
  const Buffer constant = loop::MakeBuffer("constant", kF32, {count}, loop::BufferScope::kConstant);
  const Buffer output = loop::MakeBuffer("output", kF32, {count}, loop::BufferScope::kParam);
  const Var i = MakeVar("i");
  loop::LoopProgram program;
  loop::Func func;
  func.name = "copy";
  func.params = {output};
  func.body =
      MakeFor(i, 0, count, ForKind::kSerial, MakeStore(output, {i}, MakeLoad(constant, {i})));
  program.funcs.push_back(func);
  program.constants.push_back({constant, Tensor::Filled({{count}, kF32}, 0.5)});
  for (auto _ : state) {
    absl::StatusOr<std::string> object = EmitObject(program, Target::Host());
    if (!object.ok() || !LinkSharedObject(*object, "c.so").ok()) state.SkipWithError("failed");
  }
}

BENCHMARK(BM_CompileConstant)
    ->ArgName("MiB")
    ->Arg(100)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

// A packed main that calls a packed operator with three tensors a hundred times. The time is per
// call.
void BM_PackedCall(benchmark::State& state) {
  constexpr int kCalls = 100;
  auto param = [](const char* name) {
    return loop::MakeBuffer(name, kF32, {1, 4, 4, 8}, loop::BufferScope::kParam);
  };
  const Buffer a = param("a"), b = param("b"), out = param("out");
  loop::LoopProgram program;
  loop::Func op;
  op.name = "op";
  op.convention = loop::Convention::kPacked;
  op.params = {a, b, out};
  op.num_inputs = 2;
  op.body = MakeStore(out, {0, 0, 0, 0}, MakeLoad(a, {0, 0, 0, 0}) + MakeLoad(b, {0, 0, 0, 0}));
  loop::Func main = op;
  main.name = "main";
  main.kind = loop::Func::Kind::kMain;
  main.convention = loop::Convention::kUnpacked;
  main.body = MakeBlock(std::vector<Stmt>(
      kCalls, loop::MakeCall("op", {{a, Expr(0)}, {b, Expr(0)}, {out, Expr(0)}})));
  program.funcs = {op, main};
  auto jit = *Jit::Create(program, Target::Host());
  std::vector<float> memory(128);
  auto run = reinterpret_cast<int32_t (*)(void*, void*, void*)>(jit->Lookup("main"));
  for (auto _ : state) {
    if (run(memory.data(), memory.data(), memory.data()) != 0) state.SkipWithError("failed");
  }
  state.SetItemsProcessed(state.iterations() * kCalls);
}

BENCHMARK(BM_PackedCall);

BENCHMARK(BM_Convolution)
    ->ArgNames({"pixels", "in", "out", "kernel"})
    ->Args({56, 64, 64, 3})
    ->Args({28, 128, 128, 3})
    ->Args({28, 256, 256, 1})
    ->Args({56, 256, 64, 1})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace kiln::codegen
