// SPDX-License-Identifier: Apache-2.0
#include "tools/judge/distance.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace kiln::tools {
namespace {

constexpr uint64_t kMostSteps = std::numeric_limits<uint64_t>::max();

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

void Angle::Add(double a, double b) {
  dot_ += a * b;
  a_square_ += a * a;
  b_square_ += b * b;
}

double Angle::Cosine() const {
  if (a_square_ == 0 || b_square_ == 0) return a_square_ == b_square_ ? 1 : 0;
  return std::clamp(dot_ / (std::sqrt(a_square_) * std::sqrt(b_square_)), -1.0, 1.0);
}

}  // namespace kiln::tools
