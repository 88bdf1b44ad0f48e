// SPDX-License-Identifier: Apache-2.0
// What operators that read or write where data say tell of their indices (OpDef::index_input).
#ifndef KILN_COMPILER_OPS_INDEX_INPUT_H_
#define KILN_COMPILER_OPS_INDEX_INPUT_H_

#include <cstddef>
#include <cstdint>

#include "compiler/base/tensor.h"
#include "compiler/ops/op_def.h"

namespace kiln {

// Indices along an extent; negative ones count from its end.
inline IndexBounds FromEnds(int64_t extent) { return {-extent, extent - 1}; }

// An input of the type `indices` whose first dimension says where along the dimensions of `data`
// from the dimension `first` on; negative ones count from the ends.
IndexInput PlacesOf(const Shape& data, size_t first, int input, const TensorType& indices);

// Whether an integer of the type can be less than the least or greater than the largest.
bool CanBeLess(DType dtype, const IndexBounds& bounds);
bool CanBeGreater(DType dtype, const IndexBounds& bounds);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_INDEX_INPUT_H_
