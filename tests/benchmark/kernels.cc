// SPDX-License-Identifier: Apache-2.0
// Kernels beside what this machine can do, in one run, taking turns:
//   bazel run -c opt //tests/benchmark:kernels
//
// Kernels that compute much are compared with the peak of multiply-adds: what generated code
// reaches that does nothing else, in registers. Kernels that memory binds are compared with a copy
// that reads and writes as many bytes in all, so that both find their data in the same cache.
// Figures are medians of rounds, in which each kernel runs right behind what it is compared with.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/base/status.h"
#include "compiler/target/target.h"
#include "runtime_cpp/thread_pool.h"
#include "tests/benchmark/kernel_cases.h"

namespace kiln::benchmark {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kMinSeconds = 0.004;  // per measurement: short, so that neighbours compare

struct Measured {
  Kernel kernel;
  std::map<int, std::vector<double>> seconds = {};  // by number of threads
  std::vector<double> of_peak = {};                 // with one thread
};

// Seconds of one run.
absl::StatusOr<double> SecondsPerRun(const std::function<absl::Status()>& run) {
  int runs = 0;
  const Clock::time_point begin = Clock::now();
  double seconds = 0;
  do {
    KILN_RETURN_IF_ERROR(run());
    ++runs;
    seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  } while (seconds < kMinSeconds);
  return seconds / runs;
}

absl::StatusOr<double> SecondsPerRun(const Kernel& kernel) {
  return SecondsPerRun([&] { return kernel.jit->Run("run", kernel.args); });
}

// Half of `bytes` copied behind itself.
absl::StatusOr<double> SecondsPerCopy(int64_t bytes) {
  static std::vector<char>& memory = *new std::vector<char>;
  const size_t half = static_cast<size_t>(bytes) / 2;
  if (memory.size() < 2 * half) memory.resize(2 * half);
  const auto copy = [&] {
    std::memcpy(memory.data() + half, memory.data(), half);
    return absl::OkStatus();
  };
  KILN_RETURN_IF_ERROR(copy());  // into the cache
  return SecondsPerRun(copy);
}

// One round of one kernel, right behind what it is compared with.
absl::Status Measure(const Kernel& peak, Measured& m, const std::vector<int>& threads) {
  const Kernel& kernel = m.kernel;
  KILN_RETURN_IF_ERROR(runtime::ThreadPool::Global().SetNumThreads(1));
  double best = 0;  // seconds that it would take at the peak
  if (kernel.flops > 0) {
    KILN_ASSIGN_OR_RETURN(const double seconds, SecondsPerRun(peak));
    best = kernel.flops * seconds / peak.flops;
  } else {
    KILN_ASSIGN_OR_RETURN(best, SecondsPerCopy(kernel.bytes));
  }
  for (int count : threads) {
    KILN_RETURN_IF_ERROR(runtime::ThreadPool::Global().SetNumThreads(count));
    KILN_RETURN_IF_ERROR(kernel.jit->Run("run", kernel.args));
    KILN_ASSIGN_OR_RETURN(const double seconds, SecondsPerRun(kernel));
    m.seconds[count].push_back(seconds);
    if (count == 1) m.of_peak.push_back(best / seconds);
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

void Print(const std::vector<Measured>& all, const std::vector<int>& threads) {
  const Target host = Target::Host();
  std::printf("target %s, %d bit vectors; %% of the peak of multiply-adds, or of a copy\n\n",
              host.name.c_str(), host.vector_bits);
  std::printf("%-28s %9s %8s %8s %8s", "kernel", "ms", "GFLOP/s", "GB/s", "% peak");
  for (int count : threads) {
    if (count != 1) std::printf(" %9s", absl::StrCat(count, " threads").c_str());
  }
  std::printf("  schedule\n");
  for (const Measured& m : all) {
    const double one = Median(m.seconds.at(1));
    const double rate = 1e-9 / one;
    const bool computes = m.kernel.flops > 0;
    std::printf(
        "%-28s %9.4f %8s %8s %7.1f%%", m.kernel.name.c_str(), one * 1e3,
        computes ? absl::StrFormat("%.1f", m.kernel.flops * rate).c_str() : "",
        computes ? "" : absl::StrFormat("%.1f", static_cast<double>(m.kernel.bytes) * rate).c_str(),
        100 * Median(m.of_peak));
    for (int count : threads) {
      if (count != 1) std::printf(" %7.2f x", one / Median(m.seconds.at(count)));
    }
    std::printf("  %s\n", m.kernel.schedule.c_str());
  }
}

absl::Status Run(const Flags& flags) {
  KILN_ASSIGN_OR_RETURN(const Kernel peak, PeakKernel());
  KILN_ASSIGN_OR_RETURN(std::vector<Kernel> cases, KernelCases());
  std::vector<Measured> all;
  for (Kernel& kernel : cases) {
    if (absl::StrContains(kernel.name, flags.filter)) all.push_back({std::move(kernel)});
  }
  std::vector<int> threads = flags.threads;
  if (std::find(threads.begin(), threads.end(), 1) == threads.end()) threads.push_back(1);
  for (int round = 0; round < flags.rounds; ++round) {
    for (Measured& m : all) KILN_RETURN_IF_ERROR(Measure(peak, m, threads));
  }
  Print(all, threads);
  return absl::OkStatus();
}

}  // namespace
}  // namespace kiln::benchmark

int main(int argc, char** argv) {
  kiln::benchmark::Flags flags;
  CLI::App app("Generated kernels beside what one core can do at most");
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
