// SPDX-License-Identifier: Apache-2.0
// Compares kernels with the peak rates of this machine, in one run, taking turns:
//   bazel run -c opt //tests/benchmark:kernels -- --target x86-64-v3 --filter int8
//
// Kernels that compute much are compared with the peak of multiply-adds: the rate of generated code
// that only multiplies and adds in registers. Kernels of bytes are compared with the peak of the
// target's instruction for them. Kernels that memory binds are compared with a copy that reads and
// writes as many bytes in all, so that both find their data in the same cache. The roof of a kernel
// is measured right before and right after it, with as many threads.
//
// Figures are medians of rounds. A second set of figures compares the fastest round of the kernel
// with the fastest round of its roof: the quiet moments of a shared machine.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/base/status.h"
#include "compiler/target/target.h"
#include "runtime_cpp/thread_pool.h"
#include "tests/benchmark/kernel.h"
#include "tests/benchmark/roofs.h"

namespace kiln::benchmark {
namespace {

constexpr int kSettlingRuns = 5;  // each takes some milliseconds

// Rates of a kernel and of its roof, in operations or bytes per second.
struct Rates {
  std::vector<double> kernel, roof;
};

struct Measured {
  Kernel kernel;
  std::map<int, Rates> rates = {};  // by number of threads
};

absl::StatusOr<double> RoofOf(const Kernel& kernel, Roofs& roofs) {
  switch (kernel.roof) {
    case Roof::kMultiplyAdds:
      return roofs.Flops();
    case Roof::kByteProducts:
      return roofs.ByteOperations();
    case Roof::kCopy:
      return roofs.CopiedBytes(kernel.bytes);
  }
  return absl::InternalError("no such roof");
}

// Adds the rates of one round. The roof is measured right before and right after the kernel.
absl::Status MeasureRound(const Measured& m, Roofs& roofs, Clock clock, Rates& rates) {
  const Kernel& kernel = m.kernel;
  const auto run = [&] { return kernel.jit->Run("run", kernel.args); };
  KILN_ASSIGN_OR_RETURN(const double before, RoofOf(kernel, roofs));
  KILN_RETURN_IF_ERROR(run());  // loads the data into the cache
  KILN_ASSIGN_OR_RETURN(const double seconds, SecondsPerRun(run, clock));
  KILN_ASSIGN_OR_RETURN(const double after, RoofOf(kernel, roofs));
  rates.kernel.push_back(kernel.work() / seconds);
  rates.roof.push_back((before + after) / 2);
  return absl::OkStatus();
}

// Sets the number of threads, and runs them until the system has spread them: threads that have
// just started share a CPU.
absl::Status SetThreads(int count, const Roofs& roofs) {
  KILN_RETURN_IF_ERROR(runtime::ThreadPool::Global().SetNumThreads(count));
  if (count == 1) return absl::OkStatus();
  for (int i = 0; i < kSettlingRuns; ++i) KILN_RETURN_IF_ERROR(roofs.Flops().status());
  return absl::OkStatus();
}

// Returns the value that is greater than the fraction `part` of the values.
double Quantile(std::vector<double> values, double part) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(part * static_cast<double>(values.size() - 1))];
}

struct Flags {
  int rounds = 51;
  std::vector<int> threads = {1, 2};
  std::string filter;
  std::string target = "host";
  bool processor_time = false;
  Clock clock() const { return processor_time ? Clock::kProcessor : Clock::kWall; }
};

void Print(const std::vector<Measured>& all, const std::vector<int>& threads, double part) {
  std::printf("%-40s %9s %8s %8s %8s", "kernel", "ms", "GOP/s", "GB/s", "% roof");
  for (int count : threads) {
    if (count != 1) std::printf(" %9s %9s", absl::StrCat(count, " threads").c_str(), "its roof");
  }
  std::printf("  schedule\n");
  for (const Measured& m : all) {
    const double rate = Quantile(m.rates.at(1).kernel, part);
    const double roof = Quantile(m.rates.at(1).roof, part);
    const std::string printed = absl::StrFormat("%.1f", rate * 1e-9);
    const bool copies = m.kernel.roof == Roof::kCopy;
    std::printf("%-40s %9.4f %8s %8s %7.1f%%", m.kernel.name.c_str(), m.kernel.work() / rate * 1e3,
                copies ? "" : printed.c_str(), copies ? printed.c_str() : "", 100 * rate / roof);
    for (int count : threads) {
      if (count == 1) continue;
      const Rates& more = m.rates.at(count);
      std::printf(" %7.2f x %7.2f x", Quantile(more.kernel, part) / rate,
                  Quantile(more.roof, part) / roof);
    }
    std::printf("  %s\n", m.kernel.schedule.c_str());
  }
}

void Print(const std::vector<Measured>& all, const std::vector<int>& threads,
           const Target& target) {
  const absl::StatusOr<ByteProducts> bytes = FindByteProducts(target);
  std::printf(
      "target %s, %d bit vectors; %% of the peak of multiply-adds, int8: of %s; or of a copy\n",
      target.name.c_str(), target.vector_bits, bytes.ok() ? bytes->instruction.c_str() : "nothing");
  std::printf("\nmedians of the rounds\n\n");
  Print(all, threads, 0.5);
  std::printf("\nthe fastest rounds\n\n");
  Print(all, threads, 1);
}

absl::Status Run(const Flags& flags) {
  KILN_ASSIGN_OR_RETURN(const Target target, Target::Parse(flags.target));
  KILN_ASSIGN_OR_RETURN(Roofs roofs, Roofs::Create(target, flags.clock()));
  KernelList list(target, flags.filter);
  AddProducts(list);
  AddInt8Products(list);
  AddMemoryBound(list);
  KILN_ASSIGN_OR_RETURN(std::vector<Kernel> kernels, std::move(list).Take());
  std::vector<Measured> all;
  for (Kernel& kernel : kernels) all.push_back({std::move(kernel)});
  std::vector<int> threads = flags.threads;
  if (std::find(threads.begin(), threads.end(), 1) == threads.end()) threads.push_back(1);
  for (int round = 0; round < flags.rounds; ++round) {
    for (Measured& m : all) {
      for (int count : threads) {
        KILN_RETURN_IF_ERROR(SetThreads(count, roofs));
        KILN_RETURN_IF_ERROR(MeasureRound(m, roofs, flags.clock(), m.rates[count]));
      }
    }
  }
  Print(all, threads, target);
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
  app.add_option("--target", flags.target,
                 "What code is generated for: this machine or an older one of its kind")
      ->capture_default_str();
  app.add_option("--filter", flags.filter, "Only kernels whose name contains this");
  app.add_flag("--processor-time", flags.processor_time,
               "Count time on the CPU, on a machine that others use; with one thread");
  CLI11_PARSE(app, argc, argv);
  if (flags.processor_time) flags.threads = {1};
  const absl::Status status = kiln::benchmark::Run(flags);
  if (!status.ok()) std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return status.ok() ? 0 : 1;
}
