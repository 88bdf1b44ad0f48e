// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/regions.h"

#include <vector>

#include "compiler/ops/constraint.h"

namespace kiln {

absl::StatusOr<TensorType> CheckRegions(const InferContext& c) {
  const TensorType &data = c.inputs[0], &rois = c.inputs[1];
  KILN_CONSTRAINT(1, data.dtype.is_float() && rois.dtype.is_float(),
                  absl::StrCat(data.dtype.ToString(), " and ", rois.dtype.ToString()), "floats");
  KILN_CONSTRAINT(2, c.attrs.String("layout") == "NCHW", c.attrs.String("layout"), "NCHW");
  KILN_CONSTRAINT(3, data.rank() == 4 && rois.rank() == 2 && rois.shape[1] == 5,
                  absl::StrCat(ShapeToString(data.shape), " and ", ShapeToString(rois.shape)),
                  "(n, channels, h, w) and (regions, 5)");
  KILN_CONSTRAINT(3, data.shape[0] >= 1 && data.shape[2] >= 1 && data.shape[3] >= 1,
                  ShapeToString(data.shape), "at least one place");
  std::vector<int64_t> size = c.attrs.Ints("pooled_size");
  if (size.size() == 1) size.push_back(size[0]);
  KILN_CONSTRAINT(4, size.size() == 2 && size[0] >= 1 && size[1] >= 1,
                  AttrValue::Ints(size).ToString(), "two positive numbers");
  return TensorType{{rois.shape[0], data.shape[1], size[0], size[1]}, data.dtype};
}

}  // namespace kiln
