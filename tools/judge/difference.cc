// SPDX-License-Identifier: Apache-2.0
#include "tools/judge/difference.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace kiln::tools {
namespace {

// Returns the bits of an element, little endian.
uint64_t BitsOf(const Tensor& tensor, int64_t i) {
  const size_t size = static_cast<size_t>(tensor.type().dtype.bytes());
  uint64_t bits = 0;
  std::memcpy(&bits, tensor.bytes().data() + static_cast<size_t>(i) * size, size);
  return bits;
}

uint64_t Between(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

// The order of floats with the same sign is that of their bits.
uint64_t FloatSteps(uint64_t a, uint64_t b, int bits) {
  const uint64_t sign = uint64_t{1} << (bits - 1);
  const uint64_t size_a = a & ~sign, size_b = b & ~sign;
  return (a & sign) == (b & sign) ? Between(size_a, size_b) : size_a + size_b;
}

// An element of two tensors.
struct Pair {
  double found = 0, wanted = 0;
  uint64_t steps = 0;

  bool is_finite() const { return std::isfinite(found) && std::isfinite(wanted); }
  // Returns |found - wanted|, which is infinite or NaN if one of them is.
  double difference() const { return steps == 0 ? 0 : std::abs(found - wanted); }
  bool IsWithin(const Tolerance& tolerance) const {
    return steps <= tolerance.steps ||
           (is_finite() &&
            difference() <= tolerance.absolute + tolerance.relative * std::abs(wanted));
  }
};

Pair PairAt(const Tensor& found, const Tensor& wanted, int64_t i) {
  Pair pair = {found.AsDouble(i), wanted.AsDouble(i), 0};
  const DType dtype = found.type().dtype;
  const bool found_is_nan = std::isnan(pair.found), wanted_is_nan = std::isnan(pair.wanted);
  if (found_is_nan || wanted_is_nan) {
    if (found_is_nan != wanted_is_nan) pair.steps = std::numeric_limits<uint64_t>::max();
  } else if (dtype != wanted.type().dtype) {
    pair.steps = pair.found == pair.wanted ? 0 : 1;
  } else if (dtype.is_float()) {
    pair.steps = FloatSteps(BitsOf(found, i), BitsOf(wanted, i), dtype.bits);
  } else if (dtype.is_int()) {
    const int64_t x = found.AsInt(i), y = wanted.AsInt(i);
    pair.steps = x > y ? static_cast<uint64_t>(x) - static_cast<uint64_t>(y)
                       : static_cast<uint64_t>(y) - static_cast<uint64_t>(x);
  } else {
    pair.steps = Between(BitsOf(found, i), BitsOf(wanted, i));
  }
  return pair;
}

}  // namespace

absl::Status CheckTolerance(absl::string_view option, double tolerance) {
  if (tolerance >= 0 && !std::isinf(tolerance)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(option, ": found ", tolerance, ", wanted a number of 0 or more"));
}

void Difference::Add(const Tensor& found_tensor, const Tensor& wanted_tensor,
                     const Tolerance& tolerance) {
  for (int64_t i = 0; i < found_tensor.type().num_elements(); ++i, ++elements) {
    const Pair pair = PairAt(found_tensor, wanted_tensor, i);
    const double difference = pair.difference();
    elements_beyond += pair.IsWithin(tolerance) ? 0 : 1;
    largest_steps = std::max(largest_steps, pair.steps);
    const size_t bin = static_cast<size_t>(std::bit_width(pair.steps));
    if (histogram.size() <= bin) histogram.resize(bin + 1);
    ++histogram[bin];
    if (pair.steps > 0) {
      const bool is_worse = !pair.is_finite() || differing == 0 || difference > largest;
      if (not_finite == 0 && is_worse) at = elements, found = pair.found, wanted = pair.wanted;
      ++differing;
      not_finite += pair.is_finite() ? 0 : 1;
    }
    if (!pair.is_finite()) continue;
    ++finite;
    finite_steps = std::max(finite_steps, pair.steps);
    largest = std::max(largest, difference);
    largest_wanted = std::max(largest_wanted, std::abs(pair.wanted));
    sum += difference;
    square_sum += difference * difference;
    dot += pair.found * pair.wanted;
    found_square_sum += pair.found * pair.found;
    wanted_square_sum += pair.wanted * pair.wanted;
  }
}

double Difference::Mean() const {
  return elements > not_finite ? sum / static_cast<double>(elements - not_finite) : 0;
}

double Difference::Rms() const {
  return elements > not_finite ? std::sqrt(square_sum / static_cast<double>(elements - not_finite))
                               : 0;
}

double Difference::Cosine() const {
  if (found_square_sum == 0 || wanted_square_sum == 0) {
    return found_square_sum == wanted_square_sum ? 1 : 0;
  }
  return std::clamp(dot / (std::sqrt(found_square_sum) * std::sqrt(wanted_square_sum)), -1.0, 1.0);
}

std::string ElementText(const Tensor& tensor, int64_t i) {
  const DType dtype = tensor.type().dtype;
  if (dtype == DType::UInt(64)) {
    return absl::StrCat(tensor.values<uint64_t>()[static_cast<size_t>(i)]);
  }
  if (!dtype.is_float()) return absl::StrCat(tensor.AsInt(i));
  return absl::StrFormat("%.*g", dtype.bits > 32 ? 17 : 9, tensor.AsDouble(i));
}

absl::Status CheckClose(const Tensor& found, const Tensor& wanted, const Tolerance& tolerance) {
  const bool bits = tolerance.relative == 0 && tolerance.absolute == 0;
  const int64_t elements = found.type().num_elements();
  int64_t wrong = 0, first = 0;
  for (int64_t i = 0; i < elements; ++i) {
    const bool is_close =
        bits ? BitsOf(found, i) == BitsOf(wanted, i) : PairAt(found, wanted, i).IsWithin(tolerance);
    if (!is_close && wrong++ == 0) first = i;
  }
  if (wrong == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrFormat("%d of %d values differ, the first at %d: found %s, wanted %s", wrong,
                      elements, first, ElementText(found, first), ElementText(wanted, first)));
}

}  // namespace kiln::tools
