// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/index_input.h"

namespace kiln {

IndexInput PlacesOf(const Shape& data, size_t first, int input, const TensorType& indices) {
  IndexInput places{input, {}};
  for (size_t d = 0; d < static_cast<size_t>(indices.shape[0]); ++d) {
    places.bounds.push_back(FromEnds(data[first + d]));
  }
  return places;
}

bool CanBeLess(DType dtype, const IndexBounds& bounds) {
  return dtype.is_uint() ? bounds.least > 0 : dtype.MinInt() < bounds.least;
}

bool CanBeGreater(DType dtype, const IndexBounds& bounds) {
  return dtype == DType::UInt(64) || dtype.MaxInt() > bounds.largest;
}

}  // namespace kiln
