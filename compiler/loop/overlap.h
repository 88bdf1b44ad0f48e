// SPDX-License-Identifier: Apache-2.0
// Overlap: how far an output of a function may reach into an input, as the order of its loops
// proves.
//
//   const std::optional<Overlap> overlap = FindOverlap(func, /*input=*/0, /*output=*/0, 16);
//   // The output may begin 320 bytes before the input, or 384, …: {.distance_bytes = 320,
//   // .multiple_bytes = 64}.
//
// A convolution that goes through its rows in order needs the first rows of its input no more when
// it writes its last ones. So the output may take their place: it begins a little before the input,
// by the distance, and what it writes never meets an element that is still to be read.
#ifndef KILN_COMPILER_LOOP_OVERLAP_H_
#define KILN_COMPILER_LOOP_OVERLAP_H_

#include <cstdint>
#include <optional>

#include "compiler/loop/loop.h"

namespace kiln::loop {

// The output may begin `distance_bytes` before the input, or any multiple of `multiple_bytes` more.
struct Overlap {
  int64_t distance_bytes = 0;  // a multiple of multiple_bytes
  int64_t multiple_bytes = 1;

  bool Allows(int64_t bytes) const {
    return bytes >= distance_bytes && bytes % multiple_bytes == 0;
  }
  bool operator==(const Overlap&) const = default;
};

// For the function's input and output of these numbers, the least distance there is, both numbers
// of the result multiples of `alignment_bytes`. The accesses of the function are followed in the
// order in which it makes them; iterations of parallel and vectorized loops count as one. Nothing
// if only memory of its own is safe, and where the order of accesses is not known: where an index
// or a condition depends on data, in a function that reads its output or calls others, and beyond
// some millions of accesses. The function must be flat, and is Func::in_place where it is used so.
std::optional<Overlap> FindOverlap(const Func& func, int input, int output,
                                   int64_t alignment_bytes);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_OVERLAP_H_
