// SPDX-License-Identifier: Apache-2.0
// How far the outputs of a model are from what they should be, over many samples.
//
//   const Agreement agreement = MeasureAgreement(found, wanted, {.relative = 1e-5});
//   if (agreement.elements_beyond > 0) …  // agreement.worst_sample is a good one to look at
#ifndef KILN_TOOLS_VALIDATE_AGREEMENT_H_
#define KILN_TOOLS_VALIDATE_AGREEMENT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/validate/samples.h"

namespace kiln::tools {

// An element is within them if it is at most `steps` steps away, or
// |found - wanted| <= absolute + relative * |wanted|. NaN agrees with NaN.
struct Bounds {
  double relative = 0, absolute = 0;
  uint64_t steps = 0;
};

// Differences are counted in steps: from one float to the next (ULP), or from one integer to the
// next (quanta of a quantized tensor).
struct Agreement {
  int64_t samples = 0, elements = 0;                // elements of all samples
  int64_t equal_samples = 0;                        // all elements are 0 steps away
  int64_t elements_beyond = 0, samples_beyond = 0;  // of the bounds
  double largest = 0, mean = 0, rms = 0;            // of |found - wanted|
  double cosine = 1;                                // of the angle between found and wanted
  uint64_t largest_steps = 0;
  std::optional<int64_t> same_argmax;  // samples; none where a sample has one element
  int64_t worst_sample = 0;            // has the largest difference, or the first of those
  // Elements by steps: [0] is 0 steps, [k] is 2^(k-1) to 2^k - 1.
  std::vector<int64_t> histogram;
};

// Both are of one type and as many samples, at least 1.
Agreement MeasureAgreement(const Samples& found, const Samples& wanted, const Bounds& bounds);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_VALIDATE_AGREEMENT_H_
