// SPDX-License-Identifier: Apache-2.0
#include "tools/validate/agreement.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

namespace kiln::tools {
namespace {

constexpr uint64_t kMostSteps = std::numeric_limits<uint64_t>::max();

// The bits of an element, little endian.
uint64_t BitsOf(const Tensor& tensor, int64_t i) {
  const size_t size = static_cast<size_t>(tensor.type().dtype.bytes());
  uint64_t bits = 0;
  std::memcpy(&bits, tensor.bytes().data() + static_cast<size_t>(i) * size, size);
  return bits;
}

uint64_t Between(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

// Floats of one sign are ordered as their bits are.
uint64_t FloatSteps(uint64_t a, uint64_t b, int bits) {
  const uint64_t sign = uint64_t{1} << (bits - 1);
  const uint64_t size_a = a & ~sign, size_b = b & ~sign;
  return (a & sign) == (b & sign) ? Between(size_a, size_b) : size_a + size_b;
}

// What is not yet divided by the number of elements.
struct Sums {
  double difference = 0, square = 0, product = 0, found_square = 0, wanted_square = 0;
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
  sums.product += a * b;
  sums.found_square += a * a;
  sums.wanted_square += b * b;
}

// The first of the largest elements.
int64_t Argmax(const Tensor& tensor) {
  int64_t best = 0;
  for (int64_t i = 1; i < tensor.type().num_elements(); ++i) {
    if (tensor.AsDouble(i) > tensor.AsDouble(best)) best = i;
  }
  return best;
}

double Cosine(const Sums& sums) {
  if (sums.found_square == 0 || sums.wanted_square == 0) {
    return sums.found_square == sums.wanted_square ? 1 : 0;
  }
  return sums.product / (std::sqrt(sums.found_square) * std::sqrt(sums.wanted_square));
}

}  // namespace

uint64_t StepsBetween(const Tensor& a, const Tensor& b, int64_t i) {
  const DType dtype = a.type().dtype;
  if (dtype.is_float()) {
    const bool a_is_nan = std::isnan(a.AsDouble(i)), b_is_nan = std::isnan(b.AsDouble(i));
    if (a_is_nan || b_is_nan) return a_is_nan == b_is_nan ? 0 : kMostSteps;
    return FloatSteps(BitsOf(a, i), BitsOf(b, i), dtype.bits);
  }
  if (!dtype.is_int()) return Between(BitsOf(a, i), BitsOf(b, i));
  const int64_t x = a.AsInt(i), y = b.AsInt(i);
  return x > y ? static_cast<uint64_t>(x) - static_cast<uint64_t>(y)
               : static_cast<uint64_t>(y) - static_cast<uint64_t>(x);
}

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
  all.cosine = Cosine(sums);
  return all;
}

}  // namespace kiln::tools
