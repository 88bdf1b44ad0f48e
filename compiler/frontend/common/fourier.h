// SPDX-License-Identifier: Apache-2.0
// Fourier transforms as products with matrices: n² per signal, which for the lengths of speech
// frames is what a product does fast.
#ifndef KILN_COMPILER_FRONTEND_COMMON_FOURIER_H_
#define KILN_COMPILER_FRONTEND_COMMON_FOURIER_H_

#include <cstdint>
#include <vector>

namespace kiln::frontend {

enum class ComplexPart { kReal, kImaginary };

// A part of the matrix [bins, n] of exp(-2 pi i k j / n), row by row; of the inverse transform,
// exp(2 pi i k j / n) / n. The caller bounds the size.
std::vector<double> FourierMatrix(int64_t bins, int64_t n, ComplexPart part, bool inverse = false);

}  // namespace kiln::frontend

#endif  // KILN_COMPILER_FRONTEND_COMMON_FOURIER_H_
