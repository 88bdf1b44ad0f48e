// SPDX-License-Identifier: Apache-2.0
// Checks the shapes of scales, biases and slopes against the data that they are applied to.
//
//   KILN_RETURN_IF_ERROR(CheckBroadcasts(c, slope, "slope", c.type(x).shape));
#ifndef KILN_COMPILER_FRONTEND_ONNX_OPERANDS_H_
#define KILN_COMPILER_FRONTEND_ONNX_OPERANDS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "compiler/frontend/onnx/converter.h"

namespace kiln::onnx_frontend {

// InvalidArgument, naming `what`, unless `value` broadcasts to `shape` (ONNX: unidirectional
// broadcasting).
absl::Status CheckBroadcasts(const Converter& c, ValueId value, absl::string_view what,
                             const Shape& shape);

// InvalidArgument, naming `what`, unless `value` is a vector of `extent` elements.
absl::Status CheckVector(const Converter& c, ValueId value, absl::string_view what, int64_t extent);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_OPERANDS_H_
