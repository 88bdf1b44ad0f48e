// SPDX-License-Identifier: Apache-2.0
// Checks that vision.roi_align and vision.roi_pool share. They pool over regions of images.
#ifndef KILN_COMPILER_OPS_REGIONS_H_
#define KILN_COMPILER_OPS_REGIONS_H_

#include "absl/status/statusor.h"
#include "compiler/ops/op_def.h"

namespace kiln {

// Checks constraints 1 to 4: data (n, channels, h, w) and regions (regions, 5) are floats, the
// layout is NCHW, no dimension of an image is empty, pooled_size is two positive numbers or one for
// both. Returns the type of the result: (regions, channels, *pooled_size).
absl::StatusOr<TensorType> CheckRegions(const InferContext& c);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_REGIONS_H_
