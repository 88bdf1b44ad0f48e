// SPDX-License-Identifier: Apache-2.0
// Code shared by operators with sliding windows: their attributes, and the adaptation of ranks to
// Relay's operators.
#ifndef KILN_COMPILER_FRONTEND_ONNX_WINDOWS_H_
#define KILN_COMPILER_FRONTEND_ONNX_WINDOWS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/frontend/onnx/converter.h"

namespace kiln::onnx_frontend {

// Returns `n` positive numbers of an attribute, 1 each if it is absent. Numbers above 2^24 are
// refused.
absl::StatusOr<std::vector<int64_t>> Positive(const Converter& c, absl::string_view name, size_t n);

// The windows that an operator slides over data (n, channels, …).
struct Windows {
  std::vector<int64_t> kernel, strides, dilations;
  std::vector<int64_t> pads;  // all starts, then all ends
};
// Returns the windows given by the attributes strides, dilations, and pads or auto_pad. Wrong if
// kernel_shape differs from `kernel`.
absl::StatusOr<Windows> WindowsOf(const Converter& c, const Shape& data,
                                  std::vector<int64_t> kernel);
// InvalidArgument if a window may lie entirely in the padding, where a maximum or an average of the
// data has no value.
absl::Status CheckPadsOfPool(const Windows& windows);

// Data of 1 to 3 spatial dimensions. One dimension is computed as two, the first with extent 1.
struct Spatial {
  ValueId data;
  int dims;  // 2 or 3
  bool was_1d;

  // Returns "nn.conv2d" or "nn.conv3d" for "nn.conv".
  std::string Op(absl::string_view stem) const;
  // Return an attribute with one value per dimension of `data` (`first` is the value of an added
  // one), and padding for all of its dimensions.
  std::vector<int64_t> Widened(std::vector<int64_t> values, int64_t first) const;
  std::vector<int64_t> WidenedPads(const std::vector<int64_t>& pads) const;
};
// Returns Unimplemented for other ranks.
absl::StatusOr<Spatial> AsSpatial(Converter& c, ValueId data);
// Returns a result for `of` with the original rank.
absl::StatusOr<ValueId> Back(Converter& c, ValueId value, const Spatial& of);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_WINDOWS_H_
