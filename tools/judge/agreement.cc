// SPDX-License-Identifier: Apache-2.0
#include "tools/judge/agreement.h"

#include <string>

namespace kiln::tools {
namespace {

// Returns the index of the largest element, the first one if there are several.
int64_t Argmax(const Tensor& tensor) {
  int64_t best = 0;
  for (int64_t i = 1; i < tensor.type().num_elements(); ++i) {
    if (tensor.AsDouble(i) > tensor.AsDouble(best)) best = i;
  }
  return best;
}

}  // namespace

Agreement MeasureAgreement(const Samples& found, const Samples& wanted,
                           const Tolerance& tolerance) {
  const int64_t elements = found.type.num_elements();
  Agreement all;
  all.samples = found.count;
  if (elements > 1) all.same_argmax = 0;
  for (int64_t s = 0; s < found.count; ++s) {
    const Tensor a(found.type, std::string(found.sample(s)));
    const Tensor b(wanted.type, std::string(wanted.sample(s)));
    const int64_t differing = all.differing, beyond = all.elements_beyond;
    all.Add(a, b, tolerance);
    all.equal_samples += all.differing == differing ? 1 : 0;
    all.samples_beyond += all.elements_beyond > beyond ? 1 : 0;
    if (all.same_argmax && Argmax(a) == Argmax(b)) ++*all.same_argmax;
  }
  if (elements > 0) all.worst_sample = all.at / elements;
  return all;
}

}  // namespace kiln::tools
