// SPDX-License-Identifier: Apache-2.0
// nn.global_max_pool2d, nn.global_avg_pool2d, nn.adaptive_max_pool1d to 3d, nn.adaptive_avg_pool1d
// to 3d: pooling with a given number of windows instead of given extents. Window o of `outs` over
// `extent` places runs from floor(o * extent / outs) to ceil((o + 1) * extent / outs).
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/window.h"

namespace kiln {
namespace {

using loop::Combine;

// Keeps the product of a window's number and an extent within the range of an index.
constexpr int64_t kMaxWindows = int64_t{1} << 28;

// Number of windows per dimension: 1 without the attribute output_size. An output_size of [] means
// one window per place, a single number applies to all dimensions.
absl::StatusOr<std::vector<int64_t>> AdaptiveSize(const Attrs& attrs,
                                                  const std::vector<int64_t>& space) {
  if (!attrs.Has("output_size")) return std::vector<int64_t>(space.size(), 1);
  std::vector<int64_t> size = attrs.Ints("output_size");
  if (size.empty()) return space;
  if (size.size() == 1) size.resize(space.size(), size[0]);
  const bool in_range =
      std::all_of(size.begin(), size.end(), [](int64_t v) { return v >= 1 && v <= kMaxWindows; });
  KILN_CONSTRAINT(
      4, size.size() == space.size() && in_range,
      absl::StrCat("output_size ", attrs.Get("output_size").ToString()),
      absl::StrCat(space.size(), " numbers from 1 to ", kMaxWindows, ", or one, or none"));
  return size;
}

template <int kSpatial>
InferResult InferGlobalPool(const InferContext& c) {
  const TensorType& data = c.inputs[0];
  KILN_CONSTRAINT(1, IsNumeric(data.dtype), data.dtype.ToString(), "numbers");
  KILN_ASSIGN_OR_RETURN(const DataLayout layout, ParseDataLayout(c.attrs, "layout", kSpatial, 2));
  KILN_CONSTRAINT(3, data.rank() == kSpatial + 2, ShapeToString(data.shape),
                  absl::StrCat("rank ", kSpatial + 2));
  const std::vector<int64_t> space = layout.Space(data.shape);
  KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> outs, AdaptiveSize(c.attrs, space));
  KILN_CONSTRAINT(5, std::all_of(space.begin(), space.end(), [](int64_t n) { return n >= 1; }),
                  ShapeToString(data.shape), "at least one place to choose from");
  return OutputTypes(
      {{layout.Order(data.shape[0], data.shape[layout.channel_dim()], outs), data.dtype}});
}

struct AdaptiveDim {
  int64_t extent, outs;

  bool even() const { return extent % outs == 0; }
  // Number of places in the largest window.
  int64_t taps() const { return even() ? extent / outs : std::min(extent, extent / outs + 2); }
  Expr Start(const Expr& o) const {
    return even() ? o * Expr(extent / outs) : o * Expr(extent) / Expr(outs);
  }
  Expr Size(const Expr& o) const {
    if (even()) return Expr(extent / outs);
    return ((o + Expr(1)) * Expr(extent) + Expr(outs - 1)) / Expr(outs) - Start(o);
  }
};

template <int kSpatial, Combine kCombine>
absl::Status LowerGlobalPool(StageBuilder& b) {
  const DataLayout layout = DataLayoutOf(b.attrs(), "layout", kSpatial);
  const std::vector<int64_t> space = layout.Space(b.input_shape(0)),
                             outs = layout.Space(b.output_shape(0));
  std::vector<AdaptiveDim> dims;
  Shape taps;
  bool even = true;
  for (size_t k = 0; k < space.size(); ++k) {
    dims.push_back({space[k], outs[k]});
    taps.push_back(dims[k].taps());
    even = even && dims[k].even();
  }
  const Access x = b.Input(0);
  const Expr neutral = Neutral(kCombine, ComputeType(b.input_dtype(0)));
  const Access pool =
      b.Reduce("pool", b.output_shape(0), taps, kCombine, [&](const Indices& i, const Indices& r) {
        const Indices o = layout.Space(i);
        Indices places;
        Expr inside;
        for (size_t k = 0; k < dims.size(); ++k) {
          places.push_back(dims[k].Start(o[k]) + r[k]);
          const Expr own = r[k] < dims[k].Size(o[k]);
          inside = inside ? inside && own : own;
        }
        const Indices at = layout.Order<Expr>(i[0], i[layout.channel_dim()], places);
        return even ? x(at) : GuardedValue(x, b.input_shape(0), at, inside, neutral);
      });
  b.Output(0, [&](const Indices& i) {
    const Expr value = pool(i);
    if (kCombine == Combine::kMax) return value;
    const Indices o = layout.Space(i);
    Expr count = 1;
    for (size_t k = 0; k < dims.size(); ++k) count = count * dims[k].Size(o[k]);
    return value / loop::MakeCast(value.type().dtype, count);
  });
  return absl::OkStatus();
}

AttrSchema Layout(int spatial) {
  return {"layout", AttrType::kString, ChannelsFirst(spatial), false, DataLayoutNames(spatial)};
}
const AttrSchema kOutLayout = {"out_layout", AttrType::kString, "", false, "\"\" or layout"};

constexpr Origin OriginOf(Combine combine) {
  return combine == Combine::kMax ? Origin::kChosen : Origin::kComputed;
}

template <Combine kCombine>
OpDef Global(std::string name, std::string doc, double expected) {
  return {{.name = std::move(name),
           .doc = std::move(doc),
           .inputs = {{"data", "dimensions as layout says"}},
           .attrs = {Layout(2), kOutLayout}},
          {"data holds numbers", "layout is NCHW or NHWC, and out_layout is \"\" or the same",
           "data has rank 4", "there is one window", "data has at least one position"},
          {.fusion = Fusion::kReduction,
           .layout = {LayoutRule::kNamed, "layout"},
           .origin = OriginOf(kCombine)},
          InferGlobalPool<2>,
          LowerGlobalPool<2, kCombine>,
          {Case({Iota(F32({1, 1, 3, 3}))}, {}, {Values(F32({1, 1, 1, 1}), {expected})}),
           {.inputs = {F32({2, 3, 4, 5})}},
           {.inputs = {F32({1, 4, 3, 18})}, .attrs = {{"layout", "NHWC"}}},
           {.inputs = {F16({1, 2, 3, 3})}}}};
}

template <int kSpatial, Combine kCombine>
OpDef Adaptive(std::string name, std::string doc, std::vector<OpExample> examples) {
  return {{.name = std::move(name),
           .doc = doc + " of each of output_size windows. Window o of n over w positions runs from "
                        "floor(o w / n) to ceil((o + 1) w / n).",
           .inputs = {{"data", "dimensions as layout says"}},
           .attrs = {{"output_size", AttrType::kInts, AttrValue::Ints({}), false,
                      "windows per dimension; [] means one window per position"},
                     Layout(kSpatial),
                     kOutLayout}},
          {"data holds numbers",
           "layout is " + DataLayoutNames(kSpatial) + ", and out_layout is \"\" or the same",
           absl::StrCat("data has rank ", kSpatial + 2),
           "output_size has one positive number per dimension, one for all, or none",
           "data has at least one position"},
          {.fusion = Fusion::kReduction,
           .layout = {LayoutRule::kNamed, "layout"},
           .origin = OriginOf(kCombine)},
          InferGlobalPool<kSpatial>,
          LowerGlobalPool<kSpatial, kCombine>,
          std::move(examples)};
}

std::vector<OpExample> Examples1d(const std::vector<double>& expected) {
  return {Case({Iota(F32({1, 1, 3}))}, {{"output_size", 2}}, {Values(F32({1, 1, 2}), expected)}),
          {.inputs = {F32({2, 7, 3})}, .attrs = {{"output_size", 3}, {"layout", "NWC"}}}};
}
std::vector<OpExample> Examples2d(const std::vector<double>& expected) {
  return {Case({Iota(F32({1, 1, 3, 3}))}, {{"output_size", AttrValue::Ints({2, 2})}},
               {Values(F32({1, 1, 2, 2}), expected)}),
          {.inputs = {F32({1, 2, 6, 4})}, .attrs = {{"output_size", AttrValue::Ints({3, 2})}}},
          {.inputs = {F32({1, 7, 5, 3})},
           .attrs = {{"output_size", AttrValue::Ints({3, 4})}, {"layout", "NHWC"}}},
          {.inputs = {F32({1, 2, 2, 3})}, .attrs = {{"output_size", 5}}},
          {.inputs = {F32({1, 2, 2, 3})}}};
}
std::vector<OpExample> Examples3d(const std::vector<double>& expected) {
  return {Case({Iota(F32({1, 1, 3, 1, 2}))}, {{"output_size", AttrValue::Ints({2, 1, 1})}},
               {Values(F32({1, 1, 2, 1, 1}), expected)}),
          {.inputs = {F32({1, 4, 5, 3, 2})},
           .attrs = {{"output_size", AttrValue::Ints({2, 3, 3})}, {"layout", "NDHWC"}}},
          {.inputs = {F32({1, 2, 4, 2, 2})}, .attrs = {{"output_size", 1}}}};
}

const OpDef kGlobalPools[] = {
    Global<Combine::kMax>("nn.global_max_pool2d", "The largest value of each channel.", 8),
    Global<Combine::kSum>("nn.global_avg_pool2d", "The mean of each channel.", 4),
    Adaptive<1, Combine::kMax>("nn.adaptive_max_pool1d", "The largest value", Examples1d({1, 2})),
    Adaptive<2, Combine::kMax>("nn.adaptive_max_pool2d", "The largest value",
                               Examples2d({4, 5, 7, 8})),
    Adaptive<3, Combine::kMax>("nn.adaptive_max_pool3d", "The largest value", Examples3d({3, 5})),
    Adaptive<1, Combine::kSum>("nn.adaptive_avg_pool1d", "The mean", Examples1d({0.5, 1.5})),
    Adaptive<2, Combine::kSum>("nn.adaptive_avg_pool2d", "The mean", Examples2d({2, 3, 5, 6})),
    Adaptive<3, Combine::kSum>("nn.adaptive_avg_pool3d", "The mean", Examples3d({1.5, 3.5})),
};
KILN_REGISTER_OPS(kGlobalPools);

}  // namespace
}  // namespace kiln
