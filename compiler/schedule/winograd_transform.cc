// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/winograd_transform.h"

#include <cmath>
#include <cstdlib>

namespace kiln::schedule {
namespace {

// Interpolation at 0, ±1 and infinity.
const WinogradTransform kTwo = {
    2,
    {4, 4, {1, 0, -1, 0, 0, 1, 1, 0, 0, -1, 1, 0, 0, -1, 0, 1}},
    {4, 3, {1, 0, 0, 0.5, 0.5, 0.5, 0.5, -0.5, 0.5, 0, 0, 1}},
    {2, 4, {1, 1, 1, 0, 0, 1, -1, 1}},
};

// Interpolation at 0, ±1, ±2 and infinity.
const WinogradTransform kFour = {
    4,
    {6, 6, {4, 0,  -5, 0, 1, 0, 0, -4, -4, 1,  1, 0, 0, 4, -4, -1, 1, 0,
            0, -2, -1, 2, 1, 0, 0, 2,  -1, -2, 1, 0, 0, 4, 0,  -5, 0, 1}},
    {6,
     3,
     {1.0 / 4, 0, 0, -1.0 / 6, -1.0 / 6, -1.0 / 6, -1.0 / 6, 1.0 / 6, -1.0 / 6, 1.0 / 24, 1.0 / 12,
      1.0 / 6, 1.0 / 24, -1.0 / 12, 1.0 / 6, 0, 0, 1}},
    {4, 6, {1, 1, 1, 1, 1, 0, 0, 1, -1, 2, -2, 0, 0, 1, 1, 4, 4, 0, 0, 1, -1, 8, -8, 1}},
};

// True if two neighboring rows agree up to the signs of their elements. One is then the sum of an
// even and an odd part, and the other their difference.
bool IsPair(const WinogradMatrix& matrix, int64_t row) {
  if (row + 1 >= matrix.rows) return false;
  bool even = false, odd = false;
  for (int64_t c = 0; c < matrix.columns; ++c) {
    const double a = matrix.at(row, c), b = matrix.at(row + 1, c);
    if (std::abs(a) != std::abs(b)) return false;
    even |= a != 0 && a == b;
    odd |= a != 0 && a == -b;
  }
  return even && odd;
}

// Returns the sum of coefficient(c) times element(c), over the columns whose coefficient is not 0.
Expr Sum(int64_t columns, const std::function<double(int64_t)>& coefficient,
         const std::function<Expr(int64_t)>& element, bool fused_multiply_add) {
  Expr sum;
  // Terms with the coefficient 1 come first, because they need no multiplication.
  for (bool ones : {true, false}) {
    for (int64_t c = 0; c < columns; ++c) {
      const double factor = coefficient(c);
      if (factor == 0 || (factor == 1) != ones) continue;
      const Expr x = element(c);
      const Expr k = loop::Const(x.type(), factor);
      if (sum.get() == nullptr) {
        sum = ones ? x : x * k;
      } else if (ones) {
        sum = sum + x;
      } else if (factor == -1) {
        sum = sum - x;
      } else {
        sum = fused_multiply_add ? loop::MakeFma(x, k, sum) : sum + x * k;
      }
    }
  }
  return sum;
}

// True if two neighboring columns agree up to the signs of their elements in every row. Their sum
// and difference then serve all rows.
bool IsColumnPair(const WinogradMatrix& matrix, int64_t column) {
  if (column + 1 >= matrix.columns) return false;
  bool same = true, any = false;
  for (int64_t r = 0; r < matrix.rows; ++r) {
    const double a = matrix.at(r, column), b = matrix.at(r, column + 1);
    same &= std::abs(a) == std::abs(b);
    any |= a != 0 && a == -b;
  }
  return same && any;
}

// A matrix for elements in which each pair of columns is replaced by its sum and difference.
struct Paired {
  WinogradMatrix matrix;
  std::vector<int64_t> pairs;  // first column of each pair
};
Paired PairColumns(const WinogradMatrix& matrix) {
  Paired paired{matrix, {}};
  for (int64_t c = 0; c < matrix.columns; ++c) {
    if (!IsColumnPair(matrix, c)) continue;
    for (int64_t r = 0; r < matrix.rows; ++r) {
      const double a = matrix.at(r, c), b = matrix.at(r, c + 1);
      double* row = &paired.matrix.values[static_cast<size_t>(r * matrix.columns)];
      row[c] = a == b ? a : 0;
      row[c + 1] = a == b ? 0 : a;
    }
    paired.pairs.push_back(c++);
  }
  return paired;
}

}  // namespace

const WinogradTransform& WinogradOf(int64_t outputs) { return outputs == 2 ? kTwo : kFour; }

std::vector<float> TransformWeights(const WinogradTransform& transform, const double* g) {
  const int64_t n = transform.inputs();
  std::vector<double> half(static_cast<size_t>(n * kWinogradTaps), 0.0);  // G g
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < kWinogradTaps; ++j) {
      for (int64_t k = 0; k < kWinogradTaps; ++k) {
        half[static_cast<size_t>(i * kWinogradTaps + j)] +=
            transform.weights.at(i, k) * g[k * kWinogradTaps + j];
      }
    }
  }
  std::vector<float> points;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < kWinogradTaps; ++k) {
        sum += half[static_cast<size_t>(i * kWinogradTaps + k)] * transform.weights.at(j, k);
      }
      points.push_back(static_cast<float>(sum));
    }
  }
  return points;
}

std::vector<Expr> Multiply(const WinogradMatrix& original,
                           const std::function<Expr(int64_t)>& original_element,
                           bool fused_multiply_add) {
  const Paired paired = PairColumns(original);
  const WinogradMatrix& matrix = paired.matrix;
  std::vector<Expr> elements;
  for (int64_t c = 0; c < matrix.columns; ++c) elements.push_back(original_element(c));
  for (int64_t c : paired.pairs) {
    const auto i = static_cast<size_t>(c);
    const Expr a = elements[i], b = elements[i + 1];
    elements[i] = a + b;
    elements[i + 1] = a - b;
  }
  const auto element = [&](int64_t c) { return elements[static_cast<size_t>(c)]; };
  std::vector<Expr> products;
  for (int64_t row = 0; row < matrix.rows; ++row) {
    if (!IsPair(matrix, row)) {
      products.push_back(Sum(
          matrix.columns, [&](int64_t c) { return matrix.at(row, c); }, element,
          fused_multiply_add));
      continue;
    }
    const auto part = [&](bool even) {
      return Sum(
          matrix.columns,
          [&](int64_t c) {
            const bool is_even = matrix.at(row, c) == matrix.at(row + 1, c);
            return is_even == even ? matrix.at(row, c) : 0.0;
          },
          element, fused_multiply_add);
    };
    const Expr even = part(true), odd = part(false);
    products.push_back(even + odd);
    products.push_back(even - odd);
    ++row;
  }
  return products;
}

int64_t CostOf(const WinogradMatrix& original) {
  const Paired paired = PairColumns(original);
  const WinogradMatrix& matrix = paired.matrix;
  int64_t cost = 2 * static_cast<int64_t>(paired.pairs.size());
  for (int64_t row = 0; row < matrix.rows; ++row) {
    int64_t terms = 0;
    for (int64_t c = 0; c < matrix.columns; ++c) terms += matrix.at(row, c) != 0 ? 1 : 0;
    const bool pair = IsPair(matrix, row);
    cost += pair ? terms : terms - 1;  // a pair has its parts, their sum and their difference
    if (pair) ++row;
  }
  return cost;
}

}  // namespace kiln::schedule
