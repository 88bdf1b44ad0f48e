// SPDX-License-Identifier: Apache-2.0
// Resizing to another resolution.
#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"
#include "compiler/frontend/onnx/converter.h"
#include "compiler/frontend/onnx/formula.h"

namespace kiln::onnx_frontend {
namespace {

// The requested resolution, with one value per dimension of the data.
struct Resolution {
  std::vector<double> scales;
  std::vector<int64_t> sizes;
  std::vector<double> starts, ends;  // for tf_crop_and_resize
};

std::vector<double> Doubles(const Tensor& tensor) {
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.type().num_elements(); ++i) values.push_back(tensor.AsDouble(i));
  return values;
}

// Returns a constant input with `count` elements. Empty if the input is absent or has no elements.
absl::StatusOr<std::vector<double>> NumbersInput(Converter& c, int i, const char* what,
                                                 size_t count) {
  if (!c.HasInput(i)) return std::vector<double>();
  // An input without elements counts as absent and need not be known.
  KILN_ASSIGN_OR_RETURN(const ValueId input, c.Input(i));
  if (c.type(input).num_elements() == 0) return std::vector<double>();
  KILN_ASSIGN_OR_RETURN(const Tensor tensor, c.ConstantInput(i, what));
  std::vector<double> values = Doubles(tensor);
  if (values.size() != count) {
    return Wrong(what, absl::StrCat(values.size(), " values"), absl::StrCat(count));
  }
  return values;
}

constexpr double kMaxResizedExtent = 1 << 28;

absl::StatusOr<int64_t> Extent(double value) {
  if (value >= 0 && value <= kMaxResizedExtent) return static_cast<int64_t>(value);
  return Wrong("an extent of the result", absl::StrCat(value),
               absl::StrCat("0 to ", kMaxResizedExtent));
}

// Uses the same scale for all axes, so that the result fits within, or covers, the sizes.
void KeepAspectRatio(bool within, const Shape& data, const std::vector<int64_t>& axes,
                     std::vector<double>& sizes, std::vector<double>& scales) {
  double scale = within ? INFINITY : 0;
  for (size_t k = 0; k < axes.size(); ++k) {
    const double own = sizes[k] / static_cast<double>(data[static_cast<size_t>(axes[k])]);
    scale = within ? std::min(scale, own) : std::max(scale, own);
  }
  for (size_t k = 0; k < axes.size(); ++k) {
    sizes[k] = std::floor(scale * static_cast<double>(data[static_cast<size_t>(axes[k])]) + 0.5);
    scales.push_back(scale);
  }
}

absl::StatusOr<Resolution> ResolutionOf(Converter& c, const Shape& data, int roi_input,
                                        int scales_input, int sizes_input, bool crops) {
  KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> axes,
                        NormalAxes(c.Ints("axes"), static_cast<int64_t>(data.size())));
  const size_t n = axes.size();
  KILN_ASSIGN_OR_RETURN(std::vector<double> scales, NumbersInput(c, scales_input, "scales", n));
  KILN_ASSIGN_OR_RETURN(std::vector<double> sizes, NumbersInput(c, sizes_input, "sizes", n));
  if (const auto* attr = c.FindAttr("scales"); attr != nullptr) {
    scales.assign(attr->floats().begin(), attr->floats().end());
  }
  if (scales.empty() == sizes.empty() || (!scales.empty() && scales.size() != n)) {
    return Wrong("scales and sizes", absl::StrCat(scales.size(), " and ", sizes.size()),
                 absl::StrCat(n, " of one of them"));
  }
  const std::string policy = c.String("keep_aspect_ratio_policy", "stretch");
  if (!sizes.empty() && policy != "stretch") {
    KeepAspectRatio(policy == "not_larger", data, axes, sizes, scales);
  }
  std::vector<double> roi;
  if (crops) {
    KILN_ASSIGN_OR_RETURN(roi, NumbersInput(c, roi_input, "roi", 2 * n));
    if (roi.empty()) return Wrong("roi", "none", absl::StrCat(2 * n, " values"));
  }
  Resolution r;
  r.sizes = data;
  r.scales.assign(data.size(), 1);
  r.starts.assign(data.size(), 0);
  r.ends.assign(data.size(), 1);
  for (size_t k = 0; k < n; ++k) {
    const auto d = static_cast<size_t>(axes[k]);
    const auto extent = static_cast<double>(data[d]);
    if (crops) {
      r.starts[d] = roi[k];
      r.ends[d] = roi[k + n];
    }
    // Scales are float32, and so is their product with an extent. The part of the data that roi
    // selects is not a factor (docs/decisions/0045).
    const auto scaled = [&] {
      return std::floor(static_cast<double>(static_cast<float>(extent * scales[k])));
    };
    KILN_ASSIGN_OR_RETURN(r.sizes[d], Extent(sizes.empty() ? scaled() : sizes[k]));
    r.scales[d] =
        scales.empty() ? static_cast<double>(r.sizes[d]) / std::max(extent, 1.0) : scales[k];
  }
  return r;
}

// The first and last dimension that change. There may be at most three from first to last.
struct Span {
  size_t first, last;
  size_t dims() const { return last - first + 1; }
};
absl::StatusOr<std::optional<Span>> ChangedSpan(const Shape& data, const Resolution& r) {
  std::optional<Span> span;
  for (size_t d = 0; d < data.size(); ++d) {
    if (r.sizes[d] == data[d] && r.scales[d] == 1 && r.starts[d] == 0 && r.ends[d] == 1) continue;
    if (!span.has_value()) span = Span{d, d};
    span->last = d;
  }
  if (span.has_value() && span->dims() > 3) {
    return absl::UnimplementedError("dimensions to resize that are more than three apart");
  }
  return span;
}

// Applies Relay's resize to the dimensions that change. Those before and after act as batch and
// channels.
absl::StatusOr<ValueId> ResizeTo(Converter& c, ValueId x, const Resolution& r, Attrs attrs) {
  const Shape data = c.type(x).shape;
  KILN_ASSIGN_OR_RETURN(std::optional<Span> span, ChangedSpan(data, r));
  if (!span.has_value()) return x;
  // Images keep their layout.
  if (data.size() == 4 && span->first >= 2) span = Span{2, 3};
  const auto outer = NumElements({data.data(), span->first});
  const auto inner = NumElements({data.data() + span->last + 1, data.size() - span->last - 1});
  const bool channels_last = inner != 1;
  Shape flat = {outer, 1};
  if (!channels_last && span->first >= 2) {
    flat = {NumElements({data.data(), span->first - 1}), data[span->first - 1]};
  }
  if (channels_last) flat = {outer};
  std::vector<int64_t> sizes;
  std::vector<AttrValue> scales, starts, ends;
  bool exact = true;
  for (size_t d = span->first; d <= span->last; ++d) {
    flat.push_back(data[d]);
    sizes.push_back(r.sizes[d]);
    scales.emplace_back(r.scales[d]);
    starts.emplace_back(r.starts[d]);
    ends.emplace_back(r.ends[d]);
    exact = exact && r.scales[d] * static_cast<double>(data[d]) == static_cast<double>(r.sizes[d]);
  }
  if (channels_last) flat.push_back(inner);
  const char* const first[] = {"NCW", "NCHW", "NCDHW"};
  const char* const last[] = {"NWC", "NHWC", "NDHWC"};
  attrs.Set("layout", (channels_last ? last : first)[span->dims() - 1]);
  attrs.Set("size", AttrValue::Ints(sizes));
  if (!exact) attrs.Set("scales", AttrValue(scales));
  starts.insert(starts.end(), ends.begin(), ends.end());
  attrs.Set("roi", AttrValue(starts));
  Formula f(c);
  ValueId y = f(absl::StrCat("image.resize", span->dims(), "d"), {f.Reshape(x, flat)}, attrs);
  y = f.Reshape(y, r.sizes);
  if (!f.ok()) return f.status();
  return y;
}

// Returns the position in the data of index `i` of the result, along one dimension.
double PlaceOf(const std::string& mode, double i, double scale, double from, double to) {
  if (mode == "align_corners") return to == 1 ? 0 : i * (from - 1) / (to - 1);
  if (mode == "asymmetric") return i / scale;
  if (mode == "pytorch_half_pixel" && to == 1) return 0;
  const double half_pixel = (i + 0.5) / scale - 0.5;
  if (mode != "half_pixel_symmetric") return half_pixel;
  return from / 2 * (1 - to / (scale * from)) + half_pixel;
}

// Returns the weight of a neighbor at a distance. The caller gives the distance in positions of the
// result if it has fewer than the data.
double WeightAt(double distance, bool cubic, double a) {
  const double x = std::abs(distance);
  if (!cubic) return std::max(1 - x, 0.0);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

// Parameters of a resize by weighted sums over all positions of the data that one of the result
// covers.
struct Antialias {
  std::string mode;  // coordinate transformation mode
  bool cubic;
  double a;  // coefficient of the cubic filter
  bool exclude_outside;
};

// Returns a matrix (to, from) with the weight of each position of the data for each of the result.
absl::StatusOr<Tensor> Weights(const Antialias& how, int64_t from, int64_t to, double scale) {
  if (from < 1 || to * from > kMaxTableElements || !(scale > 0)) {
    return Wrong("extents", absl::StrCat(from, " to ", to, " by ", scale),
                 absl::StrCat("a product of at most ", kMaxTableElements));
  }
  const double narrow = std::min(scale, 1.0);
  const double reach = how.cubic ? 2 : 1;
  std::vector<float> weights(static_cast<size_t>(to * from), 0);
  for (int64_t o = 0; o < to; ++o) {
    const double place = PlaceOf(how.mode, static_cast<double>(o), scale, static_cast<double>(from),
                                 static_cast<double>(to));
    // The left neighbor is strictly before the position.
    const double left = std::ceil(place) - 1;
    // Neighbors outside of first to last have the weight 0.
    const double first = std::floor(-reach / narrow) + 1, last = 1 - first;
    if (last - first > static_cast<double>(kMaxTableElements) / static_cast<double>(to)) {
      return Wrong("scale", absl::StrCat(scale), "a larger one");
    }
    std::vector<double> own(static_cast<size_t>(from), 0);
    double sum = 0;
    for (double k = first; k <= last; ++k) {
      const double at = left + k;
      const bool outside = at < 0 || at > static_cast<double>(from - 1);
      if (outside && how.exclude_outside) continue;
      const double weight = WeightAt((at - place) * narrow, how.cubic, how.a);
      own[static_cast<size_t>(std::clamp(at, 0.0, static_cast<double>(from - 1)))] += weight;
      sum += weight;
    }
    for (int64_t i = 0; i < from && sum != 0; ++i) {
      weights[static_cast<size_t>(o * from + i)] =
          static_cast<float>(own[static_cast<size_t>(i)] / sum);
    }
  }
  return Tensor::From<float>({to, from}, DType::Float(32), weights);
}

// Resizes one dimension after the other, each by a matrix product.
absl::Status ResizeAntialiased(Converter& c, ValueId x, const Resolution& r, const Antialias& how) {
  Formula f(c);
  const DType dtype = c.type(x).dtype;
  ValueId y = f.Cast(x, DType::Float(32));
  Shape shape = c.type(x).shape;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (r.sizes[d] == shape[d] && r.scales[d] == 1) continue;
    KILN_ASSIGN_OR_RETURN(const Tensor weights, Weights(how, shape[d], r.sizes[d], r.scales[d]));
    const auto outer = NumElements({shape.data(), d});
    const auto inner = NumElements({shape.data() + d + 1, shape.size() - d - 1});
    const ValueId matrix = f.Reshape(c.Constant(weights), {1, r.sizes[d], shape[d]});
    y = f("nn.batch_matmul", {matrix, f.Reshape(y, {outer, shape[d], inner})});
    shape[d] = r.sizes[d];
    y = f.Reshape(y, shape);
  }
  if (dtype.is_integral()) y = f("round", {y});
  return f.Output(0, f.Cast(y, dtype));
}

constexpr char kNearest[] = "nearest_neighbor";

absl::StatusOr<const char*> MethodOf(const std::string& mode) {
  if (mode == "nearest") return kNearest;
  if (mode == "linear" || mode == "bilinear" || mode == "trilinear") return "linear";
  if (mode == "cubic") return "cubic";
  return Wrong("mode", mode, "nearest, linear or cubic");
}

// Returns the result if it has no elements.
absl::StatusOr<std::optional<ValueId>> EmptyResult(Converter& c, ValueId x, const Resolution& r) {
  const TensorType data = c.type(x), result = {r.sizes, data.dtype};
  KILN_RETURN_IF_ERROR(CheckTensorType(result));
  if (result.num_elements() == 0) return c.Constant(Tensor::Filled(result, 0));
  if (data.num_elements() == 0) {
    return Wrong("data", data.ToString(), "an element, as the result has some");
  }
  return std::nullopt;
}

// Upsample, and Resize up to opset 10. Coordinates are asymmetric. Nearest rounds down in a
// dimension that grows, and up in one that shrinks.
absl::Status Upsample(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const char* const method, MethodOf(c.String("mode", "nearest")));
  KILN_ASSIGN_OR_RETURN(const Resolution r, ResolutionOf(c, c.type(x).shape, -1,
                                                         c.HasAttr("scales") ? -1 : 1, -1, false));
  KILN_ASSIGN_OR_RETURN(const std::optional<ValueId> empty, EmptyResult(c, x, r));
  if (empty.has_value()) return c.Output(0, *empty);
  const auto resized = [&](ValueId data, const Resolution& part, const char* rounding) {
    return ResizeTo(c, data, part,
                    {{"method", method},
                     {"coordinate_transformation_mode", "asymmetric"},
                     {"rounding_method", rounding}});
  };
  // Shrinking dimensions are resized before growing ones.
  Resolution smaller = r, rest = r;
  bool shrinks = false, grows = false;
  for (size_t d = 0; d < r.scales.size(); ++d) {
    shrinks = shrinks || r.scales[d] < 1;
    grows = grows || r.scales[d] > 1;
    if (r.scales[d] < 1) {
      rest.scales[d] = 1;
    } else {
      smaller.scales[d] = 1;
      smaller.sizes[d] = c.type(x).shape[d];
    }
  }
  if (!shrinks) return c.Output(0, resized(x, r, "floor"));
  // Only the nearest mode rounds, so other modes need only one operator.
  if (!grows || absl::string_view(method) != kNearest) return c.Output(0, resized(x, r, "ceil"));
  KILN_ASSIGN_OR_RETURN(const ValueId y, resized(x, smaller, "ceil"));
  return c.Output(0, resized(y, rest, "floor"));
}

absl::Status Resize(Converter& c) {
  if (c.opset() < 11) return Upsample(c);
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const char* const method, MethodOf(c.String("mode", "nearest")));
  const std::string mode = c.String("coordinate_transformation_mode", "half_pixel");
  KILN_ASSIGN_OR_RETURN(const Resolution r,
                        ResolutionOf(c, c.type(x).shape, 1, 2, 3, mode == "tf_crop_and_resize"));
  KILN_ASSIGN_OR_RETURN(const std::optional<ValueId> empty, EmptyResult(c, x, r));
  if (empty.has_value()) return c.Output(0, *empty);
  if (c.Int("antialias", 0) != 0 && c.String("mode", "nearest") != "nearest" &&
      std::any_of(r.scales.begin(), r.scales.end(), [](double s) { return s < 1; })) {
    if (mode == "tf_crop_and_resize") {
      return absl::UnimplementedError("antialias = 1 with tf_crop_and_resize");
    }
    return ResizeAntialiased(c, x, r,
                             {.mode = mode,
                              .cubic = std::string(method) == "cubic",
                              .a = c.Float("cubic_coeff_a", -0.75),
                              .exclude_outside = c.Int("exclude_outside", 0) != 0});
  }
  return c.Output(0, ResizeTo(c, x, r,
                              {{"method", method},
                               {"coordinate_transformation_mode", mode},
                               {"rounding_method", c.String("nearest_mode", "round_prefer_floor")},
                               {"cubic_alpha", c.Float("cubic_coeff_a", -0.75)},
                               {"cubic_exclude", c.Int("exclude_outside", 0)},
                               {"extrapolation_value", c.Float("extrapolation_value", 0)}}));
}

constexpr OnnxOperator kResizeRows[] = {
    {"Resize", Resize},
    {"Upsample", Upsample},
};

}  // namespace

absl::Span<const OnnxOperator> ResizeOperators() { return kResizeRows; }

}  // namespace kiln::onnx_frontend
