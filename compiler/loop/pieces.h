// SPDX-License-Identifier: Apache-2.0
// Pieces: parts of a loop's range in which the guards of its body are decided.
#ifndef KILN_COMPILER_LOOP_PIECES_H_
#define KILN_COMPILER_LOOP_PIECES_H_

#include <vector>

#include "compiler/loop/guards.h"
#include "compiler/loop/range.h"

namespace kiln::loop {

using Pieces = std::vector<Range>;

// Returns the pieces into which `values` is split, in order. Returns one piece if no split is
// worthwhile. `share` is the loop's part of the function's work.
Pieces SplitAt(const std::vector<Threshold>& thresholds, Range values, double share);

Range Largest(const Pieces& pieces);
// The fraction of all values that is in one piece.
double Part(const Pieces& pieces, Range piece);
double BesideLargest(const Pieces& pieces);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_PIECES_H_
