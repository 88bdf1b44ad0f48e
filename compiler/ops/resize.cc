// SPDX-License-Identifier: Apache-2.0
// image.resize2d and nn.upsampling. The place of data that an index of the result lies at is a
// fraction of integers, so that every engine finds the same neighbours and weights:
//
//   half_pixel     ((2 i + 1) in - out) / (2 out)      align_corners  i (in - 1) / (out - 1)
//   asymmetric  i in / out
#include <cmath>

#include "compiler/loop/math.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/window.h"

namespace kiln {
namespace {

// Keeps the numerators within the range of an index.
constexpr int64_t kMaxExtent = int64_t{1} << 28;

// (factor * i + offset) / divisor.
struct Coordinate {
  int64_t factor = 1, offset = 0, divisor = 1;

  Expr Numerator(const Expr& i) const { return i * Expr(factor) + Expr(offset); }
  Expr Floor(const Expr& i) const { return loop::FloorDiv(Numerator(i), Expr(divisor)); }
  // The part behind the point, 0 to less than 1.
  Expr Fraction(const Expr& i, DType dtype) const {
    return loop::MakeCast(dtype, loop::FloorMod(Numerator(i), Expr(divisor))) /
           loop::Const(dtype, static_cast<double>(divisor));
  }
  // The nearest whole number by a rule of `rounding`.
  Expr Nearest(const Expr& i, const std::string& rounding) const {
    const Expr n = Numerator(i), d = divisor, two_d = 2 * divisor;
    if (rounding == "floor") return loop::FloorDiv(n, d);
    if (rounding == "ceil") return -loop::FloorDiv(-n, d);
    if (rounding == "round_prefer_floor") return -loop::FloorDiv(d - n * Expr(2), two_d);
    return loop::FloorDiv(n * Expr(2) + d, two_d);  // round, round_prefer_ceil
  }
};

struct Resize {
  DataLayout layout;
  std::string method, rounding;
  Coordinate coordinate[2];
  double cubic_alpha = -0.5;
  bool cubic_exclude = false;
};

Coordinate MakeCoordinate(const std::string& mode, int64_t in, int64_t out) {
  if (mode == "align_corners")
    return out == 1 ? Coordinate{0, 0, 1} : Coordinate{in - 1, 0, out - 1};
  if (mode == "asymmetric") return {in, 0, out};
  if (mode == "pytorch_half_pixel" && out == 1) return {0, 0, 1};
  if (mode == "tf_half_pixel_for_nn") return {2 * in, in, 2 * out};
  return {2 * in, in - out, 2 * out};
}

bool IsOneOf(const std::string& text, std::initializer_list<absl::string_view> list) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

absl::StatusOr<Resize> ReadResize(const Attrs& attrs, const Shape& data, const Shape& out) {
  Resize r{.layout = DataLayoutOf(attrs, "layout", 2),
           .method = attrs.String("method"),
           .rounding = attrs.String("rounding_method"),
           .coordinate = {},
           .cubic_alpha = attrs.Float("cubic_alpha"),
           .cubic_exclude = attrs.Int("cubic_exclude") != 0};
  std::string mode = attrs.String("coordinate_transformation_mode");
  if (r.method == "nearest_neighbor" && r.rounding.empty())
    r.rounding = mode == "align_corners" ? "round" : "floor";
  for (int k = 0; k < 2; ++k) {
    r.coordinate[k] =
        MakeCoordinate(mode, data[r.layout.spatial_dim(k)], out[r.layout.spatial_dim(k)]);
  }
  return r;
}

// Constraints 1 to 4, and the shape with these extents.
InferResult InferSize(const InferContext& c, const std::vector<int64_t>& size, DType dtype) {
  const TensorType& data = c.inputs[0];
  const std::string& layout = c.attrs.String("layout");
  KILN_CONSTRAINT(1, IsNumeric(data.dtype), data.dtype.ToString(), "numbers");
  KILN_CONSTRAINT(2, layout == "NCHW" || layout == "NHWC", absl::StrCat("layout ", layout),
                  "NCHW or NHWC");
  KILN_CONSTRAINT(3, data.rank() == 4, ShapeToString(data.shape), "rank 4");
  const DataLayout where = DataLayoutOf(c.attrs, "layout", 2);
  Shape shape = data.shape;
  for (size_t k = 0; k < 2; ++k) {
    int64_t& extent = shape[where.spatial_dim(static_cast<int>(k))];
    KILN_CONSTRAINT(
        4,
        size.size() == 2 && size[k] >= 1 && size[k] <= kMaxExtent && extent >= 1 &&
            extent <= kMaxExtent,
        absl::StrCat("from ", ShapeToString(data.shape), " to ", AttrValue::Ints(size).ToString()),
        absl::StrCat("two extents from 1 to ", kMaxExtent));
    extent = size[k];
  }
  return OutputTypes({{std::move(shape), dtype}});
}

InferResult InferResize2d(const InferContext& c) {
  const std::string &method = c.attrs.String("method"),
                    &mode = c.attrs.String("coordinate_transformation_mode"),
                    &rounding = c.attrs.String("rounding_method");
  KILN_CONSTRAINT(5, IsOneOf(method, {"nearest_neighbor", "linear", "cubic"}),
                  absl::StrCat("method ", method), "nearest_neighbor, linear or cubic");
  KILN_CONSTRAINT(
      6,
      IsOneOf(mode, {"half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel",
                     "tf_half_pixel_for_nn"}),
      absl::StrCat("coordinate_transformation_mode ", mode),
      "half_pixel, align_corners, asymmetric, pytorch_half_pixel or tf_half_pixel_for_nn");
  KILN_CONSTRAINT(
      7,
      IsOneOf(rounding, {"", "round", "round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}),
      absl::StrCat("rounding_method ", rounding),
      "round, round_prefer_floor, round_prefer_ceil, floor, ceil or \"\"");
  std::vector<int64_t> size = c.attrs.Ints("size");
  if (size.size() == 1) size.push_back(size[0]);
  const DType dtype = c.attrs.DTypeOr("out_dtype", c.inputs[0].dtype);
  KILN_CONSTRAINT(1, IsNumeric(dtype), dtype.ToString(), "numbers");
  return InferSize(c, size, dtype);
}

// Weights of the four neighbours of a place with this fraction (Keys, 1981).
std::vector<Expr> CubicWeights(const Expr& t, double alpha) {
  const auto c = [&](double v) { return loop::Const(t.type(), v); };
  const Expr u = c(1) - t;
  const auto near = [&](const Expr& x) {
    return ((c(alpha + 2) * x - c(alpha + 3)) * x) * x + c(1);
  };
  const auto far = [&](const Expr& x) {  // x is the distance less 1
    const Expr y = x + c(1);
    return ((c(alpha) * y - c(5 * alpha)) * y + c(8 * alpha)) * y - c(4 * alpha);
  };
  return {far(t), near(t), near(u), far(u)};
}

struct Neighbours {
  std::vector<Expr> places, weights;
};

// The places of data along dimension k that index i of the result is made of.
Neighbours Along(const Resize& r, int k, const Expr& i, int64_t extent, DType dtype) {
  const Coordinate& c = r.coordinate[k];
  const Expr floor = c.Floor(i), fraction = c.Fraction(i, dtype), one = loop::Const(dtype, 1);
  Neighbours n;
  n.weights = r.method == "linear" ? std::vector<Expr>{one - fraction, fraction}
                                   : CubicWeights(fraction, r.cubic_alpha);
  const int64_t first = r.method == "linear" ? 0 : -1;
  for (size_t j = 0; j < n.weights.size(); ++j) {
    const Expr place = floor + Expr(first + static_cast<int64_t>(j));
    n.places.push_back(ClampIndex(place, extent));
    if (r.method == "cubic" && r.cubic_exclude) {
      const Expr in = place >= Expr(0) && place < Expr(extent);
      n.weights[j] = loop::MakeSelect(in, n.weights[j], loop::Const(dtype, 0));
    }
  }
  if (r.method == "cubic" && r.cubic_exclude) {
    const Expr sum = n.weights[0] + n.weights[1] + n.weights[2] + n.weights[3];
    for (Expr& weight : n.weights) weight = weight / sum;
  }
  return n;
}

absl::Status LowerWith(StageBuilder& b, const Resize& r) {
  const Access x = b.Input(0);
  const Shape& data = b.input_shape(0);
  const int64_t height = data[r.layout.spatial_dim(0)], width = data[r.layout.spatial_dim(1)];
  // Weighted sums are made in floats.
  const DType dtype =
      b.input_dtype(0).is_float() ? ComputeType(b.input_dtype(0)) : DType::Float(32);
  b.Output(0, [&](const Indices& i) -> Expr {
    const Indices p = r.layout.Space(i);
    const Expr channel = i[r.layout.channel_dim()];
    const auto read = [&](const Expr& y, const Expr& x_place) {
      return x(r.layout.Order<Expr>(i[0], channel, {y, x_place}));
    };
    if (r.method == "nearest_neighbor") {
      return read(ClampIndex(r.coordinate[0].Nearest(p[0], r.rounding), height),
                  ClampIndex(r.coordinate[1].Nearest(p[1], r.rounding), width));
    }
    const Neighbours rows = Along(r, 0, p[0], height, dtype),
                     columns = Along(r, 1, p[1], width, dtype);
    Expr sum;
    for (size_t y = 0; y < rows.places.size(); ++y) {
      Expr row;
      for (size_t j = 0; j < columns.places.size(); ++j) {
        const Expr value = read(rows.places[y], columns.places[j]);
        const Expr term = (value.type().dtype == dtype ? value : loop::MakeCast(dtype, value)) *
                          columns.weights[j];
        row = row ? row + term : term;
      }
      sum = sum ? sum + row * rows.weights[y] : row * rows.weights[y];
    }
    return b.output_dtype(0).is_float() ? sum : loop::RoundEven(sum);
  });
  return absl::OkStatus();
}

absl::Status LowerResize2d(StageBuilder& b) {
  KILN_ASSIGN_OR_RETURN(const Resize r, ReadResize(b.attrs(), b.input_shape(0), b.output_shape(0)));
  return LowerWith(b, r);
}

// The attributes of the resize2d that an upsampling is.
absl::StatusOr<Attrs> AsResize(const Attrs& attrs) {
  const std::string& method = attrs.String("method");
  KILN_CONSTRAINT(5, IsOneOf(method, {"nearest_neighbor", "bilinear", "bicubic"}),
                  absl::StrCat("method ", method), "nearest_neighbor, bilinear or bicubic");
  const bool align = attrs.Bool("align_corners");
  return Attrs{{"layout", attrs.Get("layout")},
               {"method", method.substr(0, 2) == "bi" ? method.substr(2) : method},
               {"coordinate_transformation_mode", align ? "align_corners" : "asymmetric"},
               {"rounding_method", ""},
               {"cubic_alpha", -0.5},
               {"cubic_exclude", 0}};
}

InferResult InferUpsampling(const InferContext& c) {
  KILN_RETURN_IF_ERROR(AsResize(c.attrs).status());
  const std::string& layout = c.attrs.String("layout");
  KILN_CONSTRAINT(2, layout == "NCHW" || layout == "NHWC", absl::StrCat("layout ", layout),
                  "NCHW or NHWC");
  KILN_CONSTRAINT(3, c.inputs[0].rank() == 4, ShapeToString(c.inputs[0].shape), "rank 4");
  const std::vector<int64_t> space = DataLayoutOf(c.attrs, "layout", 2).Space(c.inputs[0].shape);
  std::vector<int64_t> size;
  for (size_t k = 0; k < 2; ++k) {
    const double out =
        std::round(static_cast<double>(space[k]) * c.attrs.Float(k == 0 ? "scale_h" : "scale_w"));
    KILN_CONSTRAINT(4, out >= 1 && out <= static_cast<double>(kMaxExtent),
                    absl::StrCat("an extent of ", out), absl::StrCat("1 to ", kMaxExtent));
    size.push_back(static_cast<int64_t>(out));
  }
  return InferSize(c, size, c.inputs[0].dtype);
}

absl::Status LowerUpsampling(StageBuilder& b) {
  KILN_ASSIGN_OR_RETURN(const Attrs attrs, AsResize(b.attrs()));
  KILN_ASSIGN_OR_RETURN(const Resize r, ReadResize(attrs, b.input_shape(0), b.output_shape(0)));
  return LowerWith(b, r);
}

AttrValue List(const std::vector<int64_t>& values) { return AttrValue::Ints(values); }

const OpDef kResize[] = {
    {{.name = "image.resize2d",
      .doc = "data at another resolution: the nearest place, or the weighted mean of the 2 x 2 "
             "(linear) or 4 x 4 (cubic) places around it; "
             "places beyond the border are those at it. Integers are rounded to nearest, halves to "
             "even.",
      .inputs = {{"data", "as layout"}},
      .attrs =
          {{"size", AttrType::kInts, {}, true, "height and width of the result"},
           {"roi", AttrType::kFloats, {}, false, "not read"},
           {"layout", AttrType::kString, "NCHW", false, "NCHW or NHWC"},
           {"method", AttrType::kString, "linear", false, "nearest_neighbor, linear or cubic"},
           {"coordinate_transformation_mode", AttrType::kString, "half_pixel", false,
            "half_pixel, align_corners, asymmetric, pytorch_half_pixel or tf_half_pixel_for_nn"},
           {"rounding_method", AttrType::kString, "round", false,
            "of nearest_neighbor: round, round_prefer_floor, round_prefer_ceil, floor, ceil; \"\" "
            "is round with align_corners, else floor"},
           {"cubic_alpha", AttrType::kFloat, -0.5, false, "of cubic"},
           {"cubic_exclude", AttrType::kInt, 0, false,
            "of cubic: places beyond the border weigh nothing"},
           {"extrapolation_value", AttrType::kFloat, 0.0, false, "not read"},
           {"out_dtype", AttrType::kDType, "", false, "\"\": as data"}}},
     {"data and the result hold numbers", "layout is NCHW or NHWC", "data has rank 4",
      "extents are positive and within 2^28", "method is nearest_neighbor, linear or cubic",
      "coordinate_transformation_mode is one of those named",
      "rounding_method is one of those named"},
     Fusion::kInjective,
     InferResize2d,
     LowerResize2d,
     {Case({Values(F32({1, 1, 1, 2}), {0, 4})}, {{"size", List({1, 4})}},
           {Values(F32({1, 1, 1, 4}), {0, 1, 3, 4})}),
      Case({Values(F32({1, 1, 1, 3}), {0, 4, 8})},
           {{"size", List({1, 5})}, {"coordinate_transformation_mode", "align_corners"}},
           {Values(F32({1, 1, 1, 5}), {0, 2, 4, 6, 8})}),
      Case({Values(U8({1, 1, 2, 1}), {1, 2})},
           {{"size", List({2, 4})},
            {"layout", "NHWC"},
            {"method", "nearest_neighbor"},
            {"rounding_method", "floor"},
            {"coordinate_transformation_mode", "asymmetric"}},
           {Values(U8({1, 2, 4, 1}), {1, 1, 2, 2, 1, 1, 2, 2})}),
      Case({Values(F32({1, 1, 1, 4}), {1, 2, 3, 4})},
           {{"size", List({1, 8})}, {"method", "cubic"}, {"cubic_alpha", -0.75}},
           {Values(F32({1, 1, 1, 8}), {0.89453125, 1.19140625, 1.66796875, 2.296875, 2.703125,
                                       3.33203125, 3.80859375, 4.10546875})},
           1e-6),
      {.inputs = {F32({1, 2, 5, 4})}, .attrs = {{"size", List({3, 7})}}},
      {.inputs = {F16({1, 2, 3, 3})}, .attrs = {{"size", 2}, {"method", "nearest_neighbor"}}},
      {.inputs = {F32({1, 3, 3, 2})},
       .attrs = {{"size", List({5, 5})},
                 {"method", "cubic"},
                 {"cubic_exclude", 1},
                 {"layout", "NHWC"}}}}},
    {{.name = "nn.upsampling",
      .doc = "data at scale_h times the height and scale_w times the width, rounded: "
             "image.resize2d with asymmetric coordinates, or align_corners.",
      .inputs = {{"data", "as layout"}},
      .attrs = {{"scale_h", AttrType::kFloat, {}, true, "of the height"},
                {"scale_w", AttrType::kFloat, {}, true, "of the width"},
                {"layout", AttrType::kString, "NCHW", false, "NCHW or NHWC"},
                {"method", AttrType::kString, "nearest_neighbor", false,
                 "nearest_neighbor, bilinear or bicubic"},
                {"align_corners", AttrType::kBool, false, false, "corners stay corners"}}},
     {"data holds numbers", "layout is NCHW or NHWC", "data has rank 4",
      "extents are positive and within 2^28", "method is nearest_neighbor, bilinear or bicubic"},
     Fusion::kInjective,
     InferUpsampling,
     LowerUpsampling,
     {Case({Values(F32({1, 1, 1, 2}), {1, 2})}, {{"scale_h", 2.0}, {"scale_w", 2.0}},
           {Values(F32({1, 1, 2, 4}), {1, 1, 2, 2, 1, 1, 2, 2})}),
      Case({Values(F32({1, 1, 1, 2}), {0, 3})},
           {{"scale_h", 1.0}, {"scale_w", 2.0}, {"method", "bilinear"}, {"align_corners", true}},
           {Values(F32({1, 1, 1, 4}), {0, 1, 2, 3})}, 1e-6),
      {.inputs = {F32({1, 3, 4, 2})},
       .attrs = {{"scale_h", 1.5}, {"scale_w", 3.0}, {"layout", "NHWC"}, {"method", "bilinear"}}}}},
};
KILN_REGISTER_OPS(kResize);

}  // namespace
}  // namespace kiln
