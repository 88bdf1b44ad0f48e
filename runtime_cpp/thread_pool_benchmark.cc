// SPDX-License-Identifier: Apache-2.0
//
// Measures the time to launch an empty loop on N threads and to wait for its end.
#include "benchmark/benchmark.h"
#include "runtime_cpp/thread_pool.h"

namespace kiln::runtime {
namespace {

int DoNothing(int, TVMParallelGroupEnv*, void*) { return 0; }

void BM_Launch(benchmark::State& state) {
  ThreadPoolOptions options;
  options.num_threads = static_cast<int>(state.range(0));
  ThreadPool pool(options);
  for (auto _ : state) {
    if (!pool.Launch(DoNothing, nullptr, 0).ok()) state.SkipWithError("a launch failed");
  }
}
BENCHMARK(BM_Launch)->Arg(1)->Arg(2)->Arg(4)->Arg(8)->Arg(16)->UseRealTime();

}  // namespace
}  // namespace kiln::runtime
