// SPDX-License-Identifier: Apache-2.0
// nn.max_pool1d to 3d, nn.avg_pool1d to 3d.
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/window.h"

namespace kiln {
namespace {

using loop::Combine;

struct Pool {
  DataLayout layout;
  Window window;
};

absl::StatusOr<Pool> MakePool(const Attrs& attrs, const TensorType& data, int spatial) {
  Pool pool;
  KILN_CONSTRAINT(1, IsNumeric(data.dtype), data.dtype.ToString(), "numbers");
  KILN_ASSIGN_OR_RETURN(pool.layout, ParseDataLayout(attrs, "layout", spatial, 2));
  KILN_CONSTRAINT(3, data.rank() == spatial + 2, ShapeToString(data.shape),
                  absl::StrCat("rank ", spatial + 2));
  KILN_ASSIGN_OR_RETURN(pool.window,
                        MakeWindow(attrs, pool.layout.Space(data.shape), attrs.Ints("pool_size"),
                                   attrs.Bool("ceil_mode"), 4));
  KILN_RETURN_IF_ERROR(CheckPadded(pool.layout, data, pool.window, 6));
  return pool;
}

template <int kSpatial>
InferResult Infer(const InferContext& c) {
  KILN_ASSIGN_OR_RETURN(const Pool pool, MakePool(c.attrs, c.inputs[0], kSpatial));
  const Shape& data = c.inputs[0].shape;
  return OutputTypes(
      {{pool.layout.Order(data[0], data[pool.layout.channel_dim()], Outs(pool.window)),
        c.inputs[0].dtype}});
}

absl::StatusOr<Pool> PoolOf(const StageBuilder& b, int spatial) {
  return MakePool(b.attrs(), {b.input_shape(0), b.input_dtype(0)}, spatial);
}

// The window reduced with `combine`; padding is neutral.
Access ReduceWindows(StageBuilder& b, const Pool& pool, Combine combine) {
  const Access x = Padded(b, b.Input(0), pool.layout, b.input_shape(0), pool.window,
                          Neutral(combine, ComputeType(b.input_dtype(0))));
  const size_t channel = pool.layout.channel_dim();
  return b.Reduce(
      "pool", b.output_shape(0), Taps(pool.window), combine,
      [&](const Indices& i, const Indices& r) {
        return x(pool.layout.Order(i[0], i[channel], Places(pool.window, pool.layout.Space(i), r)));
      });
}

template <int kSpatial>
absl::Status LowerMax(StageBuilder& b) {
  KILN_ASSIGN_OR_RETURN(const Pool pool, PoolOf(b, kSpatial));
  b.Output(0, ReduceWindows(b, pool, Combine::kMax));
  return absl::OkStatus();
}

// Taps of window `o` that count: those in data, or those in data and its padding; at least one.
Expr CountTaps(const WindowDim& d, const Expr& o, bool include_pad) {
  const bool all_in_data = !d.reads_padding();
  const bool all_in_padding = d.covered() <= d.pad_before + d.extent + d.pad_after;
  if (all_in_data || (include_pad && all_in_padding)) return Expr(d.taps);
  // Places up to a bound hold (bound + dilation - 1) / dilation taps.
  const auto taps_below = [&](const Expr& bound) {
    return (Max(bound, Expr(0)) + Expr(d.dilation - 1)) / Expr(d.dilation);
  };
  const Expr start = o * Expr(d.stride) - Expr(d.pad_before);
  const Expr end = Expr(d.extent + (include_pad ? d.pad_after : 0)) - start;
  const Expr first = include_pad ? Expr(0) : taps_below(-start);
  return Max(Min(taps_below(end), Expr(d.taps)) - first, Expr(1));
}

template <int kSpatial>
absl::Status LowerAvg(StageBuilder& b) {
  KILN_ASSIGN_OR_RETURN(const Pool pool, PoolOf(b, kSpatial));
  const bool include_pad = b.attrs().Bool("count_include_pad");
  const Access sum = ReduceWindows(b, pool, Combine::kSum);
  b.Output(0, [&](const Indices& i) {
    const Indices o = pool.layout.Space(i);
    Expr count = 1;
    for (size_t d = 0; d < o.size(); ++d)
      count = count * CountTaps(pool.window[d], o[d], include_pad);
    const Expr total = sum(i);
    return total / loop::MakeCast(total.type().dtype, count);
  });
  return absl::OkStatus();
}

constexpr absl::string_view kMaxDoc = "The largest value of each window; padding does not count.";
constexpr absl::string_view kAvgDoc =
    "The mean of each window. Padding counts as zeros with count_include_pad, else not at all.";

OpDef PoolOp(std::string name, int spatial, bool average, InferResult (*infer)(const InferContext&),
             absl::Status (*lower)(StageBuilder&), std::vector<OpExample> examples) {
  const AttrValue ones = AttrValue::Ints(std::vector<int64_t>(static_cast<size_t>(spatial), 1));
  const AttrValue zeros = AttrValue::Ints(std::vector<int64_t>(static_cast<size_t>(spatial), 0));
  std::vector<AttrSchema> attrs = {
      {"pool_size", AttrType::kInts, {}, true, "extents of a window"},
      {"strides", AttrType::kInts, ones, false, "places from window to window"},
      {"dilation", AttrType::kInts, ones, false, "places from tap to tap"},
      {"padding", AttrType::kInts, zeros, false,
       "around data: one for all sides, one per dimension, or all before and all behind"},
      {"layout", AttrType::kString, ChannelsFirst(spatial), false, DataLayoutNames(spatial)},
      {"out_layout", AttrType::kString, "", false, "\"\" or layout"},
      {"ceil_mode", AttrType::kBool, false, false,
       "a last window may hang over the end, unless it begins there"}};
  if (average)
    attrs.push_back({"count_include_pad", AttrType::kBool, false, false, "padding counts"});
  return {{.name = std::move(name),
           .doc = std::string(average ? kAvgDoc : kMaxDoc),
           .inputs = {{"data", "as layout"}},
           .attrs = std::move(attrs)},
          {"data holds numbers", "layout is one of those named, and out_layout is \"\" or the same",
           "data has the rank of the layout",
           "pool_size, strides and dilation are positive, padding is not negative, one value per "
           "dimension (padding: 1, per dimension, or per side)",
           "at least one window fits into the padded data",
           "the padded data is a tensor within the limits"},
          Fusion::kReduction,
          infer,
          lower,
          std::move(examples)};
}

AttrValue List(const std::vector<int64_t>& values) { return AttrValue::Ints(values); }

// Cases that both kinds of pooling share.
std::vector<OpExample> With1d(std::vector<OpExample> cases) {
  cases.push_back({.inputs = {F32({2, 3, 9})}, .attrs = {{"pool_size", 3}, {"strides", 2}}});
  cases.push_back(
      {.inputs = {F32({1, 9, 3})}, .attrs = {{"pool_size", 2}, {"padding", 1}, {"layout", "NWC"}}});
  return cases;
}
std::vector<OpExample> With2d(std::vector<OpExample> cases) {
  cases.push_back({.inputs = {F32({1, 2, 6, 6})},
                   .attrs = {{"pool_size", List({2, 2})}, {"strides", List({2, 2})}}});
  cases.push_back({.inputs = {F32({1, 7, 7, 5})},
                   .attrs = {{"pool_size", List({3, 3})},
                             {"strides", List({2, 2})},
                             {"padding", List({1, 0, 2, 1})},
                             {"layout", "NHWC"}}});
  cases.push_back({.inputs = {F32({1, 1, 8, 9})},
                   .attrs = {{"pool_size", List({2, 3})},
                             {"strides", List({3, 2})},
                             {"dilation", List({2, 3})},
                             {"padding", List({1, 1})},
                             {"ceil_mode", true}}});
  cases.push_back({.inputs = {I8({1, 4, 4, 3})},
                   .attrs = {{"pool_size", List({2, 2})}, {"layout", "NHWC"}},
                   .input_min = -1,
                   .input_max = 1});
  cases.push_back({.inputs = {F16({1, 2, 4, 4})},
                   .attrs = {{"pool_size", List({2, 2})}, {"padding", List({1, 1})}}});
  return cases;
}

std::vector<OpExample> With3d(std::vector<OpExample> cases) {
  cases.push_back({.inputs = {F32({1, 2, 5, 4, 6})},
                   .attrs = {{"pool_size", List({2, 3, 2})},
                             {"strides", List({2, 1, 2})},
                             {"padding", List({1, 1, 0})},
                             {"dilation", List({1, 1, 2})},
                             {"ceil_mode", true}}});
  cases.push_back({.inputs = {F32({1, 4, 3, 5, 2})},
                   .attrs = {{"pool_size", List({2, 2, 2})}, {"layout", "NDHWC"}}});
  return cases;
}

Tensor Row(const std::vector<double>& values) {
  return Values(F32({1, 1, static_cast<int64_t>(values.size())}), values);
}

const OpDef kPools[] = {
    PoolOp("nn.max_pool1d", 1, false, Infer<1>, LowerMax<1>,
           With1d({Case({Row({-1, -2, -3, 4})}, {{"pool_size", 2}, {"padding", 1}},
                        {Row({-1, -1, -2, 4, 4})})})),
    PoolOp(
        "nn.max_pool2d", 2, false, Infer<2>, LowerMax<2>,
        With2d({Case({Iota(F32({1, 1, 3, 3}))},
                     {{"pool_size", List({2, 2})}, {"strides", List({2, 2})}, {"ceil_mode", true}},
                     {Values(F32({1, 1, 2, 2}), {4, 5, 7, 8})}),
                Case({Values(U8({1, 2, 2, 1}), {1, 200, 3, 4})},
                     {{"pool_size", List({2, 2})}, {"layout", "NHWC"}},
                     {Values(U8({1, 1, 1, 1}), {200})})})),
    PoolOp("nn.max_pool3d", 3, false, Infer<3>, LowerMax<3>,
           With3d({Case({Iota(F32({1, 1, 2, 2, 2}))}, {{"pool_size", List({2, 1, 2})}},
                        {Values(F32({1, 1, 1, 2, 1}), {5, 7})})})),
    PoolOp("nn.avg_pool3d", 3, true, Infer<3>, LowerAvg<3>,
           With3d({Case({Iota(F32({1, 1, 2, 2, 2}))}, {{"pool_size", List({2, 1, 2})}},
                        {Values(F32({1, 1, 1, 2, 1}), {2.5, 4.5})})})),
    PoolOp(
        "nn.avg_pool1d", 1, true, Infer<1>, LowerAvg<1>,
        With1d(
            {Case({Row({2, 4, 6, 8})}, {{"pool_size", 2}, {"strides", 2}, {"padding", 1}},
                  {Row({2, 5, 8})}),
             Case({Row({2, 4, 6, 8})},
                  {{"pool_size", 2}, {"strides", 2}, {"padding", 1}, {"count_include_pad", true}},
                  {Row({1, 5, 4})})})),
    PoolOp(
        "nn.avg_pool2d", 2, true, Infer<2>, LowerAvg<2>,
        With2d({Case({Iota(F32({1, 1, 3, 3}))},
                     {{"pool_size", List({2, 2})}, {"strides", List({2, 2})}, {"ceil_mode", true}},
                     {Values(F32({1, 1, 2, 2}), {2, 3.5, 6.5, 8})}),
                Case({Iota(F32({1, 1, 3, 3}))},
                     {{"pool_size", List({2, 2})},
                      {"strides", List({2, 2})},
                      {"ceil_mode", true},
                      {"count_include_pad", true}},
                     {Values(F32({1, 1, 2, 2}), {2, 3.5, 6.5, 8})})})),
};
KILN_REGISTER_OPS(kPools);

}  // namespace
}  // namespace kiln
