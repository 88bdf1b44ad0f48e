// SPDX-License-Identifier: Apache-2.0
// Overlap: the distance at which an output of a function may reach into an input, proved by the
// order of its accesses.
//
//   const std::optional<Overlap> overlap = FindOverlap(func, /*input=*/0, /*output=*/0, 16);
//   // The output may begin 320 bytes before the input, or 384, …: {.distance_bytes = 320,
//   // .multiple_bytes = 64}.
//
// A convolution that processes its rows in order no longer needs the first rows of its input when
// it writes its last rows. The output may therefore reuse their memory. It begins before the input,
// at a distance at which it never overwrites an element that is still to be read.
#ifndef KILN_COMPILER_LOOP_OVERLAP_H_
#define KILN_COMPILER_LOOP_OVERLAP_H_

#include <cstdint>
#include <optional>

#include "compiler/loop/loop.h"

namespace kiln::loop {

// The output may begin `distance_bytes`, or that plus any multiple of `multiple_bytes`, before the
// input.
struct Overlap {
  int64_t distance_bytes = 0;  // a multiple of multiple_bytes
  int64_t multiple_bytes = 1;

  bool Allows(int64_t bytes) const {
    return bytes >= distance_bytes && bytes % multiple_bytes == 0;
  }
  bool operator==(const Overlap&) const = default;
};

// Returns the least distance for an input and an output of the function, given by their numbers.
// Both fields of the result are multiples of `alignment_bytes`. The accesses of the function are
// followed in order; iterations of parallel and vectorized loops count as simultaneous. Returns
// nothing if the output needs memory of its own, or if the order of accesses is not known. It is
// not known if an index or a condition depends on data, if the function reads its output or calls
// others, or beyond some millions of accesses. The function must be flat. It needs Func::in_place
// if the overlap is used.
std::optional<Overlap> FindOverlap(const Func& func, int input, int output,
                                   int64_t alignment_bytes);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_OVERLAP_H_
