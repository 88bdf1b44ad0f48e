// SPDX-License-Identifier: Apache-2.0
// Loops through neighboring elements: copies, fills, and nested loops that form one sequence.
#ifndef KILN_COMPILER_LOOP_RUNS_H_
#define KILN_COMPILER_LOOP_RUNS_H_

#include <cstdint>
#include <optional>

#include "compiler/loop/loop.h"

namespace kiln::loop {

// A copy of `elements` neighboring elements, from `from_first` in `from` to `to_first` in `to`.
struct CopyLoop {
  Buffer to, from;
  Expr to_first, from_first;
  int64_t elements;
};

// Returns the loop as a copy of known length from one buffer to another, or nothing if it is none.
// Its indices are flat. In an in_place function both may be parts of one memory, and no element is
// overwritten before it is read. Copies of bools are excluded, because a load changes a byte to 0
// or 1.
std::optional<CopyLoop> AsCopy(const For& loop);

// True if the loop stores one value to neighboring elements.
bool IsFill(const For& loop);

// True if the iterations of `inner` form one sequence over all iterations of `outer`, the loop
// around it. In the index of the store and of all its loads, each iteration of `outer` must
// continue where the `inner_extent` iterations before it have ended.
bool GoesOn(const For& outer, const For& inner, int64_t inner_extent, const Store& store);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_RUNS_H_
