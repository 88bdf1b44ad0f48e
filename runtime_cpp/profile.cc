// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/profile.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "runtime_cpp/status/macros.h"

namespace kiln::runtime {
namespace {

using Clock = std::chrono::steady_clock;

// Upper limit of `number` for functions that take no measurable time.
constexpr int64_t kMaxNumber = int64_t{1} << 30;

absl::StatusOr<double> SecondsOf(const std::function<absl::Status()>& run, int64_t number) {
  const Clock::time_point start = Clock::now();
  for (int64_t i = 0; i < number; ++i) KILN_RETURN_IF_ERROR(run());
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

absl::StatusOr<std::vector<double>> TimeEvaluator(const std::function<absl::Status()>& run,
                                                  const TimeEvaluatorOptions& options) {
  if (options.number < 1 || options.repeat < 1) {
    return absl::InvalidArgumentError(absl::StrCat("number ", options.number, " and repeat ",
                                                   options.repeat, " must be at least 1"));
  }
  KILN_RETURN_IF_ERROR(run());
  const double min_seconds = options.min_repeat_ms / 1000;
  int64_t number = options.number;
  std::vector<double> result;
  while (static_cast<int64_t>(result.size()) < options.repeat) {
    KILN_ASSIGN_OR_RETURN(const double seconds, SecondsOf(run, number));
    if (seconds >= min_seconds || number >= kMaxNumber) {
      result.push_back(seconds / static_cast<double>(number));
      continue;
    }
    // Aims slightly above the limit, so that one more measurement is usually enough.
    const double per_run = std::max(seconds / static_cast<double>(number), 1e-9);
    const double wanted = std::ceil(1.1 * min_seconds / per_run);
    number = std::max(number + 1, static_cast<int64_t>(std::min<double>(wanted, kMaxNumber)));
  }
  return result;
}

std::string ProfileReport::ToText() const {
  std::vector<OperatorTiming> sorted = operators;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  std::string text = absl::StrFormat("%12s %7s %6s %9s  %s\n", "microseconds", "share", "calls",
                                     "GFLOP/s", "name");
  for (const OperatorTiming& timing : sorted) {
    const double share = total_seconds > 0 ? 100 * timing.seconds / total_seconds : 0;
    const std::string rate =
        timing.operations < 0 ? "" : absl::StrFormat("%.2f", timing.GflopsPerSecond());
    absl::StrAppendFormat(&text, "%12.2f %6.2f%% %6d %9s  %s", timing.seconds * 1e6, share,
                          timing.calls, rate, timing.function_name);
    for (const std::string* words : {&timing.op_names, &timing.schedule}) {
      absl::StrAppend(&text, words->empty() ? "" : "  ", *words);
    }
    absl::StrAppend(&text, "\n");
  }
  absl::StrAppendFormat(&text, "%12.2f %6.2f%% %6s %9s  total\n", total_seconds * 1e6, 100.0, "",
                        "");
  return text;
}

std::string ProfileReport::ToJson() const {
  nlohmann::ordered_json json;
  json["total_seconds"] = total_seconds;
  json["operators"] = nlohmann::ordered_json::array();
  for (const OperatorTiming& timing : operators) {
    nlohmann::ordered_json& row = json["operators"].emplace_back();
    row["function_name"] = timing.function_name;
    row["op_names"] = timing.op_names;
    row["source"] = timing.source;
    row["schedule"] = timing.schedule;
    if (timing.operations >= 0) row["operations"] = timing.operations;
    if (timing.accessed_bytes >= 0) row["accessed_bytes"] = timing.accessed_bytes;
    row["calls"] = timing.calls;
    row["seconds"] = timing.seconds;
  }
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace kiln::runtime
