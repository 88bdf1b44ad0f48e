// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/onnx/known_indices.h"

#include <vector>

#include "absl/strings/str_cat.h"

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

}  // namespace kiln::onnx_frontend
