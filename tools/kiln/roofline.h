// SPDX-License-Identifier: Apache-2.0
// The roofline model (Williams, Waterman, Patterson, 2009): an operator takes at least the time of
// its arithmetic at the machine's peak, and at least that of its memory traffic at the machine's
// bandwidth. The longer of the two binds it; how near it comes is a percentage.
#ifndef KILN_TOOLS_KILN_ROOFLINE_H_
#define KILN_TOOLS_KILN_ROOFLINE_H_

#include <string>

#include "runtime_cpp/profile.h"
#include "tools/kiln/machine_peak.h"

namespace kiln::tools {

enum class Bound { kUnknown, kFma, kMemory };

// "FMA", "memory", or "" if it is not known.
std::string ToString(Bound bound);

struct RooflinePoint {
  Bound bound = Bound::kUnknown;  // kUnknown: the model does not say what the operator does
  double least_seconds = 0;       // of all its calls, on the roof
  double percent = 0;             // of the roof that it reaches
  double intensity = 0;           // operations per byte of memory; 0 where no byte moves
};

// The bandwidth is that of reading. An operator whose data are in a cache may pass its roof.
RooflinePoint PlaceOnRoofline(const runtime::OperatorTiming& timing, const PeakRates& peak);

// True if an operator is so far above a roof that the measured peak is too low: above the multiply-adds without an
// algorithm or an instruction that does more of them than are counted, or above the bandwidth of memory with
// more bytes than caches hold, which a call of it moves. The machine was then busy while it was measured.
bool ShowsThatPeakIsTooLow(const runtime::OperatorTiming& timing, const MachinePeak& peak);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_ROOFLINE_H_
