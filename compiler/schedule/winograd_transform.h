// SPDX-License-Identifier: Apache-2.0
// The linear transforms of Winograd's minimal filtering F(m × m, 3 × 3): A. Lavin and S. Gray,
// "Fast Algorithms for Convolutional Neural Networks", 2015.
//
// A tile of m × m outputs is Aᵀ [(G g Gᵀ) ∘ (Bᵀ d B)] A, summed over channels. g are the 3 × 3
// weights, and d the (m + 2) × (m + 2) inputs that the tile reads. ∘ is the product of elements.
#ifndef KILN_COMPILER_SCHEDULE_WINOGRAD_TRANSFORM_H_
#define KILN_COMPILER_SCHEDULE_WINOGRAD_TRANSFORM_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "compiler/loop/expr.h"

namespace kiln::schedule {

using loop::Expr;

inline constexpr int64_t kWinogradTaps = 3;

// A row-major matrix of small rational numbers.
struct WinogradMatrix {
  int64_t rows, columns;
  std::vector<double> values;

  double at(int64_t row, int64_t column) const {
    return values[static_cast<size_t>(row * columns + column)];
  }
};

struct WinogradTransform {
  int64_t outputs;         // m
  WinogradMatrix input;    // Bᵀ: (m + 2) × (m + 2)
  WinogradMatrix weights;  // G: (m + 2) × 3
  WinogradMatrix output;   // Aᵀ: m × (m + 2)

  int64_t inputs() const { return outputs + kWinogradTaps - 1; }
  int64_t points() const { return inputs() * inputs(); }
};

// Returns F(2 × 2, 3 × 3) or F(4 × 4, 3 × 3).
const WinogradTransform& WinogradOf(int64_t outputs);

// Returns the points of G g Gᵀ, computed in double precision and rounded once. `g` is row-major 3 ×
// 3.
std::vector<float> TransformWeights(const WinogradTransform& transform, const double* g);

// Returns `matrix` times a column vector, one expression per row. `element(i)` is element i of the
// vector. Rows that are the sum and the difference of an even and an odd part share these parts.
std::vector<Expr> Multiply(const WinogradMatrix& matrix,
                           const std::function<Expr(int64_t)>& element, bool fused_multiply_add);

// Returns the number of multiply-adds of a product with `matrix`.
int64_t CostOf(const WinogradMatrix& matrix);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_WINOGRAD_TRANSFORM_H_
