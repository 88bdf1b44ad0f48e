// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/math.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/window.h"

namespace kiln {
namespace {

using loop::Combine;

absl::StatusOr<Window> WindowOf(const Attrs& attrs, const TensorType& data) {
  KILN_CONSTRAINT(1, IsNumeric(data.dtype), data.dtype.ToString(), "numbers");
  KILN_CONSTRAINT(2, data.rank() >= 3 && data.rank() <= 5, ShapeToString(data.shape),
                  "rank 3 to 5");
  return MakeWindow(attrs, {data.shape.begin() + 2, data.shape.end()}, attrs.Ints("pool_size"),
                    attrs.Bool("ceil_mode"), 3);
}

InferResult InferMaxPoolIndices(const InferContext& c) {
  KILN_ASSIGN_OR_RETURN(const Window window, WindowOf(c.attrs, c.inputs[0]));
  Shape shape = Outs(window);
  shape.insert(shape.begin(), c.inputs[0].shape.begin(), c.inputs[0].shape.begin() + 2);
  return OutputTypes({{std::move(shape), DType::Int(64)}});
}

// Finds the largest value of a window first, then the first place that holds it.
absl::Status LowerMaxPoolIndices(StageBuilder& b) {
  const Shape& data = b.input_shape(0);
  KILN_ASSIGN_OR_RETURN(const Window window, WindowOf(b.attrs(), {data, b.input_dtype(0)}));
  const Expr lowest = Neutral(Combine::kMax, ComputeType(b.input_dtype(0)));
  struct Tap {
    Indices at;
    Expr inside;
  };
  const auto tap = [&](const Indices& i, const Indices& r) {
    Tap t{{i[0], i[1]}, loop::IntConst(loop::Type::Of(DType::Bool()), 1)};
    for (size_t k = 0; k < window.size(); ++k) {
      const WindowDim& d = window[k];
      t.at.push_back(i[k + 2] * Expr(d.stride) + r[k] * Expr(d.dilation) - Expr(d.pad_before));
      if (d.reads_padding()) {
        t.inside = t.inside && t.at.back() >= Expr(0) && t.at.back() < Expr(d.extent);
      }
    }
    return t;
  };
  const auto value = [&, x = b.Input(0)](const Tap& t) {
    return GuardedValue(x, data, t.at, t.inside, lowest);
  };
  const Access best =
      b.Reduce("best", b.output_shape(0), Taps(window), Combine::kMax,
               [&](const Indices& i, const Indices& r) { return value(tap(i, r)); });
  const loop::Type int64 = loop::Type::Of(DType::Int(64));
  const Access place =
      b.Reduce("place", b.output_shape(0), Taps(window), Combine::kMin,
               [&](const Indices& i, const Indices& r) {
                 const Tap t = tap(i, r);
                 Expr flat = 0;
                 for (size_t d = 0; d < data.size(); ++d) flat = flat * Expr(data[d]) + t.at[d];
                 const Expr v = value(t);
                 Expr is_best = v == best(i);
                 if (v.type().dtype.is_float()) {
                   is_best = is_best || loop::IsNan(v);
                 }
                 return loop::MakeSelect(t.inside && is_best, loop::MakeCast(DType::Int(64), flat),
                                         loop::IntConst(int64, INT64_MAX));
               });
  // A window that covers only padding has no such place and gives the last place of data.
  b.Output(0, [&](const Indices& i) {
    return Min(place(i), loop::IntConst(int64, std::max<int64_t>(NumElements(data) - 1, 0)));
  });
  return absl::OkStatus();
}

const OpDef kMaxPoolIndices = {
    {.name = "nn.max_pool_indices",
     .doc = "The index in data of the largest value of each window of nn.max_pool1d to 3d, counted "
            "in row-major order, as int64. Among equal values, or NaNs if there are any, it is the "
            "first. Not an operator of Relay.",
     .inputs = {{"data", "(n, channels, w), (n, channels, h, w) or (n, channels, d, h, w)"}},
     .attrs = {{"pool_size", AttrType::kInts, {}, true, "extents of a window"},
               {"strides", AttrType::kInts, {}, true, "positions from one window to the next"},
               {"dilation", AttrType::kInts, {}, true, "positions from one tap to the next"},
               {"padding",
                AttrType::kInts,
                {},
                true,
                "padding around data: one number for all sides, one per dimension, or one per "
                "dimension before data and then one per dimension after it"},
               {"ceil_mode", AttrType::kBool, false, false,
                "true if the last window may extend past the end, unless it would begin there"}}},
    {"data holds numbers", "data has rank 3 to 5",
     "pool_size, strides and dilation have one positive value per dimension; padding has one "
     "value, one per dimension or one per side, none of them negative",
     "at least one window fits into the padded data"},
    {.fusion = Fusion::kReduction, .layout = LayoutRule::kFixed},
    InferMaxPoolIndices,
    LowerMaxPoolIndices,
    {Case({Values(F32({2, 1, 4}), {1, 3, 3, 2, 9, 8, 7, 6})},
          {{"pool_size", 2}, {"strides", 2}, {"dilation", 1}, {"padding", List({1, 1})}},
          {Values(I64({2, 1, 3}), {0, 1, 3, 4, 5, 7})}),
     {.inputs = {F32({1, 2, 5, 4})},
      .attrs = {{"pool_size", List({3, 2})},
                {"strides", List({2, 1})},
                {"dilation", List({1, 2})},
                {"padding", List({1, 0})},
                {"ceil_mode", true}}}},
};
KILN_REGISTER_OP(kMaxPoolIndices);

}  // namespace
}  // namespace kiln
