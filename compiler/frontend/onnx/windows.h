// SPDX-License-Identifier: Apache-2.0
// What operators with sliding windows share: their attributes, and how ranks become Relay's
// operators.
#ifndef KILN_COMPILER_FRONTEND_ONNX_WINDOWS_H_
#define KILN_COMPILER_FRONTEND_ONNX_WINDOWS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/frontend/onnx/converter.h"

namespace kiln::onnx_frontend {

// `n` positive numbers of an attribute, 1 each where it is absent. Numbers above 2^24 are refused.
absl::StatusOr<std::vector<int64_t>> Positive(const Converter& c, absl::string_view name, size_t n);

// The windows that an operator slides over data (n, channels, …).
struct Windows {
  std::vector<int64_t> kernel, strides, dilations;
  std::vector<int64_t> pads;  // begins, then ends
};
// Of the attributes strides, dilations, and pads or auto_pad. Wrong if kernel_shape is another.
absl::StatusOr<Windows> WindowsOf(const Converter& c, const Shape& data,
                                  std::vector<int64_t> kernel);
// InvalidArgument if a window may lie in the padding alone, where a maximum or an average of the data has no
// value.
absl::Status CheckPadsOfPool(const Windows& windows);

// Data of 1 to 3 spatial dimensions. One is computed as two, the first of extent 1.
struct Spatial {
  ValueId data;
  int dims;  // of `data`: 2 or 3
  bool was_1d;

  // "nn.conv" to "nn.conv2d".
  std::string Op(absl::string_view stem) const;
  // An attribute with one value per dimension, and padding: before and behind.
  std::vector<int64_t> Widened(std::vector<int64_t> values, int64_t first) const;
  std::vector<int64_t> WidenedPads(const std::vector<int64_t>& pads) const;
};
// Unimplemented for other ranks.
absl::StatusOr<Spatial> AsSpatial(Converter& c, ValueId data);
// A result of such data.
absl::StatusOr<ValueId> Back(Converter& c, ValueId value, const Spatial& of);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_WINDOWS_H_
