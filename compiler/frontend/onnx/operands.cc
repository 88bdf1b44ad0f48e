// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/onnx/operands.h"

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"

namespace kiln::onnx_frontend {

absl::Status CheckBroadcasts(const Converter& c, ValueId value, absl::string_view what,
                             const Shape& shape) {
  const Shape own = c.type(value).shape;
  bool broadcasts = own.size() <= shape.size();
  for (size_t d = 0; broadcasts && d < own.size(); ++d) {
    broadcasts = own[d] == 1 || own[d] == shape[shape.size() - own.size() + d];
  }
  if (broadcasts) return absl::OkStatus();
  return Wrong(what, c.type(value).ToString(),
               absl::StrCat("a shape that broadcasts to ", ShapeToString(shape)));
}

absl::Status CheckVector(const Converter& c, ValueId value, absl::string_view what,
                         int64_t extent) {
  if (c.type(value).shape == Shape{extent}) return absl::OkStatus();
  return Wrong(what, c.type(value).ToString(), absl::StrCat("the shape ", ShapeToString({extent})));
}

}  // namespace kiln::onnx_frontend
