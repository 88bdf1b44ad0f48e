// SPDX-License-Identifier: Apache-2.0
// Deviation of a model's outputs from the expected ones, over many samples.
//
//   const Agreement agreement = MeasureAgreement(found, wanted, {.relative = 1e-5});
//   if (agreement.elements_beyond > 0) …  // agreement.worst_sample is a good one to look at
#ifndef KILN_TOOLS_JUDGE_AGREEMENT_H_
#define KILN_TOOLS_JUDGE_AGREEMENT_H_

#include <cstdint>
#include <optional>

#include "tools/judge/difference.h"
#include "tools/judge/samples.h"

namespace kiln::tools {

// The elements are those of all samples.
struct Agreement : Difference {
  int64_t samples = 0;
  int64_t equal_samples = 0;           // no element differs
  int64_t samples_beyond = 0;          // an element is not within the tolerance
  std::optional<int64_t> same_argmax;  // samples; none if a sample has one element
  int64_t worst_sample = 0;            // the one with the element `at`
};

// Both have the same type and the same number of samples, at least 1.
Agreement MeasureAgreement(const Samples& found, const Samples& wanted, const Tolerance& tolerance);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_JUDGE_AGREEMENT_H_
