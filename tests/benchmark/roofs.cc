// SPDX-License-Identifier: Apache-2.0
#include "tests/benchmark/roofs.h"

#include <time.h>

#include <algorithm>
#include <cstring>

#include "compiler/base/status.h"
#include "compiler/loop/passes.h"
#include "runtime_cpp/thread_pool.h"

namespace kiln::benchmark {
namespace {

constexpr double kMinSeconds = 0.004;
constexpr double kSampleSeconds = 1e-4;  // minimum time between two readings of the clock
constexpr size_t kMinSamples = 3;
constexpr int64_t kSteps = 10000;  // steps of the multiply-add loop, some hundred microseconds

// Returns a loop of multiply-adds on `accumulators` independent sums, which fill the registers.
loop::LoopProgram MultiplyAdds(const Target& target, int64_t accumulators) {
  using namespace loop;  // NOLINT: a program is written out
  const int64_t lanes = target.Lanes(kF32);
  const Buffer out = MakeBuffer("out", kF32, {accumulators}, BufferScope::kParam);
  const Buffer acc = MakeBuffer("acc", kF32, {accumulators}, BufferScope::kLocal);
  const auto each = [&](const std::function<Stmt(Expr)>& body) {
    const Var v = MakeVar("v"), lane = MakeVar("lane");
    return MakeFor(v, 0, accumulators / lanes, ForKind::kUnrolled,
                   MakeFor(lane, 0, lanes, ForKind::kVectorized, body(v * Expr(lanes) + lane)));
  };
  const auto load = [&](const Buffer& b, const Expr& i) { return MakeLoad(b, {i}); };
  const Expr a = Const(kF32, 0.999), b = Const(kF32, 0.001);
  Stmt body = MakeBlock(
      {each([&](const Expr& i) { return MakeStore(acc, {i}, load(out, i)); }),
       MakeFor(MakeVar("step"), 0, kSteps, ForKind::kSerial, each([&](const Expr& i) {
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
  return program;
}

// Calls `task(i)` for all `i` below `count`, one for each thread of the pool.
absl::Status OnEachThread(int count, const std::function<absl::Status(int)>& task) {
  return runtime::ThreadPool::Global().Launch(
      [](int i, TVMParallelGroupEnv* /*env*/, void* data) {
        return (*static_cast<const std::function<absl::Status(int)>*>(data))(i).ok() ? 0 : -1;
      },
      const_cast<std::function<absl::Status(int)>*>(&task), count);
}

double Seconds(Clock clock) {
  timespec time = {};
  clock_gettime(clock == Clock::kWall ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

int NumThreads() { return runtime::ThreadPool::Global().num_threads(); }

}  // namespace

absl::StatusOr<double> SecondsPerRun(const std::function<absl::Status()>& run, Clock clock) {
  const auto sample = [&](int count) -> absl::StatusOr<double> {
    const double begin = Seconds(clock);
    for (int i = 0; i < count; ++i) KILN_RETURN_IF_ERROR(run());
    return Seconds(clock) - begin;
  };
  KILN_ASSIGN_OR_RETURN(const double first, sample(1));
  const int count = static_cast<int>(std::clamp(kSampleSeconds / std::max(first, 1e-9), 1.0, 1e6));
  std::vector<double> samples;
  double total = 0;
  while (total < kMinSeconds || samples.size() < kMinSamples) {
    KILN_ASSIGN_OR_RETURN(const double seconds, sample(count));
    samples.push_back(seconds);
    total += seconds;
  }
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2] / count;
}

absl::StatusOr<Roofs> Roofs::Create(const Target& target, Clock clock) {
  Roofs roofs;
  roofs.clock_ = clock;
  roofs.byte_products_ = FindByteProducts(target);
  roofs.accumulators_ = target.Lanes(kF32) * (target.vector_registers - 4);
  KILN_ASSIGN_OR_RETURN(roofs.jit_,
                        codegen::Jit::Create(MultiplyAdds(target, roofs.accumulators_), target));
  return roofs;
}

absl::StatusOr<double> Roofs::Flops() const {
  const int threads = NumThreads();
  std::vector<std::vector<float>> out(static_cast<size_t>(threads));
  for (std::vector<float>& values : out) values.resize(static_cast<size_t>(accumulators_));
  const auto run = [&](int i) -> absl::Status {
    void* values = out[static_cast<size_t>(i)].data();
    return jit_->Run("run", {&values, 1});
  };
  KILN_ASSIGN_OR_RETURN(const double seconds,
                        SecondsPerRun([&] { return OnEachThread(threads, run); }, clock_));
  return 2.0 * static_cast<double>(threads * accumulators_ * kSteps) / seconds;
}

absl::StatusOr<double> Roofs::ByteOperations() const {
  KILN_RETURN_IF_ERROR(byte_products_.status());
  const int threads = NumThreads();
  const auto run = [&](int /*i*/) {
    byte_products_->run(kSteps);
    return absl::OkStatus();
  };
  KILN_ASSIGN_OR_RETURN(const double seconds,
                        SecondsPerRun([&] { return OnEachThread(threads, run); }, clock_));
  return byte_products_->operations_per_step * threads * kSteps / seconds;
}

absl::StatusOr<double> Roofs::CopiedBytes(int64_t bytes) {
  const int threads = NumThreads();
  const auto half = static_cast<size_t>(bytes) / 2, part = half / static_cast<size_t>(threads);
  if (memory_.size() < 2 * half) memory_.resize(2 * half);
  const auto copy = [&](int i) {
    char* from = memory_.data() + static_cast<size_t>(i) * part;
    std::memcpy(from + half, from, part);
    return absl::OkStatus();
  };
  const auto run = [&] { return OnEachThread(threads, copy); };
  KILN_RETURN_IF_ERROR(run());  // loads the data into the cache
  KILN_ASSIGN_OR_RETURN(const double seconds, SecondsPerRun(run, clock_));
  return 2.0 * static_cast<double>(part) * threads / seconds;
}

}  // namespace kiln::benchmark
