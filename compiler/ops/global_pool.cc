// SPDX-License-Identifier: Apache-2.0
// nn.global_max_pool2d, nn.global_avg_pool2d, nn.adaptive_max_pool2d, nn.adaptive_avg_pool2d: the
// number of windows is given, not their extents. Window o of `outs` over `extent` places runs from
// floor(o * extent / outs) to ceil((o + 1) * extent / outs).
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/window.h"

namespace kiln {
namespace {

using loop::Combine;

// Keeps window times extent within the range of an index.
constexpr int64_t kMaxWindows = int64_t{1} << 28;

// How many windows; output_size [] stands for as many as places, one number for both dimensions.
absl::StatusOr<std::vector<int64_t>> AdaptiveSize(const Attrs& attrs,
                                                  const std::vector<int64_t>& space) {
  if (!attrs.Has("output_size")) return std::vector<int64_t>{1, 1};
  std::vector<int64_t> size = attrs.Ints("output_size");
  if (size.empty()) return space;
  if (size.size() == 1) size.push_back(size[0]);
  const auto in_range = [](int64_t v) { return v >= 1 && v <= kMaxWindows; };
  KILN_CONSTRAINT(4, size.size() == 2 && in_range(size[0]) && in_range(size[1]),
                  absl::StrCat("output_size ", attrs.Get("output_size").ToString()),
                  absl::StrCat("two numbers from 1 to ", kMaxWindows, ", or one, or none"));
  return size;
}

InferResult Infer(const InferContext& c) {
  const TensorType& data = c.inputs[0];
  KILN_CONSTRAINT(1, IsNumeric(data.dtype), data.dtype.ToString(), "numbers");
  KILN_ASSIGN_OR_RETURN(const DataLayout layout, ParseDataLayout(c.attrs, "layout", 2, 2));
  KILN_CONSTRAINT(3, data.rank() == 4, ShapeToString(data.shape), "rank 4");
  const std::vector<int64_t> space = layout.Space(data.shape);
  KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> outs, AdaptiveSize(c.attrs, space));
  KILN_CONSTRAINT(5, space[0] >= 1 && space[1] >= 1, ShapeToString(data.shape),
                  "at least one place to choose from");
  return OutputTypes(
      {{layout.Order(data.shape[0], data.shape[layout.channel_dim()], outs), data.dtype}});
}

struct AdaptiveDim {
  int64_t extent, outs;

  bool even() const { return extent % outs == 0; }
  // The most places of a window.
  int64_t taps() const { return even() ? extent / outs : std::min(extent, extent / outs + 2); }
  Expr Start(const Expr& o) const {
    return even() ? o * Expr(extent / outs) : o * Expr(extent) / Expr(outs);
  }
  Expr Size(const Expr& o) const {
    if (even()) return Expr(extent / outs);
    return ((o + Expr(1)) * Expr(extent) + Expr(outs - 1)) / Expr(outs) - Start(o);
  }
};

template <Combine kCombine>
absl::Status Lower(StageBuilder& b) {
  const DataLayout layout = DataLayoutOf(b.attrs(), "layout", 2);
  const std::vector<int64_t> space = layout.Space(b.input_shape(0)),
                             outs = layout.Space(b.output_shape(0));
  const AdaptiveDim h{space[0], outs[0]}, w{space[1], outs[1]};
  const Access x = b.Input(0);
  const Expr neutral = Neutral(kCombine, ComputeType(b.input_dtype(0)));
  const Access pool =
      b.Reduce("pool", b.output_shape(0), {h.taps(), w.taps()}, kCombine,
               [&](const Indices& i, const Indices& r) {
                 const Indices o = layout.Space(i);
                 const Expr channel = i[layout.channel_dim()];
                 const Indices at = layout.Order<Expr>(
                     i[0], channel, {h.Start(o[0]) + r[0], w.Start(o[1]) + r[1]});
                 if (h.even() && w.even()) return x(at);
                 return GuardedValue(x, b.input_shape(0), at,
                                     r[0] < h.Size(o[0]) && r[1] < w.Size(o[1]), neutral);
               });
  b.Output(0, [&](const Indices& i) {
    const Expr value = pool(i);
    if (kCombine == Combine::kMax) return value;
    const Indices o = layout.Space(i);
    return value / loop::MakeCast(value.type().dtype, h.Size(o[0]) * w.Size(o[1]));
  });
  return absl::OkStatus();
}

const AttrSchema kLayout = {"layout", AttrType::kString, "NCHW", false, "NCHW or NHWC"};
const AttrSchema kOutLayout = {"out_layout", AttrType::kString, "", false, "\"\" or layout"};

OpDef Global(std::string name, std::string doc, absl::Status (*lower)(StageBuilder&),
             double expected) {
  return {{.name = std::move(name),
           .doc = std::move(doc),
           .inputs = {{"data", "as layout"}},
           .attrs = {kLayout, kOutLayout}},
          {"data holds numbers", "layout is NCHW or NHWC, and out_layout is \"\" or the same",
           "data has rank 4", "there is one window", "data has a place"},
          Fusion::kReduction,
          Infer,
          lower,
          {Case({Iota(F32({1, 1, 3, 3}))}, {}, {Values(F32({1, 1, 1, 1}), {expected})}),
           {.inputs = {F32({2, 3, 4, 5})}},
           {.inputs = {F32({1, 4, 3, 18})}, .attrs = {{"layout", "NHWC"}}},
           {.inputs = {F16({1, 2, 3, 3})}}}};
}

OpDef Adaptive(std::string name, std::string doc, absl::Status (*lower)(StageBuilder&),
               const std::vector<double>& expected) {
  return {
      {.name = std::move(name),
       .doc = std::move(doc),
       .inputs = {{"data", "as layout"}},
       .attrs = {{"output_size", AttrType::kInts, AttrValue::Ints({}), false,
                  "windows per dimension; [] is as many as places"},
                 kLayout,
                 kOutLayout}},
      {"data holds numbers", "layout is NCHW or NHWC, and out_layout is \"\" or the same",
       "data has rank 4", "output_size is positive, of at most two numbers", "data has a place"},
      Fusion::kReduction,
      Infer,
      lower,
      {Case({Iota(F32({1, 1, 3, 3}))}, {{"output_size", AttrValue::Ints({2, 2})}},
            {Values(F32({1, 1, 2, 2}), expected)}),
       {.inputs = {F32({1, 2, 6, 4})}, .attrs = {{"output_size", AttrValue::Ints({3, 2})}}},
       {.inputs = {F32({1, 7, 5, 3})},
        .attrs = {{"output_size", AttrValue::Ints({3, 4})}, {"layout", "NHWC"}}},
       {.inputs = {F32({1, 2, 2, 3})}, .attrs = {{"output_size", 5}}},
       {.inputs = {F32({1, 2, 2, 3})}}}};
}

const OpDef kGlobalPools[] = {
    Global("nn.global_max_pool2d", "The largest value of each channel.", Lower<Combine::kMax>, 8),
    Global("nn.global_avg_pool2d", "The mean of each channel.", Lower<Combine::kSum>, 4),
    Adaptive("nn.adaptive_max_pool2d",
             "The largest value of each of output_size windows: window o of n over w places runs "
             "from floor(o w / n) to ceil((o + 1) w / n).",
             Lower<Combine::kMax>, {4, 5, 7, 8}),
    Adaptive("nn.adaptive_avg_pool2d",
             "The mean of each of output_size windows: window o of n over w places runs from "
             "floor(o w / n) to ceil((o + 1) w / n).",
             Lower<Combine::kSum>, {2, 3, 5, 6}),
};
KILN_REGISTER_OPS(kGlobalPools);

}  // namespace
}  // namespace kiln
