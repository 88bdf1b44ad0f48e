// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/measured_library.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "compiler/base/status.h"

namespace kiln::tools {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMinMeasuredRuns = 5;

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Reads `bytes` bytes of memory that nothing else uses, which evicts other data from the caches.
void Evict(size_t bytes) {
  static auto& memory = *new std::vector<char>;
  if (memory.size() < bytes) memory.assign(bytes, 1);
  constexpr size_t kLine = 64;
  volatile char sink = 0;
  for (size_t i = 0; i < bytes; i += kLine) sink = memory[i];
  static_cast<void>(sink);
}

using Times = std::map<std::string, std::vector<double>>;

absl::Status AddSamples(const MeasuredLibrary& library, Times& samples) {
  KILN_ASSIGN_OR_RETURN(const auto seconds, library.OperatorSeconds());
  for (const auto& [function, value] : seconds) samples[function].push_back(value);
  return absl::OkStatus();
}

std::map<std::string, double> Medians(const Times& samples) {
  std::map<std::string, double> medians;
  for (const auto& [function, values] : samples) medians[function] = Median(values);
  return medians;
}

}  // namespace

absl::StatusOr<MeasuredLibrary> MeasuredLibrary::Make(const Graph& graph,
                                                      const CompileOptions& options) {
  MeasuredLibrary measured;
  KILN_ASSIGN_OR_RETURN(measured.model_, LoadedModel::Make(graph, options));
  KILN_RETURN_IF_ERROR(SetRandomInputs(*measured.model_.library().executor));
  // The first run touches memory and starts threads.
  KILN_RETURN_IF_ERROR(measured.Seconds().status());
  return measured;
}

absl::StatusOr<double> MeasuredLibrary::Seconds() const {
  const Clock::time_point begin = Clock::now();
  KILN_RETURN_IF_ERROR(model_.library().executor->Run());
  return SecondsSince(begin);
}

absl::StatusOr<std::map<std::string, double>> MeasuredLibrary::OperatorSeconds() const {
  KILN_ASSIGN_OR_RETURN(const runtime::ProfileReport report, model_.library().executor->Profile());
  std::map<std::string, double> seconds;
  for (const runtime::OperatorTiming& timing : report.operators) {
    seconds[timing.function_name] += timing.seconds;
  }
  return seconds;
}

absl::StatusOr<Comparison> Compare(const MeasuredLibrary& first, const MeasuredLibrary& second,
                                   const CompareOptions& options) {
  std::vector<double> first_times, second_times;
  const Clock::time_point begin = Clock::now();
  while (first_times.size() < kMinMeasuredRuns || SecondsSince(begin) < options.seconds) {
    Evict(options.evicted_bytes);
    KILN_ASSIGN_OR_RETURN(first_times.emplace_back(), first.Seconds());
    Evict(options.evicted_bytes);
    KILN_ASSIGN_OR_RETURN(second_times.emplace_back(), second.Seconds());
  }
  return Comparison{.first_seconds = Median(std::move(first_times)),
                    .second_seconds = Median(std::move(second_times))};
}

absl::StatusOr<OperatorComparison> CompareOperators(const MeasuredLibrary& first,
                                                    const MeasuredLibrary& second, double seconds) {
  Times first_samples, second_samples;
  const Clock::time_point begin = Clock::now();
  for (size_t runs = 0; runs < kMinMeasuredRuns || SecondsSince(begin) < seconds; ++runs) {
    KILN_RETURN_IF_ERROR(AddSamples(first, first_samples));
    KILN_RETURN_IF_ERROR(AddSamples(second, second_samples));
  }
  return OperatorComparison{.first_seconds = Medians(first_samples),
                            .second_seconds = Medians(second_samples)};
}

}  // namespace kiln::tools
