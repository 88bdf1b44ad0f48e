// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "compiler/loop/math.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/resize.h"
#include "compiler/ops/window.h"

namespace kiln {
namespace {

// roi is rounded to multiples of 1 / kRoiUnit.
constexpr int64_t kRoiUnit = 1 << 24;

// The coordinate (factor * i + offset) / divisor.
struct Coordinate {
  int64_t factor = 1, offset = 0, divisor = 1;

  bool is_identity() const { return factor == divisor && offset == 0; }
  Expr Numerator(const Expr& i) const { return i * Expr(factor) + Expr(offset); }
  Expr Floor(const Expr& i) const { return loop::FloorDiv(Numerator(i), Expr(divisor)); }
  // The fractional part, from 0 to less than 1.
  Expr Fraction(const Expr& i, DType dtype) const {
    return loop::MakeCast(dtype, loop::FloorMod(Numerator(i), Expr(divisor))) /
           loop::Const(dtype, static_cast<double>(divisor));
  }
  // The nearest integer by the rule `rounding`.
  Expr Nearest(const Expr& i, const std::string& rounding) const {
    const Expr n = Numerator(i), d = divisor, two_d = 2 * divisor;
    if (rounding == "floor") return loop::FloorDiv(n, d);
    if (rounding == "ceil") return -loop::FloorDiv(-n, d);
    if (rounding == "round_prefer_floor") return -loop::FloorDiv(d - n * Expr(2), two_d);
    return loop::FloorDiv(n * Expr(2) + d, two_d);  // round, round_prefer_ceil
  }
  // True if the coordinate lies in 0 … extent-1.
  Expr IsInside(const Expr& i, int64_t extent) const {
    const Expr n = Numerator(i);
    return n >= Expr(0) && n <= Expr((extent - 1) * divisor);
  }
};

struct Resize {
  DataLayout layout;
  std::string method, rounding;
  std::vector<Coordinate> coordinates;  // one per spatial dimension
  double cubic_alpha = -0.5;
  bool cubic_exclude = false;
  bool crops = false;  // places beyond the data are `outside`
  double outside = 0;
};

struct Fraction {
  int64_t n, d;
};

// The simplest fraction that is `value` as a float32, by its continued fraction: 0.6f is 3/5.
// Numerator and denominator are below 2^25 for values up to kMaxScale.
Fraction SimplestFraction(double value) {
  const auto wanted = static_cast<float>(value);
  Fraction before{1, 0}, now{static_cast<int64_t>(std::floor(value)), 1};
  double rest = value - std::floor(value);
  while (static_cast<float>(static_cast<double>(now.n) / static_cast<double>(now.d)) != wanted) {
    if (rest < 1e-12) break;
    rest = 1 / rest;
    const double whole = std::floor(rest);
    rest -= whole;
    const double n = whole * static_cast<double>(now.n) + static_cast<double>(before.n);
    const double d = whole * static_cast<double>(now.d) + static_cast<double>(before.d);
    if (std::max(n, d) >= (1 << 25)) break;
    before = now;
    now = {static_cast<int64_t>(n), static_cast<int64_t>(d)};
  }
  if (now.n < 1) now.n = 1;
  return now;
}

Coordinate MakeCoordinate(const std::string& mode, int64_t in, int64_t out, Fraction scale) {
  const auto [n, d] = scale;
  // The last place of data aligns with the last of in * n / d places, which are `out`
  // unless the scale is given.
  if (mode == "align_corners")
    return out == 1              ? Coordinate{0, 0, 1}
           : n == out && d == in ? Coordinate{in - 1, 0, out - 1}
                                 : Coordinate{(in - 1) * d, 0, in * n - d};
  if (mode == "asymmetric") return {d, 0, n};
  if (mode == "pytorch_half_pixel" && out == 1) return {0, 0, 1};
  if (mode == "tf_half_pixel_for_nn") return {2 * d, d, 2 * n};
  if (mode == "half_pixel_symmetric") return {2 * d, d + (in - 1) * n - out * d, 2 * n};
  return {2 * d, d - n, 2 * n};
}

Coordinate MakeCrop(double start, double end, int64_t in, int64_t out) {
  const int64_t a = std::llround(start * kRoiUnit), b = std::llround(end * kRoiUnit);
  if (out == 1) return {0, (a + b) * (in - 1), 2 * kRoiUnit};
  return {(b - a) * (in - 1), a * (out - 1) * (in - 1), kRoiUnit * (out - 1)};
}

Resize ReadResize(const Attrs& attrs, const Shape& data, const Shape& out, int spatial) {
  Resize r{.layout = DataLayoutOf(attrs, "layout", spatial),
           .method = attrs.String("method"),
           .rounding = attrs.String("rounding_method"),
           .coordinates = {},
           .cubic_alpha = attrs.Float("cubic_alpha"),
           .cubic_exclude = attrs.Int("cubic_exclude") != 0};
  const std::string& mode = attrs.String("coordinate_transformation_mode");
  if (r.method == "nearest_neighbor" && r.rounding.empty())
    r.rounding = mode == "align_corners" ? "round" : "floor";
  r.crops = mode == "tf_crop_and_resize";
  const std::vector<double> scales =
      attrs.Has("scales") ? attrs.Floats("scales") : std::vector<double>();
  for (int k = 0; k < spatial; ++k) {
    const auto at = static_cast<size_t>(k);
    const int64_t in_extent = data[r.layout.spatial_dim(k)],
                  out_extent = out[r.layout.spatial_dim(k)];
    if (r.crops) {
      const std::vector<double> roi = attrs.Floats("roi");
      r.outside = attrs.Float("extrapolation_value");
      r.coordinates.push_back(
          MakeCrop(roi[at], roi[at + static_cast<size_t>(spatial)], in_extent, out_extent));
      continue;
    }
    const Fraction scale =
        scales.empty() ? Fraction{out_extent, in_extent} : SimplestFraction(scales[at]);
    r.coordinates.push_back(MakeCoordinate(mode, in_extent, out_extent, scale));
  }
  return r;
}

}  // namespace

InferResult InferResized(const InferContext& c, const std::vector<int64_t>& size, DType dtype,
                         int spatial) {
  const TensorType& data = c.inputs[0];
  const std::string& layout = c.attrs.String("layout");
  KILN_CONSTRAINT(1, IsNumeric(data.dtype), data.dtype.ToString(), "numbers");
  KILN_CONSTRAINT(2,
                  layout == ChannelsFirst(spatial) || layout == "N" + SpatialLetters(spatial) + "C",
                  absl::StrCat("layout ", layout), DataLayoutNames(spatial));
  KILN_CONSTRAINT(3, data.rank() == spatial + 2, ShapeToString(data.shape),
                  absl::StrCat("rank ", spatial + 2));
  const DataLayout where = DataLayoutOf(c.attrs, "layout", spatial);
  KILN_CONSTRAINT(4, size.size() == static_cast<size_t>(spatial),
                  absl::StrCat(size.size(), " extents"), absl::StrCat(spatial));
  Shape shape = data.shape;
  for (int k = 0; k < spatial; ++k) {
    int64_t& extent = shape[where.spatial_dim(k)];
    const int64_t wanted = size[static_cast<size_t>(k)];
    KILN_CONSTRAINT(
        4, wanted >= 1 && wanted <= kMaxResizeExtent && extent >= 1 && extent <= kMaxResizeExtent,
        absl::StrCat("from ", ShapeToString(data.shape), " to ", AttrValue::Ints(size).ToString()),
        absl::StrCat("extents from 1 to ", kMaxResizeExtent));
    extent = wanted;
  }
  return OutputTypes({{std::move(shape), dtype}});
}

std::vector<Expr> CubicWeights(const Expr& t, double alpha) {
  const auto c = [&](double v) { return loop::Const(t.type(), v); };
  const Expr u = c(1) - t;
  const auto near = [&](const Expr& x) {
    return ((c(alpha + 2) * x - c(alpha + 3)) * x) * x + c(1);
  };
  const auto far = [&](const Expr& x) {  // x is the distance minus 1
    const Expr y = x + c(1);
    return ((c(alpha) * y - c(5 * alpha)) * y + c(8 * alpha)) * y - c(4 * alpha);
  };
  return {far(t), near(t), near(u), far(u)};
}

namespace {

struct ResizeNeighbors {
  std::vector<Expr> places, weights;  // no weights: one place with weight 1
};

// The places of data along dimension k from which index i of the result is computed.
ResizeNeighbors Along(const Resize& r, size_t k, const Expr& i, int64_t extent, DType dtype) {
  const Coordinate& c = r.coordinates[k];
  if (r.method == "nearest_neighbor") return {{ClampIndex(c.Nearest(i, r.rounding), extent)}, {}};
  if (c.is_identity()) return {{ClampIndex(i, extent)}, {}};
  const Expr floor = c.Floor(i), fraction = c.Fraction(i, dtype), one = loop::Const(dtype, 1);
  ResizeNeighbors n;
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

// The weighted sum over the neighbors along dimension `at` and along those after it.
Expr WeightedSum(const std::vector<ResizeNeighbors>& along, size_t at, Indices& places,
                 const std::function<Expr(const Indices&)>& read) {
  if (at == along.size()) return read(places);
  Expr sum;
  for (size_t j = 0; j < along[at].places.size(); ++j) {
    places[at] = along[at].places[j];
    Expr term = WeightedSum(along, at + 1, places, read);
    if (!along[at].weights.empty()) term = term * along[at].weights[j];
    sum = sum ? sum + term : term;
  }
  return sum;
}

}  // namespace

void LowerResized(StageBuilder& b, const Attrs& attrs, int spatial) {
  const Resize r = ReadResize(attrs, b.input_shape(0), b.output_shape(0), spatial);
  const Access x = b.Input(0);
  const std::vector<int64_t> space = r.layout.Space(b.input_shape(0));
  const bool moves = r.method == "nearest_neighbor";
  // Weighted sums are computed in floats.
  const DType dtype =
      moves || b.input_dtype(0).is_float() ? ComputeType(b.input_dtype(0)) : DType::Float(32);
  b.Output(0, [&](const Indices& i) -> Expr {
    const Indices p = r.layout.Space(i);
    std::vector<ResizeNeighbors> along;
    Expr inside;
    for (size_t k = 0; k < p.size(); ++k) {
      along.push_back(Along(r, k, p[k], space[k], dtype));
      const Expr own = r.coordinates[k].IsInside(p[k], space[k]);
      inside = inside ? inside && own : own;
    }
    Indices places(p.size());
    Expr value = WeightedSum(along, 0, places, [&](const Indices& at) {
      const Expr read = x(r.layout.Order<Expr>(i[0], i[r.layout.channel_dim()], at));
      return read.type().dtype == dtype ? read : loop::MakeCast(dtype, read);
    });
    if (r.crops) value = loop::MakeSelect(inside, value, loop::Const(dtype, r.outside));
    return moves || b.output_dtype(0).is_float() ? value : loop::RoundEven(value);
  });
}

}  // namespace kiln
