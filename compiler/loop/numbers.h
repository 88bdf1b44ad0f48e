// SPDX-License-Identifier: Apache-2.0
// The numbers that stored values are made of, such as multipliers and zero points: scalar integers
// and float32, but those of indices, and those that a dot multiplies by.
#ifndef KILN_COMPILER_LOOP_NUMBERS_H_
#define KILN_COMPILER_LOOP_NUMBERS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "compiler/loop/loop.h"

namespace kiln::loop {

// A number of the type as an expression of a scalar parameter; a float by its bits.
Expr FromScalar(const Type& type, const Var& scalar);

// `s` over f(number) for each of its numbers, in an order that statements have in common that are
// alike but for numbers. Nothing is folded.
Stmt ReplaceNumbers(const Stmt& s, const std::function<Expr(const Expr&)>& f);

// What makes one statement of several that are alike but for numbers.
struct CommonNumbers {
  std::vector<Var> scalars = {};
  std::vector<std::vector<int64_t>> values = {};  // of the scalars, for each of the statements
  std::vector<Expr> replacements = {};            // of each number; null: it stays

  // One of the statements with scalars for the numbers in which they differ.
  Stmt Apply(const Stmt& s) const;
};
// Nothing where statements have more numbers than others, or differ in more than `max_scalars`.
std::optional<CommonNumbers> FindCommonNumbers(const std::vector<Stmt>& statements,
                                               size_t max_scalars);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_NUMBERS_H_
