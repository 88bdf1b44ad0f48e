// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/window.h"

#include <algorithm>

#include "compiler/ops/constraint.h"

namespace kiln {
namespace {

// Limit on attributes that keeps every product and sum of geometry far from the end of int64.
constexpr int64_t kMaxAttribute = int64_t{1} << 28;

absl::Status CheckPositive(const std::vector<int64_t>& values, size_t dims, absl::string_view what,
                           int constraint) {
  const bool fits =
      values.size() == dims && std::all_of(values.begin(), values.end(),
                                           [](int64_t v) { return v >= 1 && v <= kMaxAttribute; });
  KILN_CONSTRAINT(constraint, fits, absl::StrCat(what, " ", AttrValue::Ints(values).ToString()),
                  absl::StrCat(dims, " from 1 to ", kMaxAttribute));
  return absl::OkStatus();
}

// Number of windows; 0 if none fits.
int64_t CountWindows(const WindowDim& d, bool ceil_mode) {
  const int64_t room = d.extent + d.pad_before + d.pad_after - d.span();
  if (room < 0) return 0;
  int64_t count = room / d.stride + 1;
  if (ceil_mode && room % d.stride != 0 && count * d.stride < d.extent + d.pad_before) ++count;
  return count;
}

absl::Status SetPadding(const Attrs& attrs, Window* window, int constraint) {
  const std::vector<int64_t> padding = attrs.Ints("padding");
  const size_t dims = window->size();
  const bool fits = (padding.size() == 1 || padding.size() == dims || padding.size() == 2 * dims) &&
                    std::all_of(padding.begin(), padding.end(),
                                [](int64_t p) { return p >= 0 && p <= kMaxAttribute; });
  KILN_CONSTRAINT(constraint, fits, absl::StrCat("padding ", AttrValue::Ints(padding).ToString()),
                  absl::StrCat("1, ", dims, " or ", 2 * dims, " from 0 to ", kMaxAttribute));
  for (size_t k = 0; k < dims; ++k) {
    WindowDim& d = (*window)[k];
    d.pad_before = padding.size() == 1 ? padding[0] : padding[k];
    d.pad_after = padding.size() == 2 * dims ? padding[dims + k] : d.pad_before;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Window> MakeTransposedWindow(const Attrs& attrs, const std::vector<int64_t>& extents,
                                            const std::vector<int64_t>& taps, int constraint) {
  const std::vector<int64_t> strides = attrs.Ints("strides"), dilation = attrs.Ints("dilation");
  const size_t dims = extents.size();
  KILN_RETURN_IF_ERROR(CheckPositive(taps, dims, "window", constraint));
  KILN_RETURN_IF_ERROR(CheckPositive(strides, dims, "strides", constraint));
  KILN_RETURN_IF_ERROR(CheckPositive(dilation, dims, "dilation", constraint));
  Window window(dims);
  for (size_t k = 0; k < dims; ++k) {
    window[k] = {
        .extent = extents[k], .taps = taps[k], .stride = strides[k], .dilation = dilation[k]};
  }
  KILN_RETURN_IF_ERROR(SetPadding(attrs, &window, constraint));
  return window;
}

absl::StatusOr<Window> MakeWindow(const Attrs& attrs, const std::vector<int64_t>& extents,
                                  const std::vector<int64_t>& taps, bool ceil_mode, int first) {
  KILN_ASSIGN_OR_RETURN(Window window, MakeTransposedWindow(attrs, extents, taps, first));
  for (WindowDim& d : window) {
    d.out = CountWindows(d, ceil_mode);
    KILN_CONSTRAINT(first + 1, d.out > 0,
                    absl::StrCat("a window of ", d.span(), " places in ",
                                 d.extent + d.pad_before + d.pad_after),
                    "data that a window fits in");
  }
  return window;
}

Shape Taps(const Window& window) {
  Shape taps;
  for (const WindowDim& d : window) taps.push_back(d.taps);
  return taps;
}

Shape Outs(const Window& window) {
  Shape outs;
  for (const WindowDim& d : window) outs.push_back(d.out);
  return outs;
}

std::string SpatialLetters(int spatial) {
  return std::string("DHW").substr(3 - static_cast<size_t>(spatial));
}
std::string ChannelsFirst(int spatial) { return "NC" + SpatialLetters(spatial); }
std::string DataLayoutNames(int spatial) {
  return absl::StrCat(ChannelsFirst(spatial), " or N", SpatialLetters(spatial), "C");
}

std::vector<int64_t> DataLayout::Space(const Shape& shape) const {
  const auto begin = shape.begin() + static_cast<std::ptrdiff_t>(spatial_dim(0));
  return {begin, begin + spatial};
}

Indices DataLayout::Space(const Indices& index) const {
  const auto begin = index.begin() + static_cast<std::ptrdiff_t>(spatial_dim(0));
  return {begin, begin + spatial};
}

DataLayout DataLayoutOf(const Attrs& attrs, const std::string& attr, int spatial) {
  return {.channels_last = attrs.String(attr)[1] != 'C', .spatial = spatial};
}

absl::StatusOr<DataLayout> ParseDataLayout(const Attrs& attrs, const std::string& attr, int spatial,
                                           int constraint) {
  const std::string first = ChannelsFirst(spatial), last = "N" + SpatialLetters(spatial) + "C";
  const std::string& layout = attrs.String(attr);
  KILN_CONSTRAINT(constraint, layout == first || layout == last, absl::StrCat(attr, " ", layout),
                  DataLayoutNames(spatial));
  const std::string& out = attrs.String("out_layout");
  KILN_CONSTRAINT(constraint, out.empty() || out == layout, absl::StrCat("out_layout ", out),
                  absl::StrCat("\"\" or ", layout));
  return DataLayout{.channels_last = layout == last, .spatial = spatial};
}

Shape PaddedShape(const DataLayout& layout, const Shape& data, const Window& window) {
  Shape shape = data;
  for (int k = 0; k < layout.spatial; ++k) {
    const WindowDim& d = window[static_cast<size_t>(k)];
    if (d.reads_padding()) shape[layout.spatial_dim(k)] = d.covered();
  }
  return shape;
}

absl::Status CheckPadded(const DataLayout& layout, const TensorType& data, const Window& window,
                         int constraint) {
  const TensorType padded{PaddedShape(layout, data.shape, window), data.dtype};
  KILN_CONSTRAINT(constraint, CheckTensorType(padded).ok(),
                  absl::StrCat("padded data of shape ", ShapeToString(padded.shape)),
                  "a tensor within the limits");
  return absl::OkStatus();
}

Access Padded(StageBuilder& b, const Access& x, const DataLayout& layout, const Shape& data,
              const Window& window, const Expr& padding) {
  if (std::none_of(window.begin(), window.end(),
                   [](const WindowDim& d) { return d.reads_padding(); })) {
    return x;
  }
  return b.Compute("pad", PaddedShape(layout, data, window), [&](const Indices& i) {
    Indices at = i;
    Expr in_bounds = loop::IntConst(loop::Type::Of(DType::Bool()), 1);
    for (int k = 0; k < layout.spatial; ++k) {
      const WindowDim& d = window[static_cast<size_t>(k)];
      const size_t dim = layout.spatial_dim(k);
      if (!d.reads_padding()) continue;
      at[dim] = i[dim] - Expr(d.pad_before);
      if (d.pad_before > 0) in_bounds = in_bounds && i[dim] >= Expr(d.pad_before);
      if (d.covered() > d.pad_before + d.extent) {
        in_bounds = in_bounds && i[dim] < Expr(d.pad_before + d.extent);
      }
    }
    return GuardedValue(x, data, at, in_bounds, padding);
  });
}

Indices Places(const Window& window, const Indices& o, const Indices& k) {
  Indices places;
  for (size_t d = 0; d < window.size(); ++d) {
    places.push_back(o[d] * Expr(window[d].stride) + k[d] * Expr(window[d].dilation));
  }
  return places;
}

}  // namespace kiln
