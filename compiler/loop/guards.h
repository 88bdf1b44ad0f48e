// SPDX-License-Identifier: Apache-2.0
// Thresholds: where, along a loop, the guards of its body change their truth. What PartitionLoops
// splits by.
#ifndef KILN_COMPILER_LOOP_GUARDS_H_
#define KILN_COMPILER_LOOP_GUARDS_H_

#include <cstdint>
#include <vector>

#include "compiler/loop/loop.h"
#include "compiler/loop/range.h"
#include "compiler/loop/simplifier.h"

namespace kiln::loop {

// A guard that depends on the sign of coefficient * v + rest, where v is the variable of a loop and
// `rest` takes all values that the other variables give it: decided where the sum is negative, or
// is not, for all of them.
struct Threshold {
  int64_t coefficient;  // not zero
  Range rest;           // bounded
  bool zero_is_both;  // where the sum is 0 the guard may be taken to go either way: min(a, b) where
                      // a == b
  // The values of `rest` for each combination of the unrolled variables it depends on: each will be
  // a statement of its own.
  std::vector<Range> instances;

  // Where `undecided_from` < `decided_from`: the guard is undecided for v in between and decided on
  // both sides. Otherwise it is decided on both sides of any point in [decided_from,
  // undecided_from].
  struct Points {
    int64_t undecided_from;
    int64_t decided_from;
  };
  Points FindPoints() const;
  // The fraction of the instances that are undecided for v in `values`.
  double Undecided(Range values) const;
};

// What guards are linear in: the variable of a loop, or a quotient or remainder of it, such as the
// row of a pixel number.
struct Subject {
  Expr atom;
  std::vector<Threshold> thresholds;
};

// The thresholds of comparisons, minima and maxima in `body` for the variable `var` of the loop
// around it and for the atoms that depend on it and on no variable within; by first occurrence. The
// variables around `body` are bound in `simplifier`, which has simplified it. Guards in the ranges
// of serial loops are left out if `in_ranges` is false.
std::vector<Subject> FindSubjects(const Stmt& body, const Var& var, Simplifier& simplifier,
                                  bool in_ranges = true);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_GUARDS_H_
