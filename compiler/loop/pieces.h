// SPDX-License-Identifier: Apache-2.0
// Pieces: parts of a loop's range in which guards of its body are decided.
#ifndef KILN_COMPILER_LOOP_PIECES_H_
#define KILN_COMPILER_LOOP_PIECES_H_

#include <vector>

#include "compiler/loop/guards.h"
#include "compiler/loop/range.h"

namespace kiln::loop {

using Pieces = std::vector<Range>;

// The pieces to split `values` into, in order; one, if no split is worth while. `share`: the part of
// a function's work that the loop does.
Pieces SplitAt(const std::vector<Threshold>& thresholds, Range values, double share);

Range Largest(const Pieces& pieces);
// The part of all values that is in one piece.
double Part(const Pieces& pieces, Range piece);
double BesideLargest(const Pieces& pieces);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_PIECES_H_
