// SPDX-License-Identifier: Apache-2.0
// The linear transforms of Winograd's minimal filtering F(m × m, 3 × 3): A. Lavin and S. Gray,
// "Fast Algorithms for Convolutional Neural Networks", 2015.
//
// A tile of m × m outputs is Aᵀ [(G g Gᵀ) ∘ (Bᵀ d B)] A, with g the 3 × 3 weights, d the
// (m + 2) × (m + 2) inputs that the tile reads, and ∘ the product of elements, summed over
// channels.
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

// F(2 × 2, 3 × 3) or F(4 × 4, 3 × 3).
const WinogradTransform& WinogradOf(int64_t outputs);

// The points of G g Gᵀ, in double precision and rounded once; `g` row-major 3 × 3.
std::vector<float> TransformWeights(const WinogradTransform& transform, const double* g);

// `matrix` times a column vector of which `element(i)` is element i, one expression per row. Rows
// that are even and odd parts of one pair share them.
std::vector<Expr> Multiply(const WinogradMatrix& matrix,
                           const std::function<Expr(int64_t)>& element, bool fused_multiply_add);

// Multiply-adds that a product with `matrix` takes.
int64_t CostOf(const WinogradMatrix& matrix);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_WINOGRAD_TRANSFORM_H_
