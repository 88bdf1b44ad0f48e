// SPDX-License-Identifier: Apache-2.0
// Helpers for OpDef::index_input of operators that read or write at places that data select.
#ifndef KILN_COMPILER_OPS_INDEX_INPUT_H_
#define KILN_COMPILER_OPS_INDEX_INPUT_H_

#include <cstddef>
#include <cstdint>

#include "compiler/base/tensor.h"
#include "compiler/ops/op_def.h"

namespace kiln {

// Bounds of indices along an extent; negative indices count from its end.
inline IndexBounds FromEnds(int64_t extent) { return {-extent, extent - 1}; }

// The IndexInput for input number `input`, of type `indices`. Entry d of its first dimension has
// the indices along dimension `first` + d of `data`; negative ones count from the end.
IndexInput PlacesOf(const Shape& data, size_t first, int input, const TensorType& indices);

// True if an integer of the dtype can be less than bounds.least, or greater than bounds.largest.
bool CanBeLess(DType dtype, const IndexBounds& bounds);
bool CanBeGreater(DType dtype, const IndexBounds& bounds);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_INDEX_INPUT_H_
