// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/roofline.h"

#include <algorithm>

namespace kiln::tools {

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

}  // namespace kiln::tools
