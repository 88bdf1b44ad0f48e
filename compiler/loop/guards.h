// SPDX-License-Identifier: Apache-2.0
// Thresholds: the values of a loop variable at which the guards in the loop's body change their
// truth. PartitionLoops splits loops there.
#ifndef KILN_COMPILER_LOOP_GUARDS_H_
#define KILN_COMPILER_LOOP_GUARDS_H_

#include <cstdint>
#include <vector>

#include "compiler/loop/loop.h"
#include "compiler/loop/range.h"
#include "compiler/loop/simplifier.h"

namespace kiln::loop {

// A guard that depends on the sign of coefficient * v + rest. v is the variable of a loop, and
// `rest` takes all values that the other variables give it. The guard is decided for v if the sum
// is negative, or is not negative, for all of them.
struct Threshold {
  int64_t coefficient;  // not zero
  Range rest;           // bounded
  bool zero_is_both;    // the guard may go either way if the sum is 0: min(a, b) if a == b
  // The values of `rest` for each combination of the unrolled variables that it depends on. Each
  // combination becomes a statement of its own.
  std::vector<Range> instances;

  // If `undecided_from` < `decided_from`, the guard is undecided for v in between and decided on
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

// An expression in which guards are linear: the variable of a loop, or a quotient or remainder of
// it. For example, the row of a pixel is a quotient of its number.
struct Subject {
  Expr atom;
  std::vector<Threshold> thresholds;
};

// Returns the subjects of the comparisons, minima and maxima in `body`, in the order of first
// occurrence. Subjects are `var`, the variable of the loop around `body`, and atoms that depend on
// it and on no variable within `body`. `simplifier` has simplified `body` and has bindings for the
// variables around it. If `in_ranges` is false, guards in the ranges of serial loops are ignored.
std::vector<Subject> FindSubjects(const Stmt& body, const Var& var, Simplifier& simplifier,
                                  bool in_ranges = true);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_GUARDS_H_
