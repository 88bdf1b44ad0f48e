// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/onnx/known_indices.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"

namespace kiln::onnx_frontend {

absl::Status CheckKnownIndices(Converter& c, ValueId indices, absl::Span<const int64_t> extents) {
  const Value& value = c.graph().value(indices);
  if (value.kind != ValueKind::kConstant) return absl::OkStatus();
  const std::vector<int64_t> ints = value.constant.ToInts();
  for (size_t i = 0; i < ints.size(); ++i) {
    const int64_t extent = extents[i % extents.size()];
    if (ints[i] >= -extent && ints[i] < extent) continue;
    return Wrong("indices", absl::StrCat(ints[i]), absl::StrCat(-extent, " to ", extent - 1));
  }
  return absl::OkStatus();
}

absl::StatusOr<ValueId> IndicesOfPlaces(Converter& c, absl::Span<const int64_t> extents) {
  KILN_ASSIGN_OR_RETURN(const ValueId indices, c.Input(1));
  const TensorType type = c.type(indices);
  if (type.rank() < 1) return Wrong("indices", "a scalar", "rank 1 or more");
  const int64_t depth = type.shape.back();
  // The operator itself refuses other numbers of indices.
  if (depth >= 1 && depth <= static_cast<int64_t>(extents.size())) {
    KILN_RETURN_IF_ERROR(
        CheckKnownIndices(c, indices, extents.subspan(0, static_cast<size_t>(depth))));
  }
  std::vector<int64_t> axes = {type.rank() - 1};
  for (int64_t d = 0; d + 1 < type.rank(); ++d) axes.push_back(d);
  return c.Transpose(indices, axes);
}

}  // namespace kiln::onnx_frontend
