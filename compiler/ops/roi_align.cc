// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/math.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/regions.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {
namespace {

using loop::Combine;

constexpr int64_t kMaxSamples = 1 << 12;

// Limit on points per bin along one dimension: the requested number, or the number for a region as
// large as data, plus one for rounding.
int64_t MostSamples(const Attrs& attrs, int64_t extent, int64_t bins) {
  const int64_t samples = attrs.Int("sample_ratio");
  return samples > 0 ? samples : (extent - 1) / bins + 2;
}

InferResult InferRoiAlign(const InferContext& c) {
  KILN_ASSIGN_OR_RETURN(TensorType type, CheckRegions(c));
  const Shape& data = c.inputs[0].shape;
  for (size_t k = 0; k < 2; ++k) {
    const int64_t samples = MostSamples(c.attrs, data[k + 2], type.shape[k + 2]);
    KILN_CONSTRAINT(5, samples <= kMaxSamples, absl::StrCat(samples, " points"),
                    absl::StrCat("at most ", kMaxSamples));
  }
  const std::string& mode = c.attrs.String("mode");
  KILN_CONSTRAINT(6, mode == "avg" || mode == "max", mode, "avg or max");
  return OutputTypes({std::move(type)});
}

// A sample between two places along one dimension.
struct Sample {
  Expr low, high;           // indices
  Expr low_weight, weight;  // of low and high
  Expr inside;              // at most a place beyond the data
};

Sample SampleAt(const Expr& at, int64_t extent) {
  const auto number = [&](double v) { return loop::Const(at.type(), v); };
  const auto n = static_cast<double>(extent);
  const Expr place = Max(at, number(0));
  const Expr floor = Min(loop::Floor(place), number(n - 1));
  const Expr low = ClampIndex(loop::ToIndex(loop::MakeCast(DType::Int(32), floor)), extent);
  const Expr weight = Min(place, number(n - 1)) - floor;
  return {low, ClampIndex(low + Expr(1), extent), number(1) - weight, weight,
          at >= number(-1) && at <= number(n)};
}

// The bins of a region along one dimension.
struct Bins {
  Expr start, extent;  // of a bin
  Expr samples;        // per bin, as a float
};

absl::Status LowerRoiAlign(StageBuilder& b) {
  const Shape &data = b.input_shape(0), &out = b.output_shape(0);
  const double scale = b.attrs().Float("spatial_scale");
  const bool aligned = b.attrs().Bool("aligned"), average = b.attrs().String("mode") == "avg",
             adaptive = b.attrs().Int("sample_ratio") <= 0;
  const DType dtype = ComputeType(b.input_dtype(0));
  const Access x = b.Input(0), rois = b.Input(1);
  const auto roi = [&](const Expr& r, int64_t column) {
    const Expr value = rois({r, Expr(column)});
    return value.type().dtype == dtype ? value : loop::MakeCast(dtype, value);
  };
  const auto number = [&](double v) { return loop::Const(dtype, v); };
  const Shape most = {MostSamples(b.attrs(), data[2], out[2]),
                      MostSamples(b.attrs(), data[3], out[3])};
  // Bins along dimension k (0: height) of region r.
  const auto bins = [&](size_t k, const Expr& r) {
    const auto column = static_cast<int64_t>(k);
    const Expr shift = number(aligned ? 0.5 : 0);
    const Expr start = roi(r, 2 - column) * number(scale) - shift;
    const Expr end = roi(r, 4 - column) * number(scale) - shift;
    Expr extent = end - start;
    if (!aligned) extent = Max(extent, number(1));
    const Expr bin = extent / number(static_cast<double>(out[k + 2]));
    const Expr limit = number(static_cast<double>(most[k]));
    return Bins{start, bin, adaptive ? Max(Min(loop::Ceil(bin), limit), number(0)) : limit};
  };
  const auto sample = [&](size_t k, const Bins& of, const Expr& o, const Expr& s) {
    const Expr at = of.start + loop::MakeCast(dtype, o) * of.extent +
                    (loop::MakeCast(dtype, s) + number(0.5)) * of.extent / of.samples;
    return SampleAt(at, data[k + 2]);
  };
  const Combine combine = average ? Combine::kSum : Combine::kMax;
  const Access pooled =
      b.Reduce("pool", out, most, combine, [&](const Indices& i, const Indices& s) {
        const Bins rows = bins(0, i[0]), columns = bins(1, i[0]);
        const Sample h = sample(0, rows, i[2], s[0]);
        const Sample w = sample(1, columns, i[3], s[1]);
        const Expr image =
            ClampIndex(loop::ToIndex(loop::MakeCast(DType::Int(32), roi(i[0], 0))), data[0]);
        const auto term = [&](const Expr& y, const Expr& x_place, const Expr& wy, const Expr& wx) {
          return x({image, i[1], y, x_place}) * (wy * wx);
        };
        const Expr a = term(h.low, w.low, h.low_weight, w.low_weight),
                   c = term(h.low, w.high, h.low_weight, w.weight),
                   d = term(h.high, w.low, h.weight, w.low_weight),
                   e = term(h.high, w.high, h.weight, w.weight);
        const Expr value =
            average ? a + c + d + e : loop::Maximum(loop::Maximum(a, c), loop::Maximum(d, e));
        const Expr counted = loop::MakeSelect(h.inside && w.inside, value, number(0));
        if (!adaptive) return counted;
        return loop::MakeSelect(loop::MakeCast(dtype, s[0]) < rows.samples &&
                                    loop::MakeCast(dtype, s[1]) < columns.samples,
                                counted, Neutral(combine, dtype));
      });
  b.Output(0, [&](const Indices& i) {
    const Expr count = bins(0, i[0]).samples * bins(1, i[0]).samples;
    if (average) return pooled(i) / Max(count, number(1));
    return adaptive ? loop::MakeSelect(count > number(0), pooled(i), number(0)) : pooled(i);
  });
  return absl::OkStatus();
}

const OpDef kRoiAlign = {
    {.name = "vision.roi_align",
     .doc = "Regions of data at one resolution. Each of pooled_size bins is the mean (or the "
            "largest weighted neighbor) of sample_ratio × sample_ratio points in it, each "
            "interpolated between the four positions around it. A region is (number of the image, "
            "x0, y0, x1, y1), where a unit is spatial_scale positions.",
     .inputs = {{"data", "floats, (n, channels, h, w)"}, {"rois", "floats, (regions, 5)"}},
     .attrs = {{"pooled_size", AttrType::kInts, {}, true, "height and width of the result"},
               {"spatial_scale", AttrType::kFloat, {}, true, "positions per unit of rois"},
               {"sample_ratio", AttrType::kInt, -1, false,
                "points per bin and dimension; if not positive, one per position of the bin, but "
                "at most as many as in a region as large as data"},
               {"layout", AttrType::kString, "NCHW", false, "NCHW"},
               {"mode", AttrType::kString, "avg", false, "avg or max"},
               {"aligned", AttrType::kBool, false, false,
                "true if coordinates count from the corners of positions instead of their centers, "
                "and regions may be smaller than one position. Not in Relay"}}},
    {"data and rois hold floats", "layout is NCHW",
     "data is (n, channels, h, w), and rois is (regions, 5)", "pooled_size is positive",
     "there are at most 4096 points per bin and dimension", "mode is avg or max"},
    {.fusion = Fusion::kReduction, .layout = LayoutRule::kFixed},
    InferRoiAlign,
    LowerRoiAlign,
    {Case({Iota(F32({1, 1, 3, 3})), Values(F32({2, 5}), {0, 0, 0, 2, 2, 0, 1, 0, 2, 2})},
          {{"pooled_size", 1}, {"spatial_scale", 1.0}, {"sample_ratio", 1}},
          {Values(F32({2, 1, 1, 1}), {4, 4.5})}),
     // 3 × 3 points for 2.5 × 3 places, and one point for a region smaller than a place.
     Case({Iota(F32({1, 1, 4, 4})), Values(F32({2, 5}), {0, 0, 0, 3, 2.5, 0, 1, 1, 1, 1})},
          {{"pooled_size", 1}, {"spatial_scale", 1.0}}, {Values(F32({2, 1, 1, 1}), {6.5, 7.5})},
          1e-6),
     {.inputs = {F32({2, 3, 6, 5}), F32({4, 5})},
      .attrs = {{"pooled_size", AttrValue::Ints({2, 3})},
                {"spatial_scale", 0.5},
                {"sample_ratio", 2},
                {"aligned", true}}},
     {.inputs = {F32({2, 2, 4, 4}), F32({3, 5})},
      .attrs = {{"pooled_size", 2}, {"spatial_scale", 1.0}, {"sample_ratio", 2}, {"mode", "max"}}}},
};
KILN_REGISTER_OP(kRoiAlign);

}  // namespace
}  // namespace kiln
