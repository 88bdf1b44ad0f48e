// SPDX-License-Identifier: Apache-2.0
// Resizes data to another resolution. The place of data for an index i of the result is a fraction
// of integers, so that every engine finds the same neighbors and weights. With the scale
// s = out / in, or the given scale:
//
//   half_pixel            (i + 1/2) / s - 1/2           asymmetric  i / s
//   half_pixel_symmetric  the same, + in / 2 - out / (2 s)
//   align_corners         i (in - 1) / (out - 1)
//   tf_crop_and_resize    (start + i (end - start) / (out - 1)) (in - 1)
#ifndef KILN_COMPILER_OPS_RESIZE_H_
#define KILN_COMPILER_OPS_RESIZE_H_

#include <vector>

#include "compiler/ops/op_def.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {

// Extents up to this limit keep numerators within the range of an index.
inline constexpr int64_t kMaxResizeExtent = int64_t{1} << 28;

// Weights of the four neighbors of a place; `t` is its distance from the second
// one, 0 to 1 (Keys, 1981).
std::vector<Expr> CubicWeights(const Expr& t, double alpha);

// Returns the type of data with the extents `size` in the 1 to 3 spatial dimensions. Constraints:
// 1. data holds numbers  2. the layout is known  3. data has its rank  4. extents are in range
InferResult InferResized(const InferContext& context, const std::vector<int64_t>& size, DType dtype,
                         int spatial);
// Defines output 0 as input 0, resized by the attributes of image.resize2d.
void LowerResized(StageBuilder& b, const Attrs& attrs, int spatial);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_RESIZE_H_
