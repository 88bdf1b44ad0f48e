// SPDX-License-Identifier: Apache-2.0
// Reading data at positions given by other tensors: grids, regions, shifted taps.
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"
#include "compiler/frontend/onnx/converter.h"
#include "compiler/frontend/onnx/formula.h"
#include "compiler/frontend/onnx/pieces.h"
#include "compiler/frontend/onnx/windows.h"

namespace kiln::onnx_frontend {
namespace {

// Returns the homogeneous coordinates of the positions of an image, each as (x, y, z, …, 1). The
// first and last position along a dimension are at -1 and 1, or half a position inside without
// align_corners.
std::vector<float> Homogeneous(const Shape& space, bool align_corners) {
  const auto dims = space.size();
  const auto count = static_cast<size_t>(NumElements(space));
  std::vector<float> table;
  for (size_t i = 0; i < count; ++i) {
    std::vector<float> row = {1};
    for (size_t d = dims, rest = i; d-- > 0;) {
      const auto extent = static_cast<size_t>(space[d]);
      const auto at = static_cast<double>(rest % extent), n = static_cast<double>(extent);
      rest /= extent;
      const double place = !align_corners ? (2 * at + 1) / n - 1
                           : n == 1       ? -1
                                          : 2 * at / (n - 1) - 1;
      // The innermost coordinate is first.
      row.insert(row.end() - 1, static_cast<float>(place));
    }
    table.insert(table.end(), row.begin(), row.end());
  }
  return table;
}

// Computes a grid for GridSample: theta (n, dims, dims + 1) times each position of an image.
absl::Status AffineGrid(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId theta, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const Tensor size, c.ConstantInput(1, "size"));
  const TensorType type = c.type(theta);
  const Shape image = size.ToInts();
  const auto dims = static_cast<int64_t>(image.size()) - 2;
  if (dims != 2 && dims != 3) {
    return Wrong("size", absl::StrCat(image.size(), " extents"), "4 or 5");
  }
  if (type.shape != Shape{image[0], dims, dims + 1}) {
    return Wrong("theta", type.ToString(), ShapeToString({image[0], dims, dims + 1}));
  }
  const Shape space(image.begin() + 2, image.end());
  const TensorType places = {space, DType::Float(32)};
  if (!CheckTensorType(places).ok() || places.num_elements() > kMaxTableElements) {
    return Wrong("size", ShapeToString(image),
                 absl::StrCat("at most ", kMaxTableElements, " places"));
  }
  const int64_t count = places.num_elements();
  const ValueId table = c.Constant(Tensor::From<float>(
      {1, count, dims + 1}, DType::Float(32), Homogeneous(space, c.Int("align_corners", 0) != 0)));
  Formula f(c);
  Shape shape = {image[0]};
  shape.insert(shape.end(), space.begin(), space.end());
  shape.push_back(dims);
  return f.Output(0, f.Reshape(f("nn.batch_matmul", {f.Cast(table, type.dtype), theta},
                                 {{"transpose_b", true}}),
                               shape));
}

// The coordinates of a position are the last dimension in ONNX, and follow the batch in Relay.
absl::Status GridSample(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId grid, c.Input(1));
  const int rank = c.type(x).rank();
  if (c.type(grid).rank() != rank || (rank != 4 && rank != 5)) {
    return Wrong("data and grid", c.type(x).ToString() + " and " + c.type(grid).ToString(),
                 "one rank, 4 or 5");
  }
  std::string mode = c.String("mode", "bilinear");
  if (mode == "linear") mode = "bilinear";
  if (mode == "cubic") mode = "bicubic";
  std::vector<int64_t> axes = {0, rank - 1};
  for (int64_t d = 1; d + 1 < rank; ++d) axes.push_back(d);
  Formula f(c);
  return f.Output(0, f("image.grid_sample", {x, f.Transpose(grid, axes)},
                       {{"method", mode},
                        {"layout", rank == 4 ? "NCHW" : "NCDHW"},
                        {"padding_mode", c.String("padding_mode", "zeros")},
                        {"align_corners", c.Int("align_corners", 0) != 0}}));
}

// In Relay, a region is the number of its image, then its corners.
absl::Status RoiAlign(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId rois, c.Input(1));
  const TensorType type = c.type(rois);
  if (type.rank() != 2) return Wrong("rois", type.ToString(), "(regions, 4)");
  // half_pixel was added in opset 16 and is the default since then.
  const std::string mode = c.String("coordinate_transformation_mode",
                                    c.opset() < 16 ? "output_half_pixel" : "half_pixel");
  Formula f(c);
  const ValueId x = f.Input(0);
  const ValueId images = f.Reshape(f.Cast(f.Input(2), type.dtype), {type.shape[0], 1});
  const ValueId all = f("concatenate", {images, rois}, {{"axis", 1}});
  return f.Output(
      0, f("vision.roi_align", {x, all},
           {{"pooled_size", AttrValue::Ints({c.Int("output_height", 1), c.Int("output_width", 1)})},
            {"spatial_scale", c.Float("spatial_scale", 1)},
            {"sample_ratio", c.Int("sampling_ratio", 0)},
            {"mode", c.String("mode", "avg")},
            {"aligned", mode == "half_pixel"}}));
}

// Returns the largest value in each part of the regions. Corners are rounded to positions.
absl::Status MaxRoiPool(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> extents, Positive(c, "pooled_shape", 2));
  Formula f(c);
  const ValueId x = f.Input(0), rois = f.Input(1);
  return f.Output(0, f("vision.roi_pool", {x, rois},
                       {{"pooled_size", AttrValue::Ints(extents)},
                        {"spatial_scale", c.Float("spatial_scale", 1)}}));
}

// A convolution with shifted taps.
struct ShiftedTaps {
  int64_t batch, channels, outputs, groups, offset_groups, taps;
  std::vector<int64_t> extents, out;  // (h, w)
  Windows windows;
};

absl::StatusOr<int64_t> DivisorOf(const Converter& c, const char* attr, int64_t count) {
  const int64_t groups = c.Int(attr, 1);
  if (groups >= 1 && count >= 1 && count % groups == 0) return groups;
  return Wrong(attr, absl::StrCat(groups), absl::StrCat("a divisor of ", count));
}

absl::StatusOr<ShiftedTaps> ShiftedTapsOf(const Converter& c, const TensorType& data,
                                          const TensorType& filter) {
  if (data.rank() != 4 || filter.rank() != 4) {
    return absl::UnimplementedError(absl::StrCat("data ", data.ToString(), " and weight ",
                                                 filter.ToString(), "; images are supported"));
  }
  ShiftedTaps s = {.batch = data.shape[0], .channels = data.shape[1], .outputs = filter.shape[0]};
  s.extents = {data.shape[2], data.shape[3]};
  KILN_ASSIGN_OR_RETURN(s.groups, DivisorOf(c, "group", s.channels));
  KILN_ASSIGN_OR_RETURN(s.offset_groups, DivisorOf(c, "offset_group", s.channels));
  if (s.outputs % s.groups != 0 || filter.shape[1] != s.channels / s.groups ||
      data.num_elements() == 0 || filter.num_elements() == 0) {
    return Wrong("weight", filter.ToString(),
                 absl::StrCat("outputs in ", s.groups, " groups, of ", s.channels / s.groups,
                              " channels each"));
  }
  KILN_ASSIGN_OR_RETURN(s.windows, WindowsOf(c, data.shape, {filter.shape[2], filter.shape[3]}));
  const auto& [kernel, strides, dilations, pads] = s.windows;
  s.taps = kernel[0] * kernel[1];
  for (size_t d = 0; d < 2; ++d) {
    const int64_t room = s.extents[d] + pads[d] + pads[d + 2] - (kernel[d] - 1) * dilations[d] - 1;
    if (room < 0) return Wrong("kernel", ShapeToString(kernel), "one that fits into the data");
    s.out.push_back(room / strides[d] + 1);
  }
  return s;
}

// Returns (2, taps, positions of the result): the unshifted positions of the taps, in grid
// coordinates.
absl::StatusOr<Tensor> UnshiftedTaps(const ShiftedTaps& s) {
  const TensorType type = {{2, s.taps, s.out[0] * s.out[1]}, DType::Float(32)};
  if (!CheckTensorType(type).ok() || type.num_elements() > kMaxTableElements) {
    return Wrong("the result", ShapeToString(s.out),
                 absl::StrCat("at most ", kMaxTableElements, " taps"));
  }
  const Windows& w = s.windows;
  std::vector<float> places;
  for (size_t d = 0; d < 2; ++d) {
    for (int64_t tap = 0; tap < s.taps; ++tap) {
      const int64_t own_tap = d == 0 ? tap / w.kernel[1] : tap % w.kernel[1];
      for (int64_t i = 0; i < s.out[0] * s.out[1]; ++i) {
        const int64_t own = d == 0 ? i / s.out[1] : i % s.out[1];
        const int64_t place = own * w.strides[d] + own_tap * w.dilations[d] - w.pads[d];
        places.push_back(static_cast<float>(
            static_cast<double>(2 * place + 1) / static_cast<double>(s.extents[d]) - 1));
      }
    }
  }
  return Tensor::From<float>(type.shape, type.dtype, places);
}

// The values that each tap reads of each channel form a matrix of columns, which is multiplied by
// the weight. Values are interpolated, with zeros around the data. (nn.deformable_conv2d is not
// used, as it has no mask. It also reads zero for any position outside the data, while ONNX still
// counts its neighbors inside.)
absl::Status DeformConv(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId weight, c.Input(1));
  KILN_ASSIGN_OR_RETURN(const ValueId offset, c.Input(2));
  const DType dtype = c.type(x).dtype;
  KILN_ASSIGN_OR_RETURN(const ShiftedTaps s, ShiftedTapsOf(c, c.type(x), c.type(weight)));
  KILN_ASSIGN_OR_RETURN(const Tensor taps, UnshiftedTaps(s));
  const Shape wanted = {s.batch, 2 * s.offset_groups * s.taps, s.out[0], s.out[1]};
  if (c.type(offset).shape != wanted) {
    return Wrong("offset", c.type(offset).ToString(), ShapeToString(wanted));
  }
  const int64_t places = s.out[0] * s.out[1], images = s.batch * s.offset_groups,
                per_image = s.channels / s.offset_groups;
  // Shifts are (y, x) for each tap. A grid has x first.
  std::vector<float> units;
  for (int64_t extent : s.extents) units.push_back(2 / static_cast<float>(extent));
  Formula f(c);
  ValueId grid = f.Transpose(f.Reshape(offset, {images, s.taps, 2, places}), {0, 2, 1, 3});
  const ValueId unit = c.Constant(Tensor::From<float>({2, 1, 1}, DType::Float(32), units));
  grid = f("multiply", {grid, f.Cast(unit, dtype)});
  grid = f("add", {grid, f.Cast(c.Constant(taps), dtype)});
  grid = f("reverse", {grid}, {{"axis", 1}});
  ValueId columns =
      f("image.grid_sample", {f.Reshape(x, {images, per_image, s.extents[0], s.extents[1]}), grid},
        {{"align_corners", false}});
  if (c.HasInput(4)) {
    const Shape of_mask = {s.batch, s.offset_groups * s.taps, s.out[0], s.out[1]};
    const ValueId mask = f.Input(4);
    if (f.ok() && c.type(mask).shape != of_mask) {
      return Wrong("mask", c.type(mask).ToString(), ShapeToString(of_mask));
    }
    columns = f("multiply", {columns, f.Reshape(mask, {images, 1, s.taps, places})});
  }
  const int64_t depth = s.channels / s.groups * s.taps;
  columns = f.Reshape(columns, {s.batch * s.groups, depth, places});
  ValueId matrix = f.Reshape(weight, {s.groups, s.outputs / s.groups, depth});
  if (s.batch > 1 && s.groups > 1) {
    matrix = f("tile", {matrix}, {{"reps", AttrValue::Ints({s.batch, 1, 1})}});
  }
  ValueId y = f("nn.batch_matmul", {matrix, columns}, {{"transpose_b", false}});
  y = f.Reshape(y, {s.batch, s.outputs, s.out[0], s.out[1]});
  if (c.HasInput(3)) y = f("nn.bias_add", {y, f.Input(3)}, {{"axis", 1}});
  return f.Output(0, y);
}

constexpr OnnxOperator kSamplingRows[] = {
    Composite("AffineGrid", AffineGrid),
    Composite("DeformConv", DeformConv),
    {"GridSample", GridSample},
    {"MaxRoiPool", MaxRoiPool},
    {"RoiAlign", RoiAlign},
};

}  // namespace

absl::Span<const OnnxOperator> SamplingOperators() { return kSamplingRows; }

}  // namespace kiln::onnx_frontend
