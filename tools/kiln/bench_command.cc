// SPDX-License-Identifier: Apache-2.0
// kiln bench
#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/base/status.h"
#include "runtime_cpp/thread_pool.h"
#include "tools/kiln/commands.h"
#include "tools/kiln/library.h"
#include "tools/kiln/progress.h"
#include "tools/kiln/standard_output.h"

namespace kiln::tools {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kWarmUpRuns = 3;
constexpr size_t kMinRuns = 5;
constexpr size_t kMaxProfileRuns = 100;

struct BenchFlags {
  std::string library;
  int threads = 0;
  double seconds = 1;
  bool json = false;
  bool profile = false;
};

double Milliseconds(Clock::duration d) {
  return std::chrono::duration<double, std::milli>(d).count();
}

// The mean of several profiled runs.
absl::StatusOr<runtime::ProfileReport> MeanProfile(runtime::Executor& executor, size_t runs) {
  runtime::ProfileReport mean;
  for (size_t i = 0; i < runs; ++i) {
    KILN_ASSIGN_OR_RETURN(const runtime::ProfileReport report, executor.Profile());
    if (i == 0) {
      mean = report;
      continue;
    }
    mean.total_seconds += report.total_seconds;
    for (size_t j = 0; j < mean.operators.size(); ++j) {
      mean.operators[j].seconds += report.operators[j].seconds;
    }
  }
  mean.total_seconds /= static_cast<double>(runs);
  for (runtime::OperatorTiming& timing : mean.operators) {
    timing.seconds /= static_cast<double>(runs);
  }
  return mean;
}

absl::Status Bench(const BenchFlags& flags) {
  if (!(flags.seconds > 0) || std::isinf(flags.seconds)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--seconds: found ", flags.seconds, ", wanted a number above 0"));
  }
  KILN_RETURN_IF_ERROR(SetThreads(flags.threads));
  KILN_ASSIGN_OR_RETURN(const Library library, LoadLibrary(flags.library));
  const std::shared_ptr<runtime::Executor>& executor = library.executor;
  KILN_RETURN_IF_ERROR(SetInputs(*executor, {}, /*fill=*/true));
  Progress progress("measuring " + flags.library);
  for (int i = 0; i < kWarmUpRuns; ++i) KILN_RETURN_IF_ERROR(executor->Run());
  std::vector<double> times;
  const Clock::time_point begin = Clock::now();
  for (Clock::time_point now = begin;
       times.size() < kMinRuns || Milliseconds(now - begin) < flags.seconds * 1000;) {
    KILN_RETURN_IF_ERROR(executor->Run());
    const Clock::time_point end = Clock::now();
    times.push_back(Milliseconds(end - now));
    now = end;
  }
  std::optional<runtime::ProfileReport> profile;
  if (flags.profile) {
    KILN_ASSIGN_OR_RETURN(profile,
                          MeanProfile(*executor, std::min<size_t>(times.size(), kMaxProfileRuns)));
  }
  progress.Stop();
  std::sort(times.begin(), times.end());
  const size_t n = times.size();
  nlohmann::ordered_json result;
  result["module"] = library.module_name;
  result["executor"] = std::string(executor->program().executor());
  result["threads"] = runtime::ThreadPool::Global().num_threads();
  result["runs"] = n;
  result["min_ms"] = times.front();
  result["median_ms"] = times[n / 2];
  result["mean_ms"] = std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(n);
  result["p99_ms"] = times[std::min(n - 1, n * 99 / 100)];
  if (flags.json) {
    if (profile.has_value()) result["profile"] = nlohmann::ordered_json::parse(profile->ToJson());
    return Print(result.dump() + "\n");
  }
  KILN_RETURN_IF_ERROR(Print(absl::StrFormat(
      "%s, %s executor, %d threads: %d runs, median %.4f ms, min %.4f ms, mean %.4f ms, p99 "
      "%.4f ms\n",
      library.module_name, result["executor"].get<std::string>(), result["threads"].get<int>(), n,
      result["median_ms"].get<double>(), times.front(), result["mean_ms"].get<double>(),
      result["p99_ms"].get<double>())));
  return profile.has_value() ? Print(profile->ToText()) : absl::OkStatus();
}

}  // namespace

void AddBenchCommand(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "bench", "Measure how long a compiled library takes, on random inputs by a fixed seed");
  auto flags = std::make_shared<BenchFlags>();
  command->add_option("library", flags->library, "Shared object that compile has made")->required();
  command->add_option("--threads", flags->threads, "Threads; 0: one per CPU")
      ->capture_default_str();
  command->add_option("--seconds", flags->seconds, "How long to measure")->capture_default_str();
  command->add_flag("--json", flags->json, "Print one JSON object");
  command->add_flag("--profile", flags->profile,
                    "Also the time of each operator; the AOT executor wants a library of compile "
                    "--profile");
  command->footer(
      "Examples:\n"
      "  kiln bench out/my_mod.so --threads 1 --seconds 2\n"
      "  kiln bench out/my_mod.so --json\n"
      "  kiln bench out/my_mod.so --profile");
  command->callback([flags, &action] { action = [flags] { return Bench(*flags); }; });
}

}  // namespace kiln::tools
