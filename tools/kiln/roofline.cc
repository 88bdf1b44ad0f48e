// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/roofline.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "compiler/target/instructions.h"

namespace kiln::tools {
namespace {

// Noise within one run is smaller than this.
constexpr double kMostPercent = 110;

// Winograd's algorithm has fewer multiplications than the direct one. A dot product instruction
// executes several at once.
bool DoesLessThanIsCounted(absl::string_view schedule) {
  const std::vector<absl::string_view> words = absl::StrSplit(schedule, absl::ByAnyChar(" ,"));
  return std::any_of(words.begin(), words.end(), [](absl::string_view word) {
    return word == "winograd" || FindDotInstruction(word) != nullptr;
  });
}

}  // namespace

std::string ToString(Bound bound) {
  switch (bound) {
    case Bound::kUnknown:
      return "";
    case Bound::kFma:
      return "FMA";
    case Bound::kMemory:
      return "memory";
  }
  return "";
}

RooflinePoint PlaceOnRoofline(const runtime::OperatorTiming& timing, const PeakRates& peak) {
  RooflinePoint point;
  const auto calls = static_cast<double>(timing.calls);
  const double operations = static_cast<double>(timing.operations) * calls;
  const double bytes = static_cast<double>(timing.accessed_bytes) * calls;
  if (operations < 0 || bytes < 0 || operations + bytes == 0) return point;
  const double fma_seconds = operations / (peak.gflops * 1e9);
  const double memory_seconds = bytes / (peak.read_gigabytes * 1e9);
  point.bound = fma_seconds >= memory_seconds ? Bound::kFma : Bound::kMemory;
  point.least_seconds = std::max(fma_seconds, memory_seconds);
  point.percent = timing.seconds > 0 ? 100 * point.least_seconds / timing.seconds : 0;
  point.intensity = bytes > 0 ? operations / bytes : 0;
  return point;
}

bool ShowsThatPeakIsTooLow(const runtime::OperatorTiming& timing, const MachinePeak& peak) {
  const RooflinePoint point = PlaceOnRoofline(timing, peak.all_threads);
  if (point.percent <= kMostPercent) return false;
  if (point.bound == Bound::kFma) {
    return !DoesLessThanIsCounted(timing.schedule);
  }
  // The buffer is four times the last-level cache.
  return timing.accessed_bytes > static_cast<int64_t>(peak.buffer_bytes);
}

}  // namespace kiln::tools
