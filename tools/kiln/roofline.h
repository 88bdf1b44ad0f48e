// SPDX-License-Identifier: Apache-2.0
// The roofline model (Williams, Waterman, Patterson, 2009). An operator takes at least the time of
// its arithmetic at the machine's peak, and at least that of its memory traffic at the machine's
// bandwidth. The longer of the two is its bound. `percent` states how close the operator comes to
// it.
#ifndef KILN_TOOLS_KILN_ROOFLINE_H_
#define KILN_TOOLS_KILN_ROOFLINE_H_

#include <string>

#include "runtime_cpp/profile.h"
#include "tools/kiln/machine_peak.h"

namespace kiln::tools {

enum class Bound { kUnknown, kFma, kMemory };

// Returns "FMA", "memory", or "" if it is not known.
std::string ToString(Bound bound);

struct RooflinePoint {
  Bound bound = Bound::kUnknown;  // kUnknown: the cost of the operator is not known
  double least_seconds = 0;       // time of all its calls at the bound
  double percent = 0;             // of the bound that it reaches
  double intensity = 0;           // operations per byte of memory; 0 if no bytes move
};

// Uses the bandwidth of reads. An operator whose data are in a cache may exceed its bound.
RooflinePoint PlaceOnRoofline(const runtime::OperatorTiming& timing, const PeakRates& peak);

// True if an operator exceeds a bound by so much that the measured peak must be too low, because
// the machine was busy during its measurement. For multiply-adds, the operator must not use an
// algorithm or instruction that needs fewer of them than are counted. For memory, a call must move
// more bytes than caches hold.
bool ShowsThatPeakIsTooLow(const runtime::OperatorTiming& timing, const MachinePeak& peak);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_ROOFLINE_H_
