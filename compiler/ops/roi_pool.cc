// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/math.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/regions.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {
namespace {

InferResult InferRoiPool(const InferContext& c) {
  KILN_ASSIGN_OR_RETURN(TensorType type, CheckRegions(c));
  return OutputTypes({std::move(type)});
}

// Places of a bin along one dimension: from `begin` up to, but not including, `end`, as int32.
struct Bin {
  Expr begin, end;

  Expr Holds(const Expr& place) const {
    const Expr p = loop::MakeCast(DType::Int(32), place);
    return p >= begin && p < end;
  }
};

absl::Status LowerRoiPool(StageBuilder& b) {
  const Shape &data = b.input_shape(0), &out = b.output_shape(0);
  const DType dtype = ComputeType(b.input_dtype(0)), i32 = DType::Int(32);
  const Access x = b.Input(0), rois = b.Input(1);
  const auto number = [&](double value) { return loop::Const(dtype, value); };
  const auto whole = [&](int64_t value) { return loop::IntConst(loop::Type::Of(i32), value); };
  const auto roi = [&](const Expr& r, int64_t column) {
    const Expr value = rois({r, Expr(column)});
    return value.type().dtype == dtype ? value : loop::MakeCast(dtype, value);
  };
  // Bin o along dimension k (0: height) of region r.
  const auto bin = [&](int64_t k, const Expr& r, const Expr& o) {
    const auto limit = whole(data[static_cast<size_t>(k) + 2]);
    const auto corner = [&](int64_t column) {
      // Clamped to the range of int32, with room for sums.
      const Expr at = loop::RoundAway(roi(r, column) * number(b.attrs().Float("spatial_scale")));
      return loop::MakeCast(i32, Max(Min(at, number(1 << 29)), number(-(1 << 29))));
    };
    const Expr start = corner(2 - k), extent = Max(corner(4 - k) - start + whole(1), whole(1));
    const Expr step = loop::MakeCast(dtype, extent) /
                      number(static_cast<double>(out[static_cast<size_t>(k) + 2]));
    const Expr first = loop::Floor(loop::MakeCast(dtype, o) * step),
               last = loop::Ceil(loop::MakeCast(dtype, o + Expr(1)) * step);
    const auto within = [&](const Expr& at) {
      return Max(Min(loop::MakeCast(i32, at) + start, limit), whole(0));
    };
    return Bin{within(first), within(last)};
  };
  const Expr lowest = Neutral(loop::Combine::kMax, dtype);
  const Access pooled = b.Reduce(
      "pool", out, {data[2], data[3]}, loop::Combine::kMax,
      [&](const Indices& i, const Indices& p) {
        const Expr image = ClampIndex(loop::ToIndex(loop::MakeCast(i32, roi(i[0], 0))), data[0]);
        const Expr inside = bin(0, i[0], i[2]).Holds(p[0]) && bin(1, i[0], i[3]).Holds(p[1]);
        return loop::MakeSelect(inside, x({image, i[1], p[0], p[1]}), lowest);
      });
  b.Output(0, [&](const Indices& i) {
    const Bin h = bin(0, i[0], i[2]), w = bin(1, i[0], i[3]);
    return loop::MakeSelect(h.begin < h.end && w.begin < w.end, pooled(i), number(0));
  });
  return absl::OkStatus();
}

const OpDef kRoiPool = {
    {.name = "vision.roi_pool",
     .doc =
         "The largest value of each of pooled_size bins of regions of data, or 0 for a bin without "
         "positions. A region is (number of the image, x0, y0, x1, y1), where a unit is "
         "spatial_scale positions. Its corners are rounded to positions and belong to the region.",
     .inputs = {{"data", "floats, (n, channels, h, w)"}, {"rois", "floats, (regions, 5)"}},
     .attrs = {{"pooled_size", AttrType::kInts, {}, true, "height and width of the result"},
               {"spatial_scale", AttrType::kFloat, {}, true, "positions per unit of rois"},
               {"layout", AttrType::kString, "NCHW", false, "NCHW"}}},
    {"data and rois hold floats", "layout is NCHW",
     "data is (n, channels, h, w), and rois is (regions, 5)", "pooled_size is positive"},
    {.fusion = Fusion::kReduction, .layout = LayoutRule::kFixed},
    InferRoiPool,
    LowerRoiPool,
    {Case(
         {Iota(F32({1, 1, 4, 4})), Values(F32({2, 5}), {0, 0, 0, 3, 3, 0, 4, 2, 9, 7})},
         {{"pooled_size", 2}, {"spatial_scale", 0.5}},
         // The first region rounds to places 0 to 2: bins of 1.5 places, 0 to 1 and 1 to 2. The
         // second region goes from (2, 1) to (5, 4): its bins are places 2 to 3 and 4 to 5 along x,
         // and 1 to 2 and 3 to 4 along y.
         {Values(F32({2, 1, 2, 2}), {5, 6, 9, 10, 11, 0, 15, 0})}),
     {.inputs = {F32({2, 3, 6, 5}), F32({4, 5})},
      .attrs = {{"pooled_size", AttrValue::Ints({2, 3})}, {"spatial_scale", 1.0}},
      .input_min = 0,
      .input_max = 5},
     {.inputs = {F16({1, 1, 3, 3}), F16({2, 5})},
      .attrs = {{"pooled_size", 1}, {"spatial_scale", 1.0}},
      .input_min = 0,
      .input_max = 2}},
};
KILN_REGISTER_OP(kRoiPool);

}  // namespace
}  // namespace kiln
