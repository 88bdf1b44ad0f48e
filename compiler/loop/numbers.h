// SPDX-License-Identifier: Apache-2.0
// The numbers in statements, so that statements which differ only in numbers can be made one.
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
  // Numbers in stored values, such as multipliers and zero points: scalar integers and float32,
  // except the operands of dots.
  kOfValues,
  // Also numbers in indices, conditions and the ranges of serial loops, such as extents of tensors.
  kOfValuesAndIndices,
};

// Returns the number of type `type` that a scalar parameter holds. A float is passed as its bits.
Expr FromScalar(const Type& type, const Expr& scalar);

// Replaces each number of `s` by f(number). Statements that differ only in numbers have the same
// order of calls. Nothing is folded.
Stmt ReplaceNumbers(const Stmt& s, Numbers which, const std::function<Expr(const Expr&)>& f);

// The numbers in which several otherwise equal statements differ, and their replacement by scalars.
struct CommonNumbers {
  std::vector<Var> scalars = {};
  std::vector<std::vector<int64_t>> values = {};  // of the scalars, for each of the statements
  std::vector<Expr> replacements = {};  // one for each number, an expression of the scalars; null:
                                        // the number stays
  Numbers which = Numbers::kOfValues;

  // Replaces the numbers of one of the statements by scalars.
  Stmt Apply(const Stmt& s) const;
};
// Returns nothing if the statements have different counts of numbers, or need more than
// `max_scalars` scalars. A number of an index needs no scalar if it is the same multiple of another
// one plus the same constant in all of the statements. It is then computed from that scalar: 6 *
// columns + 2.
std::optional<CommonNumbers> FindCommonNumbers(const std::vector<Stmt>& statements, Numbers which,
                                               size_t max_scalars);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_NUMBERS_H_
