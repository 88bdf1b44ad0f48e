// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/bench_report.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "tools/kiln/roofline.h"
#include "tools/terminal/table.h"

namespace kiln::tools {
namespace {

using Json = nlohmann::ordered_json;
using runtime::OperatorTiming;

std::string Share(double seconds, double total) {
  return absl::StrFormat("%.2f%%", total > 0 ? 100 * seconds / total : 0);
}

std::string Microseconds(double seconds) { return absl::StrFormat("%.2f", seconds * 1e6); }

std::string RateText(double rate) { return rate > 0 ? absl::StrFormat("%.2f", rate) : ""; }

std::string PercentText(const RooflinePoint& point) {
  if (point.bound == Bound::kUnknown) return "";
  return absl::StrFormat("%.1f%% %s", point.percent, ToString(point.bound));
}

std::string ProfileText(const BenchResult& result) {
  const MeasuredProfile& profile = *result.profile;
  const PeakRates& all = profile.peak.all_threads;
  const double total = profile.report.total_seconds;
  std::string text = absl::StrCat("peak of 1 thread: ", ToText(profile.peak.one_thread), " (",
                                  profile.peak.instructions, ")\n");
  if (all.threads > 1) {
    absl::StrAppend(&text, "peak of ", all.threads, " threads: ", ToText(all), "\n");
  }
  Table table(
      {">microseconds", ">share", ">GFLOP/s", ">GB/s", ">% of peak", "operator", "schedule"});
  for (const OperatorTiming& timing : SlowestFirst(profile.report)) {
    table.Add({Microseconds(timing.seconds), Share(timing.seconds, total),
               RateText(timing.GflopsPerSecond()), RateText(timing.GigabytesPerSecond()),
               PercentText(PlaceOnRoofline(timing, all)), OperatorLabel(result.module_name, timing),
               timing.schedule});
  }
  const OperatorSum sum = SumOf(profile);
  const auto add_sum = [&](double seconds, std::string percent, const char* label) {
    const double scale = seconds > 0 ? 1e-9 / seconds : 0;
    table.Add({Microseconds(seconds), Share(seconds, total), RateText(sum.operations * scale),
               RateText(sum.accessed_bytes * scale), std::move(percent), label, ""});
  };
  add_sum(sum.seconds, absl::StrFormat("%.1f%%", sum.percent), "all operators");
  add_sum(total, "", "the whole run");
  absl::StrAppend(&text, table.ToString(),
                  "% of peak: of the multiply-adds (FMA) or of the bandwidth of memory, whichever "
                  "takes longer;\nmore than 100% of memory: data come from caches\n");
  const auto& operators = profile.report.operators;
  if (std::any_of(operators.begin(), operators.end(), [&](const OperatorTiming& timing) {
        return ShowsThatPeakIsTooLow(timing, profile.peak);
      })) {
    absl::StrAppend(
        &text,
        "the measured peak cannot be right, since operators exceed it: the machine was busy "
        "while the peak was measured; run the command again on an idle machine\n");
  }
  return text;
}

Json RatesJson(const PeakRates& rates) {
  return {{"threads", rates.threads},
          {"gflops_per_second", rates.gflops},
          {"read_gigabytes_per_second", rates.read_gigabytes},
          {"copy_gigabytes_per_second", rates.copy_gigabytes}};
}

Json ProfileJson(const BenchResult& result) {
  const MeasuredProfile& profile = *result.profile;
  Json json = Json::parse(profile.report.ToJson());
  for (size_t i = 0; i < profile.report.operators.size(); ++i) {
    const OperatorTiming& timing = profile.report.operators[i];
    const RooflinePoint point = PlaceOnRoofline(timing, profile.peak.all_threads);
    Json& row = json["operators"][i];
    if (point.bound == Bound::kUnknown) continue;
    row["gflops_per_second"] = timing.GflopsPerSecond();
    row["gigabytes_per_second"] = timing.GigabytesPerSecond();
    row["operations_per_byte"] = point.intensity;
    row["bound"] = ToString(point.bound);
    row["percent_of_peak"] = point.percent;
  }
  json["machine"] = {{"instructions", profile.peak.instructions},
                     {"buffer_bytes", profile.peak.buffer_bytes},
                     {"one_thread", RatesJson(profile.peak.one_thread)},
                     {"all_threads", RatesJson(profile.peak.all_threads)}};
  return json;
}

}  // namespace

std::string OperatorLabel(const std::string& module_name, const OperatorTiming& timing) {
  const std::string name(
      absl::StripPrefix(timing.function_name, absl::StrCat("tvmgen_", module_name, "_")));
  // The compiler's lowering derives function names from operators.
  if (absl::StartsWith(name, "fused_") || timing.op_names.empty()) return name;
  return absl::StrCat(name, " (", timing.op_names, ")");
}

std::vector<OperatorTiming> SlowestFirst(const runtime::ProfileReport& report) {
  std::vector<OperatorTiming> sorted = report.operators;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  return sorted;
}

OperatorSum SumOf(const MeasuredProfile& profile) {
  OperatorSum sum;
  double least_seconds = 0, known_seconds = 0;
  for (const OperatorTiming& timing : profile.report.operators) {
    sum.seconds += timing.seconds;
    const RooflinePoint point = PlaceOnRoofline(timing, profile.peak.all_threads);
    if (point.bound == Bound::kUnknown) continue;
    const auto calls = static_cast<double>(timing.calls);
    sum.operations += static_cast<double>(timing.operations) * calls;
    sum.accessed_bytes += static_cast<double>(timing.accessed_bytes) * calls;
    least_seconds += point.least_seconds;
    known_seconds += timing.seconds;
  }
  sum.percent = known_seconds > 0 ? 100 * least_seconds / known_seconds : 0;
  return sum;
}

std::string ToText(const PeakRates& rates) {
  return absl::StrFormat("%.1f GFLOP/s of multiply-adds, %.1f GB/s read, %.1f GB/s copied",
                         rates.gflops, rates.read_gigabytes, rates.copy_gigabytes);
}

std::string BenchText(const BenchResult& result) {
  const std::string variant =
      result.variants.empty() ? "" : absl::StrCat("variant ", result.variants, "\n");
  return variant +
         absl::StrFormat(
             "%s, %s executor, %d threads: %d runs, median %.4f ms, min %.4f ms, mean %.4f ms, p99 "
             "%.4f ms\n",
             result.module_name, result.executor, result.threads, result.runs, result.median_ms,
             result.min_ms, result.mean_ms, result.p99_ms) +
         (result.profile.has_value() ? ProfileText(result) : "");
}

Json BenchJson(const BenchResult& result) {
  Json json;
  json["module"] = result.module_name;
  if (!result.cpu_variant.empty()) json["cpu_variant"] = result.cpu_variant;
  json["executor"] = result.executor;
  json["threads"] = result.threads;
  json["runs"] = result.runs;
  json["min_ms"] = result.min_ms;
  json["median_ms"] = result.median_ms;
  json["mean_ms"] = result.mean_ms;
  json["p99_ms"] = result.p99_ms;
  if (result.profile.has_value()) json["profile"] = ProfileJson(result);
  return json;
}

}  // namespace kiln::tools
