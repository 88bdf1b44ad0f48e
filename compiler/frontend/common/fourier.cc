// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/common/fourier.h"

#include <cmath>

namespace kiln::frontend {

std::vector<double> FourierMatrix(int64_t bins, int64_t n, ComplexPart part, bool inverse) {
  constexpr double kTwoPi = 2 * 3.14159265358979323846;
  const double divisor = inverse ? static_cast<double>(n) : 1;
  std::vector<double> matrix;
  matrix.reserve(static_cast<size_t>(bins * n));
  for (int64_t k = 0; k < bins; ++k) {
    for (int64_t j = 0; j < n; ++j) {
      const double phase = kTwoPi * static_cast<double>(k * j % n) / static_cast<double>(n);
      const double sine = inverse ? std::sin(phase) : -std::sin(phase);
      matrix.push_back((part == ComplexPart::kReal ? std::cos(phase) : sine) / divisor);
    }
  }
  return matrix;
}

}  // namespace kiln::frontend
