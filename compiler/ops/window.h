// SPDX-License-Identifier: Apache-2.0
// The geometry of sliding windows: convolutions and pooling.
//
// Along one dimension, window o covers the places o * stride - pad_before + k * dilation, for k
// from 0 to taps-1, of data with `extent` places; places outside are padding.
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

  // Places that one window spans.
  int64_t span() const { return (taps - 1) * dilation + 1; }
  // Places that all windows span, padding before the data included.
  int64_t covered() const { return out == 0 ? 0 : (out - 1) * stride + span(); }
  bool reads_padding() const { return pad_before > 0 || covered() > extent; }
};
using Window = std::vector<WindowDim>;  // one per spatial dimension

// Windows over dimensions of `extents`, with `taps` and the attributes strides, dilation and
// padding: one value for all sides, one per dimension, or all before and then all behind. With
// `ceil_mode`, a last window may hang over the end, unless it begins there. Violations of
// constraint `first`: taps, strides, dilation: one positive number per dimension, padding as above,
// not negative; `first` + 1: at least one window fits.
absl::StatusOr<Window> MakeWindow(const Attrs& attrs, const std::vector<int64_t>& extents,
                                  const std::vector<int64_t>& taps, bool ceil_mode, int first);
// The same attributes of a transposed convolution over `extents`; `out` is left 0, and no window
// has to fit.
absl::StatusOr<Window> MakeTransposedWindow(const Attrs& attrs, const std::vector<int64_t>& extents,
                                            const std::vector<int64_t>& taps, int constraint);

// Extents, in order, of one member of every dimension.
Shape Taps(const Window& window);
Shape Outs(const Window& window);

// The letters of 1, 2 or 3 spatial dimensions in a layout: "W", "HW", "DHW".
std::string SpatialLetters(int spatial);
// "NCHW or NHWC", and "NCHW", the default, for as many spatial dimensions.
std::string DataLayoutNames(int spatial);
std::string ChannelsFirst(int spatial);

// Where the channels and the spatial dimensions of data are: "NCW", "NWC", "NCHW", "NHWC", "NCDHW",
// "NDHWC".
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
// A violation of `constraint` for any other name, or where out_layout is neither "" nor the same.
absl::StatusOr<DataLayout> ParseDataLayout(const Attrs& attrs, const std::string& attr, int spatial,
                                           int constraint);
// The same for a layout that `infer` has checked.
DataLayout DataLayoutOf(const Attrs& attrs, const std::string& attr, int spatial);

// The shape of the tensor that all windows read. A violation of `constraint` if that is beyond the
// limits.
Shape PaddedShape(const DataLayout& layout, const Shape& data, const Window& window);
absl::Status CheckPadded(const DataLayout& layout, const TensorType& data, const Window& window,
                         int constraint);

// Access to data with its padding in place, read at window * stride + tap * dilation. A stage "pad"
// if the windows read padding, else `x` itself.
Access Padded(StageBuilder& b, const Access& x, const DataLayout& layout, const Shape& data,
              const Window& window, const Expr& padding);

// The place that tap k of window o reads in padded data, per dimension.
Indices Places(const Window& window, const Indices& o, const Indices& k);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_WINDOW_H_
