// SPDX-License-Identifier: Apache-2.0
// Geometry of sliding windows, for convolutions and pooling.
//
// Along one dimension, window o covers the places o * stride - pad_before + k * dilation of the
// data, for k from 0 to taps-1. The data has `extent` places; places outside of it are padding.
#ifndef KILN_COMPILER_OPS_WINDOW_H_
#define KILN_COMPILER_OPS_WINDOW_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/graph/attrs.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {

struct WindowDim {
  int64_t extent = 0;
  int64_t taps = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad_before = 0, pad_after = 0;
  int64_t out = 0;  // number of windows

  // Number of places that one window spans.
  int64_t span() const { return (taps - 1) * dilation + 1; }
  // Number of places that all windows span, including the padding before the data.
  int64_t covered() const { return out == 0 ? 0 : (out - 1) * stride + span(); }
  bool reads_padding() const { return pad_before > 0 || covered() > extent; }
};
using Window = std::vector<WindowDim>;  // one per spatial dimension

// Makes windows over dimensions of `extents`, with `taps` and the attributes strides, dilation and
// padding. Padding is one value for all sides, one per dimension, or all before and then all after.
// With `ceil_mode`, a last window may extend beyond the end, unless it begins there. Constraint
// `first`: taps, strides and dilation have one positive number per dimension, and padding is as
// above and not negative. Constraint `first` + 1: at least one window fits.
absl::StatusOr<Window> MakeWindow(const Attrs& attrs, const std::vector<int64_t>& extents,
                                  const std::vector<int64_t>& taps, bool ceil_mode, int first);
// The same for a transposed convolution over `extents`: `out` stays 0, and no window has to fit.
absl::StatusOr<Window> MakeTransposedWindow(const Attrs& attrs, const std::vector<int64_t>& extents,
                                            const std::vector<int64_t>& taps, int constraint);

// The member `taps` or `out` of every dimension, in order.
Shape Taps(const Window& window);
Shape Outs(const Window& window);

// The letters of 1, 2 or 3 spatial dimensions in a layout: "W", "HW", "DHW".
std::string SpatialLetters(int spatial);
// "NCHW or NHWC", and the default "NCHW", for this number of spatial dimensions.
std::string DataLayoutNames(int spatial);
std::string ChannelsFirst(int spatial);

// Positions of the channels and the spatial dimensions of data: "NCW", "NWC", "NCHW",
// "NHWC", "NCDHW", "NDHWC".
struct DataLayout {
  bool channels_last = false;
  int spatial = 2;

  size_t channel_dim() const { return channels_last ? static_cast<size_t>(spatial) + 1 : 1; }
  size_t spatial_dim(int k) const { return static_cast<size_t>(k) + (channels_last ? 1 : 2); }
  // (n, c, spatial…) in the order of the layout.
  template <typename T>
  std::vector<T> Order(T n, T c, const std::vector<T>& space) const {
    std::vector<T> result = {n};
    if (!channels_last) result.push_back(c);
    result.insert(result.end(), space.begin(), space.end());
    if (channels_last) result.push_back(c);
    return result;
  }
  std::vector<int64_t> Space(const Shape& shape) const;
  Indices Space(const Indices& index) const;
};
// Parses the attribute `attr`. Any other name, or an out_layout that is neither "" nor the
// same, violates `constraint`.
absl::StatusOr<DataLayout> ParseDataLayout(const Attrs& attrs, const std::string& attr, int spatial,
                                           int constraint);
// The same for a layout that `infer` has checked.
DataLayout DataLayoutOf(const Attrs& attrs, const std::string& attr, int spatial);

// The shape of the tensor that all windows read. CheckPadded returns a violation of `constraint` if
// that exceeds the limits.
Shape PaddedShape(const DataLayout& layout, const Shape& data, const Window& window);
absl::Status CheckPadded(const DataLayout& layout, const TensorType& data, const Window& window,
                         int constraint);

// Access to data with its padding, read at window * stride + tap * dilation. Adds a stage "pad" if
// the windows read padding, else returns `x`.
Access Padded(StageBuilder& b, const Access& x, const DataLayout& layout, const Shape& data,
              const Window& window, const Expr& padding);

// The place in padded data that tap k of window o reads, per dimension.
Indices Places(const Window& window, const Indices& o, const Indices& k);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_WINDOW_H_
