// SPDX-License-Identifier: Apache-2.0
#include "tools/judge/agreement.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "tools/judge/distance.h"

namespace kiln::tools {
namespace {

// Sums that are not yet divided by the number of elements.
struct Sums {
  double difference = 0, square = 0;
  Angle angle;
};

void AddElement(const Tensor& found, const Tensor& wanted, int64_t i, const Bounds& bounds,
                Agreement& sample, Sums& sums) {
  const uint64_t steps = StepsBetween(found, wanted, i);
  const double a = found.AsDouble(i), b = wanted.AsDouble(i);
  const double difference = steps == 0                       ? 0.0
                            : std::isnan(a) || std::isnan(b) ? HUGE_VAL
                                                             : std::abs(a - b);
  const size_t bin = static_cast<size_t>(std::bit_width(steps));
  if (sample.histogram.size() <= bin) sample.histogram.resize(bin + 1);
  ++sample.histogram[bin];
  const bool within =
      steps <= bounds.steps || difference <= bounds.absolute + bounds.relative * std::abs(b);
  sample.elements_beyond += within ? 0 : 1;
  sample.largest = std::max(sample.largest, difference);
  sample.largest_steps = std::max(sample.largest_steps, steps);
  sums.difference += difference;
  sums.square += difference * difference;
  sums.angle.Add(a, b);
}

// Returns the index of the largest element, the first one if there are several.
int64_t Argmax(const Tensor& tensor) {
  int64_t best = 0;
  for (int64_t i = 1; i < tensor.type().num_elements(); ++i) {
    if (tensor.AsDouble(i) > tensor.AsDouble(best)) best = i;
  }
  return best;
}

}  // namespace

Agreement MeasureAgreement(const Samples& found, const Samples& wanted, const Bounds& bounds) {
  const int64_t elements = found.type.num_elements();
  Agreement all = {.samples = found.count, .elements = found.count * elements};
  if (elements > 1) all.same_argmax = 0;
  Sums sums;
  for (int64_t s = 0; s < found.count; ++s) {
    const Tensor a(found.type, std::string(found.sample(s)));
    const Tensor b(wanted.type, std::string(wanted.sample(s)));
    Agreement sample;
    for (int64_t i = 0; i < elements; ++i) AddElement(a, b, i, bounds, sample, sums);
    all.equal_samples += sample.largest_steps == 0 ? 1 : 0;
    all.elements_beyond += sample.elements_beyond;
    all.samples_beyond += sample.elements_beyond > 0 ? 1 : 0;
    if (sample.largest > all.largest) all.worst_sample = s;
    all.largest = std::max(all.largest, sample.largest);
    all.largest_steps = std::max(all.largest_steps, sample.largest_steps);
    if (all.same_argmax && Argmax(a) == Argmax(b)) ++*all.same_argmax;
    all.histogram.resize(std::max(all.histogram.size(), sample.histogram.size()));
    for (size_t bin = 0; bin < sample.histogram.size(); ++bin) {
      all.histogram[bin] += sample.histogram[bin];
    }
  }
  if (all.elements > 0) {
    all.mean = sums.difference / static_cast<double>(all.elements);
    all.rms = std::sqrt(sums.square / static_cast<double>(all.elements));
  }
  all.cosine = sums.angle.Cosine();
  return all;
}

}  // namespace kiln::tools
