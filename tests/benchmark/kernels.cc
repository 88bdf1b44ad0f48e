// SPDX-License-Identifier: Apache-2.0
// Kernels beside this machine's peak of fused multiply-adds, in one run, alternating: bazel run -c
// opt //tests/benchmark:kernels
//
// The peak is what generated code reaches that does nothing but multiply and add in registers.
// Figures are medians of rounds in which all kernels take turns, each right behind the peak.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/backend.h"
#include "compiler/base/status.h"
#include "compiler/codegen/llvm/jit.h"
#include "compiler/compile.h"
#include "compiler/executor/aot.h"
#include "compiler/loop/passes.h"
#include "compiler/ops/add_op.h"
#include "runtime_cpp/thread_pool.h"
#include "tvm/runtime/c_backend_api.h"

namespace kiln::benchmark {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kMinSeconds = 0.004;  // per measurement: short, so that neighbours compare
const DType kF32 = DType::Float(32);

struct Kernel {
  std::string name;
  double flops;
  std::unique_ptr<codegen::Jit> jit;
  std::vector<std::shared_ptr<char>> memory;
  std::vector<void*> args;
  std::string schedule;
  std::map<int, std::vector<double>> seconds = {};  // by number of threads
  std::vector<double> of_peak = {};                 // with one thread
};

std::shared_ptr<char> Memory(int64_t bytes) {
  std::shared_ptr<char> memory(
      static_cast<char*>(std::aligned_alloc(64, static_cast<size_t>((bytes + 127) / 64 * 64))),
      std::free);
  float* values = reinterpret_cast<float*>(memory.get());
  for (int64_t i = 0; i < bytes / 4; ++i) values[i] = static_cast<float>(i % 17) / 16.0f - 0.5f;
  return memory;
}

Tensor Weights(Shape shape) {
  std::vector<float> values(static_cast<size_t>(NumElements(shape)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 13) / 64.0f - 0.1f;
  return Tensor::From<float>(std::move(shape), kF32, values);
}

absl::StatusOr<Kernel> Build(std::string name, double flops, const Graph& model,
                             const ScheduleOptions& schedule = {}) {
  Kernel kernel{.name = std::move(name), .flops = flops};
  CompileOptions options;
  options.target = Target::Host();
  KILN_ASSIGN_OR_RETURN(
      const Graph graph,
      RunPasses(model, {.target = options.target, .evaluate = EvaluateConstants}, {}));
  KILN_ASSIGN_OR_RETURN(Lowered lowered, Lower(graph, options.target,
                                               {.module_name = "bench", .schedule = schedule}));
  std::vector<CallSpec> calls;
  for (const LoweredCall& c : lowered.calls) {
    calls.push_back(
        {c.function, c.inputs, c.outputs, c.workspace_bytes, c.in_place, c.op_names, c.source});
    absl::StrAppend(&kernel.schedule, kernel.schedule.empty() ? "" : "; ", c.schedule);
  }
  KILN_ASSIGN_OR_RETURN(const Plan plan, MakePlan(graph, calls));
  KILN_ASSIGN_OR_RETURN(loop::Func main, RunModel(plan, lowered.program, "run"));
  lowered.program.funcs.push_back(std::move(main));
  const codegen::Jit::Symbols symbols = {
      {"TVMBackendParallelLaunch", reinterpret_cast<void*>(&TVMBackendParallelLaunch)}};
  KILN_ASSIGN_OR_RETURN(kernel.jit, codegen::Jit::Create(VectorProgram(lowered.program, options),
                                                         options.target, symbols));
  const auto add = [&](int64_t bytes) {
    kernel.memory.push_back(Memory(bytes));
    kernel.args.push_back(kernel.memory.back().get());
  };
  for (ValueId id : graph.inputs) add(graph.type(id).num_bytes());
  for (ValueId id : graph.outputs) add(graph.type(id).num_bytes());
  if (plan.workspace_bytes() > 0) add(plan.workspace_bytes());
  return kernel;
}

absl::StatusOr<Kernel> Dense(int64_t m, int64_t n, int64_t k) {
  Graph g;
  const ValueId x = g.AddInput("x", {{m, k}, kF32});
  const ValueId w = g.AddConstant(Weights({n, k}));
  KILN_ASSIGN_OR_RETURN(const ValueId y, AddOp(g, "nn.dense", {x, w}, {{"units", n}}));
  g.outputs = {y};
  return Build(absl::StrCat("dense ", m, "x", n, "x", k), 2.0 * static_cast<double>(m * n * k), g);
}

absl::StatusOr<Kernel> Convolution(int64_t extent, int64_t in, int64_t out, int64_t kernel,
                                   bool winograd = false) {
  Graph g;
  const ValueId x = g.AddInput("x", {{1, extent, extent, in}, kF32});
  const ValueId w = g.AddConstant(Weights({out, in, kernel, kernel}));
  const int64_t padding = kernel / 2;
  KILN_ASSIGN_OR_RETURN(ValueId y, AddOp(g, "nn.conv2d", {x, w},
                                         {{"padding", AttrValue::Ints({padding, padding})},
                                          {"data_layout", "NHWC"}}));
  KILN_ASSIGN_OR_RETURN(y, AddOp(g, "nn.relu", {y}));
  g.outputs = {y};
  return Build(absl::StrCat(winograd ? "winograd " : "conv2d ", kernel, "x", kernel, " ", in, "->",
                            out, " ", extent, "x", extent),
               2.0 * static_cast<double>(extent * extent * in * out * kernel * kernel), g,
               {.winograd = winograd});
}

// A loop of multiply-adds on as many accumulators as the machine has registers for.
absl::StatusOr<Kernel> Peak() {
  const Target target = Target::Host();
  const int64_t lanes = target.Lanes(kF32), vectors = target.vector_registers - 4, steps = 10000;
  using namespace loop;  // NOLINT: a program is written out
  const Buffer out = MakeBuffer("out", kF32, {lanes * vectors}, BufferScope::kParam);
  const Buffer acc = MakeBuffer("acc", kF32, {lanes * vectors}, BufferScope::kLocal);
  const auto each = [&](const std::function<Stmt(Expr)>& body) {
    const Var v = MakeVar("v"), lane = MakeVar("lane");
    return MakeFor(v, 0, vectors, ForKind::kUnrolled,
                   MakeFor(lane, 0, lanes, ForKind::kVectorized, body(v * Expr(lanes) + lane)));
  };
  const auto load = [&](const Buffer& b, const Expr& i) { return MakeLoad(b, {i}); };
  const Expr a = Const(kF32, 0.999), b = Const(kF32, 0.001);
  Stmt body = MakeBlock(
      {each([&](const Expr& i) { return MakeStore(acc, {i}, load(out, i)); }),
       MakeFor(MakeVar("step"), 0, steps, ForKind::kSerial, each([&](const Expr& i) {
                 return MakeStore(
                     acc, {i}, target.has_fma ? MakeFma(load(acc, i), a, b) : load(acc, i) * a + b);
               })),
       each([&](const Expr& i) { return MakeStore(out, {i}, load(acc, i)); })});
  LoopProgram program;
  Func func;
  func.name = "run";
  func.params = {out};
  func.body = VectorizeLoops(Simplify(UnrollLoops(MakeAllocate(acc, body))), target.vector_bits);
  program.funcs.push_back(func);
  Kernel kernel{.name = "peak", .flops = 2.0 * static_cast<double>(lanes * vectors * steps)};
  KILN_ASSIGN_OR_RETURN(kernel.jit, codegen::Jit::Create(program, target));
  kernel.memory.push_back(Memory(lanes * vectors * 4));
  kernel.args.push_back(kernel.memory.back().get());
  return kernel;
}

// Seconds of one run, over at least `min_seconds`.
absl::StatusOr<double> SecondsPerRun(const Kernel& kernel, double min_seconds) {
  int runs = 0;
  const Clock::time_point begin = Clock::now();
  double seconds = 0;
  do {
    KILN_RETURN_IF_ERROR(kernel.jit->Run("run", kernel.args));
    ++runs;
    seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  } while (seconds < min_seconds);
  return seconds / runs;
}

// One round of one kernel: the peak right before it, so that both see the same machine.
absl::Status Measure(const Kernel& peak, Kernel& kernel, const std::vector<int>& threads) {
  KILN_RETURN_IF_ERROR(runtime::ThreadPool::Global().SetNumThreads(1));
  KILN_ASSIGN_OR_RETURN(const double peak_seconds, SecondsPerRun(peak, kMinSeconds));
  const double peak_flops = peak.flops / peak_seconds;
  for (int count : threads) {
    KILN_RETURN_IF_ERROR(runtime::ThreadPool::Global().SetNumThreads(count));
    KILN_RETURN_IF_ERROR(kernel.jit->Run("run", kernel.args));
    KILN_ASSIGN_OR_RETURN(const double seconds, SecondsPerRun(kernel, kMinSeconds));
    kernel.seconds[count].push_back(seconds);
    if (count == 1) kernel.of_peak.push_back(kernel.flops / seconds / peak_flops);
  }
  return absl::OkStatus();
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Flags {
  int rounds = 51;
  std::vector<int> threads = {1, 2};
  std::string filter;
};

absl::Status Run(const Flags& flags) {
  std::vector<Kernel> kernels;
  const auto add = [&](absl::StatusOr<Kernel> kernel) {
    if (!kernel.ok()) return kernel.status();
    if (absl::StrContains(kernel->name, flags.filter)) kernels.push_back(*std::move(kernel));
    return absl::OkStatus();
  };
  KILN_ASSIGN_OR_RETURN(const Kernel peak, Peak());
  KILN_RETURN_IF_ERROR(add(Dense(512, 512, 512)));
  KILN_RETURN_IF_ERROR(add(Convolution(56, 64, 64, 3)));
  KILN_RETURN_IF_ERROR(add(Convolution(56, 64, 64, 3, true)));
  KILN_RETURN_IF_ERROR(add(Convolution(28, 128, 128, 3)));
  KILN_RETURN_IF_ERROR(add(Convolution(28, 128, 128, 3, true)));
  KILN_RETURN_IF_ERROR(add(Convolution(14, 256, 256, 3)));
  KILN_RETURN_IF_ERROR(add(Convolution(14, 256, 256, 3, true)));
  KILN_RETURN_IF_ERROR(add(Convolution(7, 512, 512, 3)));
  KILN_RETURN_IF_ERROR(add(Convolution(7, 512, 512, 3, true)));
  KILN_RETURN_IF_ERROR(add(Convolution(56, 64, 256, 1)));
  KILN_RETURN_IF_ERROR(add(Convolution(56, 256, 64, 1)));
  KILN_RETURN_IF_ERROR(add(Convolution(28, 256, 256, 1)));
  KILN_RETURN_IF_ERROR(add(Convolution(14, 1024, 256, 1)));
  KILN_RETURN_IF_ERROR(add(Convolution(14, 256, 1024, 1)));
  KILN_RETURN_IF_ERROR(add(Convolution(7, 2048, 512, 1)));
  std::vector<int> threads = flags.threads;
  if (std::find(threads.begin(), threads.end(), 1) == threads.end()) threads.push_back(1);
  for (int round = 0; round < flags.rounds; ++round) {
    for (Kernel& kernel : kernels) KILN_RETURN_IF_ERROR(Measure(peak, kernel, threads));
  }
  std::printf("target %s, %d bit vectors\n\n%-26s %9s %8s %7s", Target::Host().name.c_str(),
              Target::Host().vector_bits, "kernel", "ms", "GFLOP/s", "% peak");
  for (int count : threads) {
    if (count != 1) std::printf(" %9s", absl::StrCat(count, " threads").c_str());
  }
  std::printf("  schedule\n");
  for (Kernel& kernel : kernels) {
    const double one = Median(kernel.seconds[1]);
    std::printf("%-26s %9.4f %8.1f %6.1f%%", kernel.name.c_str(), one * 1e3,
                kernel.flops / one * 1e-9, 100 * Median(kernel.of_peak));
    for (int count : threads) {
      if (count != 1) std::printf(" %7.2f x", one / Median(kernel.seconds[count]));
    }
    std::printf("  %s\n", kernel.schedule.c_str());
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace kiln::benchmark

int main(int argc, char** argv) {
  kiln::benchmark::Flags flags;
  CLI::App app("Generated kernels beside the peak of one core's multiply-adds");
  app.add_option("--rounds", flags.rounds, "Rounds, of which medians are printed")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--threads", flags.threads, "Numbers of threads: 1,2")
      ->delimiter(',')
      ->check(CLI::PositiveNumber);
  app.add_option("--filter", flags.filter, "Only kernels whose name contains this");
  CLI11_PARSE(app, argc, argv);
  const absl::Status status = kiln::benchmark::Run(flags);
  if (!status.ok()) std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return status.ok() ? 0 : 1;
}
