// SPDX-License-Identifier: Apache-2.0
// kiln bench
#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "compiler/base/kiln_version.h"
#include "compiler/base/status.h"
#include "compiler/target/target.h"
#include "runtime_cpp/cpu_variant.h"
#include "runtime_cpp/metadata.h"
#include "runtime_cpp/thread_pool.h"
#include "tools/kiln/bench_report.h"
#include "tools/kiln/commands.h"
#include "tools/kiln/files.h"
#include "tools/kiln/help_format.h"
#include "tools/kiln/library.h"
#include "tools/kiln/library_options.h"
#include "tools/kiln/machine_peak.h"
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
  LibraryFlags load;
  int threads = 0;
  double seconds = 1;
  bool json = false;
  bool profile = false;
  std::optional<std::string> html, trace;
};

double Milliseconds(Clock::duration d) {
  return std::chrono::duration<double, std::milli>(d).count();
}

// Returns the mean of several profiled runs.
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

// Returns the target of the code that runs.
absl::StatusOr<Target> RunningTarget(const runtime::Module& module, const std::string& variant) {
  if (!variant.empty()) return Target::Parse(variant);
  KILN_ASSIGN_OR_RETURN(const auto metadata, runtime::ModelMetadata::Find(module));
  return metadata.is_complete() ? Target::Parse(metadata.target()) : Target::Host();
}

// Returns Linux's name of the processor, or "unknown".
std::string CpuName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(':', 1));
    if (parts.size() == 2 && absl::StartsWith(parts[0], "model name")) {
      return std::string(absl::StripAsciiWhitespace(parts[1]));
    }
  }
  return "unknown";
}

// Repeats runs for the given number of seconds. Returns the milliseconds of each run.
absl::StatusOr<std::vector<double>> TimeRuns(runtime::Executor& executor, double seconds) {
  for (int i = 0; i < kWarmUpRuns; ++i) KILN_RETURN_IF_ERROR(executor.Run());
  std::vector<double> times;
  const Clock::time_point begin = Clock::now();
  for (Clock::time_point now = begin;
       times.size() < kMinRuns || Milliseconds(now - begin) < seconds * 1000;) {
    KILN_RETURN_IF_ERROR(executor.Run());
    const Clock::time_point end = Clock::now();
    times.push_back(Milliseconds(end - now));
    now = end;
  }
  return times;
}

void SetTimes(std::vector<double> times, BenchResult& result) {
  std::sort(times.begin(), times.end());
  const size_t n = times.size();
  result.runs = n;
  result.min_ms = times.front();
  result.median_ms = times[n / 2];
  result.mean_ms = std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(n);
  result.p99_ms = times[std::min(n - 1, n * 99 / 100)];
}

absl::StatusOr<BenchResult> Measure(const BenchFlags& flags) {
  KILN_ASSIGN_OR_RETURN(const Library library, LoadLibrary(flags.library, flags.load));
  runtime::Executor& executor = *library.executor;
  KILN_RETURN_IF_ERROR(SetRandomInputs(executor));
  BenchResult result = {.module_name = library.module_name,
                        .executor = std::string(executor.program().executor()),
                        .threads = runtime::ThreadPool::Global().num_threads()};
  KILN_ASSIGN_OR_RETURN(result.variants, RunningVariant(library.module));
  if (!result.variants.empty()) {
    KILN_ASSIGN_OR_RETURN(result.cpu_variant, runtime::CpuVariant(library.module));
  }
  const Progress progress("measuring " + flags.library);
  if (!flags.profile) {
    KILN_ASSIGN_OR_RETURN(std::vector<double> times, TimeRuns(executor, flags.seconds));
    SetTimes(std::move(times), result);
    return result;
  }
  KILN_ASSIGN_OR_RETURN(const Target target, RunningTarget(library.module, result.cpu_variant));
  result.target = target.name;
  result.cpu = CpuName();
  result.date = absl::FormatTime("%Y-%m-%d %H:%M UTC", absl::Now(), absl::UTCTimeZone());
  result.version = absl::StrCat("Kiln ", kKilnVersion);
  KILN_ASSIGN_OR_RETURN(MachinePeak peak, MeasureMachinePeak(target));
  KILN_ASSIGN_OR_RETURN(std::vector<double> times, TimeRuns(executor, flags.seconds));
  KILN_ASSIGN_OR_RETURN(runtime::ProfileReport report,
                        MeanProfile(executor, std::min(times.size(), kMaxProfileRuns)));
  SetTimes(std::move(times), result);
  result.profile = {std::move(report), std::move(peak)};
  return result;
}

// Returns the JSON on one line. A name that is not UTF-8 has replacement characters.
std::string ToText(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

absl::Status Bench(BenchFlags flags) {
  if (!(flags.seconds > 0) || std::isinf(flags.seconds)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--seconds: found ", flags.seconds, ", wanted a number above 0"));
  }
  for (const auto& [option, file] : {std::pair("--html", &flags.html), {"--trace", &flags.trace}}) {
    if (!file->has_value()) continue;
    KILN_RETURN_IF_ERROR(CheckIsNoFolder(option, **file));
    flags.profile = true;
  }
  KILN_RETURN_IF_ERROR(SetThreads(flags.threads));
  KILN_ASSIGN_OR_RETURN(const BenchResult result, Measure(flags));
  std::vector<OutputFile> files;
  if (flags.html.has_value()) files.push_back({*flags.html, BenchPage(result)});
  if (flags.trace.has_value()) files.push_back({*flags.trace, ToText(BenchTrace(result))});
  if (!files.empty()) {
    KILN_RETURN_IF_ERROR(Apply({.files = std::move(files), .inputs = {flags.library}}));
  }
  if (!flags.json) return Print(BenchText(result));
  return Print(ToText(BenchJson(result)));
}

}  // namespace

void AddBenchCommand(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "bench", "Measure how long a compiled library takes, on random inputs by a fixed seed");
  auto flags = std::make_shared<BenchFlags>();
  command->add_option("library", flags->library, "Shared object that compile has made")->required();
  AddLibraryOptions(*command, flags->load, flags->threads);
  command->add_option("--seconds", flags->seconds, "How long to measure")->capture_default_str();
  command->add_flag("--json", flags->json, "Print one JSON object");
  command->add_flag("--profile", flags->profile,
                    "Also each operator beside the peak of this machine; the AOT executor wants a "
                    "library of compile --profile");
  command->add_option("--html", flags->html,
                      "File for a page that shows the profile in charts; means --profile");
  command->add_option("--trace", flags->trace,
                      "File for the profile as Chrome's trace viewer and Perfetto show it; means "
                      "--profile");
  SetGroups(*command, {{"Measurement", {"--seconds", "--profile"}},
                       {"Output", {"--json", "--html", "--trace"}}});
  command->footer(
      "Examples:\n"
      "  kiln bench out/my_mod.so --threads 1 --seconds 2\n"
      "  kiln bench out/my_mod.so --json\n"
      "  kiln bench out/my_mod.so --profile\n"
      "  kiln bench out/my_mod.so --html profile.html --trace profile.trace.json");
  command->callback([flags, &action] { action = [flags] { return Bench(*flags); }; });
}

}  // namespace kiln::tools
