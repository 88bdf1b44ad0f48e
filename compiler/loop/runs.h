// SPDX-License-Identifier: Apache-2.0
// Loops through neighboring elements: copies, fills, and loops that go on where others have ended.
#ifndef KILN_COMPILER_LOOP_RUNS_H_
#define KILN_COMPILER_LOOP_RUNS_H_

#include <cstdint>
#include <optional>

#include "compiler/loop/loop.h"

namespace kiln::loop {

// `elements` neighbors of `from`, beginning at `from_first`, go to `to`, beginning at `to_first`.
struct CopyLoop {
  Buffer to, from;
  Expr to_first, from_first;
  int64_t elements;
};

// The loop as a copy of known length from one buffer to another, if it is one; its indices are flat.
// Where the function is in_place, both may be parts of one memory, of which nothing is overwritten
// before it is read. Booleans are not copied as bytes, of which a load makes 0 or 1.
std::optional<CopyLoop> AsCopy(const For& loop);

// Whether a loop stores one value to neighboring elements.
bool IsFill(const For& loop);

// Whether the iterations of `outer` go on, in the index of a store and in those of all that it loads,
// where those of `inner`, which it is around and which has so many, have ended.
bool GoesOn(const For& outer, const For& inner, int64_t inner_extent, const Store& store);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_RUNS_H_
