// SPDX-License-Identifier: Apache-2.0
// Bilinear interpolation of integers, as TFLite computes it. int8 and int16 are computed in
// integers, with 10 fractional bits for positions, and uint8 in float32.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/tflite/quantized.h"
#include "compiler/frontend/tflite/quantized_elementwise.h"

namespace kiln::tflite_frontend {
namespace {

namespace schema = tflite_schema;

constexpr int64_t kOne = 1 << 10, kMaxExtent = 1 << 20;

// The two positions of the data around each position of the result, and its distance from the
// first.
struct Places {
  std::vector<int64_t> low, high, distance, rest;  // distance + rest = kOne
};

Places PlacesOf(int64_t in, int64_t out, bool align_corners, bool half_pixel_centers) {
  int64_t step = (kOne * in + out / 2) / out;
  if (align_corners && out > 1) step = (kOne * (in - 1) + (out - 1) / 2) / (out - 1);
  Places places;
  for (int64_t i = 0; i < out; ++i) {
    const int64_t at = i * step + (half_pixel_centers ? step / 2 - kOne / 2 : 0);
    // Truncated, as in TFLite, so positions before the data count from position 0. `low` is limited
    // to the last position too: as the step has only 10 fractional bits, long results may end after
    // the data.
    const int64_t low = std::min(std::max<int64_t>(at / kOne, 0), in - 1);
    places.low.push_back(low);
    places.high.push_back(std::min(std::max<int64_t>((at + kOne - 1) / kOne, 0), in - 1));
    places.distance.push_back(at - kOne * low);
    places.rest.push_back(kOne - places.distance.back());
  }
  return places;
}

// Interpolates along an axis: x[low] * rest + x[high] * distance.
absl::StatusOr<ValueId> Interpolated(Converter& c, ValueId x, size_t axis, const Places& places) {
  Shape along(4, 1);
  along[axis] = static_cast<int64_t>(places.low.size());
  const DType dtype = c.type(x).dtype;
  const auto part = [&](const std::vector<int64_t>& at,
                        const std::vector<int64_t>& weights) -> absl::StatusOr<ValueId> {
    KILN_ASSIGN_OR_RETURN(const ValueId weight, c.Reshape(c.Ints(weights, dtype), along));
    KILN_ASSIGN_OR_RETURN(const ValueId value,
                          c.Op("take", {x, c.Ints(at, DType::Int(32))},
                               {{"axis", static_cast<int64_t>(axis)}, {"mode", "clip"}}));
    return c.Op("multiply", {value, weight});
  };
  KILN_ASSIGN_OR_RETURN(const ValueId low, part(places.low, places.rest));
  KILN_ASSIGN_OR_RETURN(const ValueId high, part(places.high, places.distance));
  return c.Op("add", {low, high});
}

// Like Places, in float32.
struct FloatPlaces {
  std::vector<int64_t> low, high;
  std::vector<float> distance, rest;  // distance + rest = 1
};

FloatPlaces FloatPlacesOf(int64_t in, int64_t out, bool align_corners, bool half_pixel_centers) {
  float step = static_cast<float>(in) / static_cast<float>(out);
  if (align_corners && out > 1) step = static_cast<float>(in - 1) / static_cast<float>(out - 1);
  FloatPlaces places;
  for (int64_t i = 0; i < out; ++i) {
    const auto index = static_cast<float>(i);
    const float at = half_pixel_centers ? (index + 0.5F) * step - 0.5F : index * step;
    const auto low = std::max<int64_t>(static_cast<int64_t>(std::floor(at)), 0);
    places.low.push_back(low);
    places.high.push_back(std::min(static_cast<int64_t>(std::ceil(at)), in - 1));
    places.distance.push_back(at - static_cast<float>(low));
    places.rest.push_back(1 - places.distance.back());
  }
  return places;
}

// Each of the four neighbors is multiplied by its weight along the height, then along the width.
// They are added in TFLite's order.
absl::StatusOr<ValueId> InterpolatedFloats(Converter& c, ValueId x, const FloatPlaces& rows,
                                           const FloatPlaces& columns) {
  const auto times = [&](ValueId value, const std::vector<float>& weights, const Shape& shape) {
    return c.Op("multiply",
                {value, c.Constant(Tensor::From<float>(shape, DType::Float(32), weights))});
  };
  const auto part = [&](bool below, bool right) -> absl::StatusOr<ValueId> {
    const auto taken = [&](ValueId value, const std::vector<int64_t>& at, int64_t axis) {
      return c.Op("take", {value, c.Ints(at, DType::Int(32))}, {{"axis", axis}, {"mode", "clip"}});
    };
    const Shape high = {static_cast<int64_t>(rows.low.size()), 1, 1};
    const Shape wide = {static_cast<int64_t>(columns.low.size()), 1};
    KILN_ASSIGN_OR_RETURN(ValueId y, taken(x, below ? rows.high : rows.low, 1));
    KILN_ASSIGN_OR_RETURN(y, taken(y, right ? columns.high : columns.low, 2));
    KILN_ASSIGN_OR_RETURN(y, c.Op("cast", {y}, {{"dtype", "float32"}}));
    KILN_ASSIGN_OR_RETURN(y, times(y, below ? rows.distance : rows.rest, high));
    return times(y, right ? columns.distance : columns.rest, wide);
  };
  KILN_ASSIGN_OR_RETURN(ValueId sum, part(false, false));
  for (const auto& [below, right] : {std::pair(true, false), {false, true}, {true, true}}) {
    KILN_ASSIGN_OR_RETURN(const ValueId next, part(below, right));
    KILN_ASSIGN_OR_RETURN(sum, c.Op("add", {sum, next}));
  }
  KILN_ASSIGN_OR_RETURN(sum, c.Op("add", {sum, c.Scalar(sum, 0.5)}));
  return c.Op("cast", {sum}, {{"dtype", "uint8"}});
}

}  // namespace

absl::Status QuantizedResizeBilinear(Converter& c) {
  const auto& options = c.Options<schema::ResizeBilinearOptions>();
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> size, c.IntsInput(1, "the size"));
  const TensorType type = c.type(x);
  if (type.rank() != 4 || type.dtype.bits > 16) {
    return Wrong("data", type.ToString(), "rank 4, integers of up to 16 bits");
  }
  if (size.size() != 2) return Wrong("the size", absl::StrCat(size.size(), " numbers"), "2");
  for (size_t d : {size_t{0}, size_t{1}}) {
    const int64_t extent = type.shape[d + 1];
    if (size[d] < 1 || size[d] > kMaxExtent || extent < 1 || extent > kMaxExtent) {
      return Wrong("the size", absl::StrCat(extent, " to ", size[d], " places"),
                   absl::StrCat("1 to ", kMaxExtent));
    }
  }
  if (type.dtype == DType::UInt(8)) {
    const auto places = [&](size_t d) {
      return FloatPlacesOf(type.shape[d + 1], size[d], options.align_corners(),
                           options.half_pixel_centers());
    };
    return c.Output(0, InterpolatedFloats(c, x, places(0), places(1)));
  }
  // 8-bit numbers times two weights of 10 bits fit 32 bits; 16-bit numbers do not.
  const char* wide = type.dtype.bits == 8 ? "int32" : "int64";
  KILN_ASSIGN_OR_RETURN(ValueId y, c.Op("cast", {x}, {{"dtype", wide}}));
  for (size_t axis : {size_t{1}, size_t{2}}) {
    const Places places = PlacesOf(type.shape[axis], size[axis - 1], options.align_corners(),
                                   options.half_pixel_centers());
    KILN_ASSIGN_OR_RETURN(y, Interpolated(c, y, axis, places));
  }
  // Rounds halves away from zero.
  const ValueId half = c.Scalar(y, kOne * kOne / 2);
  KILN_ASSIGN_OR_RETURN(const ValueId positive, c.Op("greater", {y, c.Scalar(y, 0)}));
  KILN_ASSIGN_OR_RETURN(const ValueId up, c.Op("add", {y, half}));
  KILN_ASSIGN_OR_RETURN(const ValueId down, c.Op("subtract", {y, half}));
  KILN_ASSIGN_OR_RETURN(y, c.Op("where", {positive, up, down}));
  KILN_ASSIGN_OR_RETURN(y, c.Op("divide", {y, c.Scalar(y, kOne * kOne)}));
  return c.Output(0, c.Op("cast", {y}, {{"dtype", type.dtype.ToString()}}));
}

}  // namespace kiln::tflite_frontend
