// SPDX-License-Identifier: Apache-2.0
// The numbers that statements are made of, so that those that are alike but for numbers can be one.
#ifndef KILN_COMPILER_LOOP_NUMBERS_H_
#define KILN_COMPILER_LOOP_NUMBERS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "compiler/loop/loop.h"

namespace kiln::loop {

enum class Numbers {
  // Those that stored values are made of, such as multipliers and zero points: scalar integers and
  // float32, but those that a dot multiplies by.
  kOfValues,
  // And those of indices and of the ranges of serial loops: extents of tensors, and what is made of
  // them.
  kOfValuesAndIndices,
};

// A number of the type as an expression of a scalar parameter; a float by its bits.
Expr FromScalar(const Type& type, const Expr& scalar);

// `s` over f(number) for each of its numbers, in an order that statements have in common that are
// alike but for numbers. Nothing is folded.
Stmt ReplaceNumbers(const Stmt& s, Numbers which, const std::function<Expr(const Expr&)>& f);

// What makes one statement of several that are alike but for numbers.
struct CommonNumbers {
  std::vector<Var> scalars = {};
  std::vector<std::vector<int64_t>> values = {};  // of the scalars, for each of the statements
  std::vector<Expr> replacements = {};  // of each number, over the scalars; null: it stays
  Numbers which = Numbers::kOfValues;

  // One of the statements with scalars for the numbers in which they differ.
  Stmt Apply(const Stmt& s) const;
};
// Nothing where statements have more numbers than others, or differ in more than `max_scalars`. Of
// indices, a number that is a multiple of another one plus a constant in all of the statements is
// computed of that one's scalar: 6 * columns + 2.
std::optional<CommonNumbers> FindCommonNumbers(const std::vector<Stmt>& statements, Numbers which,
                                               size_t max_scalars);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_NUMBERS_H_
