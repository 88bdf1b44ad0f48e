// SPDX-License-Identifier: Apache-2.0
// nn.max_pool1d to 3d, nn.avg_pool1d to 3d.
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/pooling.h"

namespace kiln {
namespace {

using loop::Combine;

template <int kSpatial>
InferResult InferPool(const InferContext& c) {
  KILN_ASSIGN_OR_RETURN(const Pool pool, MakePool(c.attrs, c.inputs[0], kSpatial));
  const Shape& data = c.inputs[0].shape;
  return OutputTypes(
      {{pool.layout.Order(data[0], data[pool.layout.channel_dim()], Outs(pool.window)),
        c.inputs[0].dtype}});
}

absl::StatusOr<Pool> PoolOf(const StageBuilder& b, int spatial) {
  return MakePool(b.attrs(), b.input_type(0), spatial);
}

template <int kSpatial>
absl::Status LowerMax(StageBuilder& b) {
  KILN_ASSIGN_OR_RETURN(const Pool pool, PoolOf(b, kSpatial));
  b.Output(0, ReduceWindows(b, pool, Combine::kMax, ComputeType(b.input_dtype(0))));
  return absl::OkStatus();
}

template <int kSpatial>
absl::Status LowerAvg(StageBuilder& b) {
  KILN_ASSIGN_OR_RETURN(const Pool pool, PoolOf(b, kSpatial));
  const bool include_pad = b.attrs().Bool("count_include_pad");
  const Access sum = ReduceWindows(b, pool, Combine::kSum, ComputeType(b.input_dtype(0)));
  b.Output(0, [&](const Indices& i) {
    const Expr total = sum(i);
    return total / loop::MakeCast(total.type().dtype, CountTaps(pool, i, include_pad));
  });
  return absl::OkStatus();
}

constexpr absl::string_view kMaxDoc =
    "The largest value of each window, or NaN if it holds a NaN. Padding does not count.";
constexpr absl::string_view kAvgDoc =
    "The mean of each window. Padding counts as zeros with count_include_pad, and otherwise does "
    "not count.";

OpDef PoolOp(std::string name, int spatial, bool average, InferResult (*infer)(const InferContext&),
             absl::Status (*lower)(StageBuilder&), std::vector<OpExample> examples) {
  std::vector<AttrSchema> attrs = PoolAttrs(spatial);
  if (average)
    attrs.push_back({"count_include_pad", AttrType::kBool, false, false, "true if padding counts"});
  return {{.name = std::move(name),
           .doc = std::string(average ? kAvgDoc : kMaxDoc),
           .inputs = {{"data", "dimensions as layout says"}},
           .attrs = std::move(attrs)},
          PoolConstraints(),
          {.fusion = Fusion::kReduction,
           .layout = {LayoutRule::kNamed, "layout"},
           .origin = average ? Origin::kComputed : Origin::kChosen},
          infer,
          lower,
          std::move(examples)};
}

// Adds cases that both kinds of pooling share.
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
    PoolOp("nn.max_pool1d", 1, false, InferPool<1>, LowerMax<1>,
           With1d({Case({Row({-1, -2, -3, 4})}, {{"pool_size", 2}, {"padding", 1}},
                        {Row({-1, -1, -2, 4, 4})})})),
    PoolOp(
        "nn.max_pool2d", 2, false, InferPool<2>, LowerMax<2>,
        With2d({Case({Iota(F32({1, 1, 3, 3}))},
                     {{"pool_size", List({2, 2})}, {"strides", List({2, 2})}, {"ceil_mode", true}},
                     {Values(F32({1, 1, 2, 2}), {4, 5, 7, 8})}),
                Case({Values(U8({1, 2, 2, 1}), {1, 200, 3, 4})},
                     {{"pool_size", List({2, 2})}, {"layout", "NHWC"}},
                     {Values(U8({1, 1, 1, 1}), {200})})})),
    PoolOp("nn.max_pool3d", 3, false, InferPool<3>, LowerMax<3>,
           With3d({Case({Iota(F32({1, 1, 2, 2, 2}))}, {{"pool_size", List({2, 1, 2})}},
                        {Values(F32({1, 1, 1, 2, 1}), {5, 7})})})),
    PoolOp("nn.avg_pool3d", 3, true, InferPool<3>, LowerAvg<3>,
           With3d({Case({Iota(F32({1, 1, 2, 2, 2}))}, {{"pool_size", List({2, 1, 2})}},
                        {Values(F32({1, 1, 1, 2, 1}), {2.5, 4.5})})})),
    PoolOp(
        "nn.avg_pool1d", 1, true, InferPool<1>, LowerAvg<1>,
        With1d(
            {Case({Row({2, 4, 6, 8})}, {{"pool_size", 2}, {"strides", 2}, {"padding", 1}},
                  {Row({2, 5, 8})}),
             Case({Row({2, 4, 6, 8})},
                  {{"pool_size", 2}, {"strides", 2}, {"padding", 1}, {"count_include_pad", true}},
                  {Row({1, 5, 4})})})),
    PoolOp(
        "nn.avg_pool2d", 2, true, InferPool<2>, LowerAvg<2>,
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
