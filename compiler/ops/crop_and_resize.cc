// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/math.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/index_input.h"
#include "compiler/ops/window.h"

namespace kiln {
namespace {

Expr Number(double value) { return loop::Const(kF32, value); }

InferResult InferCropAndResize(const InferContext& c) {
  const TensorType &data = c.inputs[0], &boxes = c.inputs[1], &indices = c.inputs[2];
  const DType dtype = c.attrs.DTypeOr("out_dtype", data.dtype);
  KILN_CONSTRAINT(1, IsNumeric(data.dtype) && IsNumeric(dtype) && boxes.dtype.is_float(),
                  absl::StrCat(data.ToString(), " and ", boxes.ToString()),
                  "data of numbers and boxes of floats");
  KILN_CONSTRAINT(1, indices.dtype.is_integral(), indices.dtype.ToString(),
                  "box_indices that are integers");
  const std::string &layout = c.attrs.String("layout"), &method = c.attrs.String("method");
  KILN_CONSTRAINT(2, layout == "NCHW" || layout == "NHWC", absl::StrCat("layout ", layout),
                  "NCHW or NHWC");
  KILN_CONSTRAINT(3, method == "bilinear" || method == "nearest_neighbor",
                  absl::StrCat("method ", method), "bilinear or nearest_neighbor");
  KILN_CONSTRAINT(4,
                  data.rank() == 4 && boxes.rank() == 2 && boxes.shape[1] == 4 &&
                      indices.shape == Shape{boxes.shape[0]},
                  absl::StrCat(ShapeToString(data.shape), ", ", ShapeToString(boxes.shape), ", ",
                               ShapeToString(indices.shape)),
                  "data of rank 4, boxes (n, 4), box_indices (n,)");
  KILN_CONSTRAINT(4, data.num_elements() >= 1, "no data", "at least one place");
  const std::vector<int64_t> size = c.attrs.Ints("crop_size");
  KILN_CONSTRAINT(5, size.size() == 2 && size[0] >= 1 && size[1] >= 1,
                  absl::StrCat("crop_size ", c.attrs.Get("crop_size").ToString()),
                  "two positive numbers");
  const DataLayout order = DataLayoutOf(c.attrs, "layout", 2);
  return OutputTypes({{order.Order(boxes.shape[0], data.shape[order.channel_dim()], size), dtype}});
}

// The position in data, as float32, of a place of a crop along one dimension.
struct Place {
  Expr at;
  int64_t extent;

  Expr Inside() const { return at >= Number(0) && at <= Number(static_cast<double>(extent) - 1); }
  Expr Index(const Expr& whole) const {
    return ClampIndex(loop::ToIndex(loop::MakeCast(DType::Int(32), whole)), extent);
  }
};

absl::Status LowerCropAndResize(StageBuilder& b) {
  const DataLayout layout = DataLayoutOf(b.attrs(), "layout", 2);
  const std::vector<int64_t> extents = layout.Space(b.input_shape(0)),
                             size = b.attrs().Ints("crop_size");
  const bool bilinear = b.attrs().String("method") == "bilinear";
  const Access x = b.Input(0), boxes = b.Input(1), box_indices = b.Input(2);
  const auto place = [&](size_t k, const Expr& box, const Expr& o) {
    const auto end = [&](int64_t column) {
      const Expr value = boxes({box, Expr(column)});
      return value.type().dtype == kF32 ? value : loop::MakeCast(kF32, value);
    };
    const Expr first = end(static_cast<int64_t>(k)), last = end(static_cast<int64_t>(k) + 2);
    const Expr reach = Number(static_cast<double>(extents[k]) - 1);
    // A crop of one place takes the middle of the box.
    if (size[k] == 1) return Place{Number(0.5) * (first + last) * reach, extents[k]};
    const Expr step = (last - first) * reach / Number(static_cast<double>(size[k]) - 1);
    return Place{first * reach + loop::MakeCast(kF32, o) * step, extents[k]};
  };
  b.Output(0, [&](const Indices& i) {
    const Indices o = layout.Space(i);
    const Place y = place(0, i[0], o[0]), z = place(1, i[0], o[1]);
    const Expr image = IndexFromEnds(box_indices({i[0]}), b.input_shape(0)[0]);
    const auto read = [&](const Expr& row, const Expr& column) {
      const Indices at =
          layout.Order<Expr>(image, i[layout.channel_dim()], {y.Index(row), z.Index(column)});
      const Expr value = x(at);
      return value.type().dtype == kF32 ? value : loop::MakeCast(kF32, value);
    };
    Expr value;
    if (bilinear) {
      const Expr top = loop::Floor(y.at), left = loop::Floor(z.at), one = Number(1);
      const auto row = [&](const Expr& at) {
        const Expr first = read(at, left);
        return first + (read(at, left + one) - first) * (z.at - left);
      };
      const Expr upper = row(top);
      value = upper + (row(top + one) - upper) * (y.at - top);
    } else {
      value = read(loop::RoundAway(y.at), loop::RoundAway(z.at));
    }
    value = loop::MakeSelect(y.Inside() && z.Inside(), value,
                             Number(b.attrs().Float("extrapolation_value")));
    const DType dtype = ComputeType(b.output_dtype(0));
    return value.type().dtype == dtype ? value : loop::MakeCast(dtype, value);
  });
  return absl::OkStatus();
}

std::optional<IndexInput> IndexOfBatch(const InferContext& c) {
  return IndexInput{2, {FromEnds(c.inputs[0].shape[0])}};
}

const OpDef kCropAndResize = {
    {.name = "image.crop_and_resize",
     .doc = "Boxes of data, resized to crop_size. A box is (y0, x0, y1, x1), with coordinates from "
            "0 at the center of the first position to 1 at the center of the last. The corners of "
            "a box are positions of the crop. A crop of one position takes the middle of the box. "
            "All is computed in float32.",
     .inputs = {{"data", "numbers, as layout says"},
                {"boxes", "floats, (n, 4)"},
                {"box_indices",
                 "integers, (n,): the member of the batch of each box; negative indices count from "
                 "the end, and indices out of range are clamped to the nearest end"}},
     .attrs = {{"crop_size", AttrType::kInts, {}, true, "height and width of the result"},
               {"layout", AttrType::kString, "NCHW", false, "NCHW or NHWC"},
               {"method", AttrType::kString, "bilinear", false, "bilinear or nearest_neighbor"},
               {"extrapolation_value", AttrType::kFloat, 0.0, false, "value beyond data"},
               {"out_dtype", AttrType::kDType, "", false,
                "dtype of the result; that of data if \"\""}}},
    {"data holds numbers, boxes holds floats, and box_indices holds integers",
     "layout is NCHW or NHWC", "method is bilinear or nearest_neighbor",
     "data has rank 4 and at least one element, boxes has shape (n, 4), and box_indices has shape "
     "(n,)",
     "crop_size has two positive numbers"},
    {.fusion = Fusion::kInjective, .layout = LayoutRule::kFixed},
    InferCropAndResize,
    LowerCropAndResize,
    {Case({Values(F32({1, 1, 2, 3}), {0, 2, 4, 10, 12, 14}),
           Values(F32({2, 4}), {0, 0, 1, 1, 0, 0.25, 2, 0.75}), Values(I32({2}), {0, 0})},
          {{"crop_size", List({2, 2})}, {"extrapolation_value", -1.0}},
          {Values(F32({2, 1, 2, 2}), {0, 4, 10, 14, 1, 3, -1, -1})}),
     Case({Values(U8({1, 1, 4, 1}), {10, 20, 30, 40}), Values(F32({1, 4}), {0, 0.25, 0, 1}),
           Values(I32({1}), {0})},
          {{"crop_size", List({1, 3})}, {"layout", "NHWC"}, {"method", "nearest_neighbor"}},
          {Values(U8({1, 1, 3, 1}), {20, 30, 40})}),
     {.inputs = {F16({2, 5, 6, 3}), F32({3, 4}), I64({3})},
      .attrs = {{"crop_size", List({3, 1})}, {"layout", "NHWC"}, {"out_dtype", "float32"}},
      .input_min = 0,
      .input_max = 1}},
    IndexOfBatch,
};
KILN_REGISTER_OP(kCropAndResize);

}  // namespace
}  // namespace kiln
