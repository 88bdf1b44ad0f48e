// SPDX-License-Identifier: Apache-2.0
// Deviation of a model's outputs from the expected ones, over many samples.
//
//   const Agreement agreement = MeasureAgreement(found, wanted, {.relative = 1e-5});
//   if (agreement.elements_beyond > 0) …  // agreement.worst_sample is a good one to look at
#ifndef KILN_TOOLS_JUDGE_AGREEMENT_H_
#define KILN_TOOLS_JUDGE_AGREEMENT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/judge/samples.h"

namespace kiln::tools {

// An element is within the bounds if it is at most `steps` steps away, or if |found - wanted| <=
// absolute + relative * |wanted|. NaN agrees with NaN.
struct Bounds {
  double relative = 0, absolute = 0;
  uint64_t steps = 0;
};

// Differences in steps: from one float to the next (ULP), or from one integer to the next (quanta
// of a quantized tensor).
struct Agreement {
  int64_t samples = 0, elements = 0;                // elements of all samples
  int64_t equal_samples = 0;                        // all elements are 0 steps away
  int64_t elements_beyond = 0, samples_beyond = 0;  // the bounds
  double largest = 0, mean = 0, rms = 0;            // |found - wanted|
  double cosine = 1;                                // angle between found and wanted
  uint64_t largest_steps = 0;
  std::optional<int64_t> same_argmax;  // samples; none if a sample has one element
  int64_t worst_sample = 0;            // the first one with the largest difference
  // Numbers of elements by steps: [0] is 0 steps, [k] is 2^(k-1) to 2^k - 1.
  std::vector<int64_t> histogram;
};

// Both have the same type and the same number of samples, at least 1.
Agreement MeasureAgreement(const Samples& found, const Samples& wanted, const Bounds& bounds);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_JUDGE_AGREEMENT_H_
