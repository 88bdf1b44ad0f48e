// SPDX-License-Identifier: Apache-2.0
// Fourier transforms as matrix products. They take n² operations per signal, which is fast enough
// for the lengths of speech frames.
#ifndef KILN_COMPILER_FRONTEND_COMMON_FOURIER_H_
#define KILN_COMPILER_FRONTEND_COMMON_FOURIER_H_

#include <cstdint>
#include <vector>

namespace kiln::frontend {

enum class ComplexPart { kReal, kImaginary };

// Returns the real or imaginary part of the matrix [bins, n] of exp(-2 pi i k j / n), row by row.
// For the inverse transform the elements are exp(2 pi i k j / n) / n. The caller must bound the
// size.
std::vector<double> FourierMatrix(int64_t bins, int64_t n, ComplexPart part, bool inverse = false);

}  // namespace kiln::frontend

#endif  // KILN_COMPILER_FRONTEND_COMMON_FOURIER_H_
