// SPDX-License-Identifier: Apache-2.0
// nn.layer_norm, nn.instance_norm, nn.group_norm: data is normalized to mean 0 and variance 1 over
// some of its places, then scaled and shifted. The operators differ in these places:
//   layer_norm     along the axis
//   instance_norm  over all dimensions but the first and the axis
//   group_norm     over all dimensions but the first, the axis in num_groups parts
#include "compiler/base/limits.h"
#include "compiler/loop/math.h"
#include "compiler/ops/axes.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/reindex.h"

namespace kiln {
namespace {

using loop::Combine;

// Checks constraints 1 to 3.
absl::Status CheckInputs(const InferContext& c) {
  const TensorType& data = c.inputs[0];
  KILN_CONSTRAINT(1, data.dtype.is_float(), data.dtype.ToString(), "floats");
  KILN_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(c.attrs.Int("axis"), data.rank(), 2));
  const TensorType channel{{data.shape[static_cast<size_t>(axis)]}, data.dtype};
  for (size_t k = 1; k < 3; ++k) {
    KILN_CONSTRAINT(3, c.inputs[k] == channel,
                    absl::StrCat("input ", k, " of ", c.inputs[k].ToString()), channel.ToString());
  }
  return absl::OkStatus();
}

InferResult InferLayerNorm(const InferContext& c) {
  KILN_RETURN_IF_ERROR(CheckInputs(c));
  return OutputTypes({c.inputs[0]});
}

// Axis 0 is the batch.
InferResult InferInstanceNorm(const InferContext& c) {
  KILN_RETURN_IF_ERROR(CheckInputs(c));
  KILN_CONSTRAINT(4, AxisOf(c.attrs.Int("axis"), c.inputs[0].shape.size()) != 0, "axis 0",
                  "an axis behind the first");
  return OutputTypes({c.inputs[0]});
}

InferResult InferGroupNorm(const InferContext& c) {
  KILN_RETURN_IF_ERROR(CheckInputs(c));
  const size_t axis = AxisOf(c.attrs.Int("axis"), c.inputs[0].shape.size());
  KILN_CONSTRAINT(4, axis != 0, "axis 0", "an axis behind the first");
  const int64_t groups = c.attrs.Int("num_groups"), channels = c.inputs[0].shape[axis];
  KILN_CONSTRAINT(5, groups >= 1 && channels % groups == 0, absl::StrCat("num_groups ", groups),
                  absl::StrCat("a divisor of ", channels, " channels"));
  KILN_CONSTRAINT(6, c.inputs[0].rank() < kMaxRank, ShapeToString(c.inputs[0].shape),
                  absl::StrCat("a rank below ", kMaxRank));
  return OutputTypes({c.inputs[0]});
}

// Normalizes over the dimensions that are `reduced`. `shape` is a reshape of data's shape.
void Normalize(StageBuilder& b, const Shape& shape, const std::vector<bool>& reduced) {
  const Shape data_shape = b.input_shape(0);
  const size_t axis = AxisOf(b.attrs().Int("axis"), data_shape.size());
  const bool center = b.attrs().Bool("center"), has_scale = b.attrs().Bool("scale");
  const double epsilon = b.attrs().Float("epsilon");
  const Access input = b.Input(0), gamma = b.Input(1), beta = b.Input(2);
  const Access x = [=](const Indices& i) { return input(Reindexed(i, shape, data_shape)); };
  const Shape rows = ReducedShape(shape, reduced, false),
              extents = ReductionExtents(shape, reduced);
  const Expr count =
      loop::Const(ComputeType(b.input_dtype(0)), static_cast<double>(NumElements(extents)));
  const Access sum = b.Reduce(
      "sum", rows, extents, Combine::kSum,
      [&](const Indices& i, const Indices& r) { return x(UnreducedIndex(i, r, reduced, false)); });
  const Access mean = b.Compute("mean", rows, [&](const Indices& i) { return sum(i) / count; });
  const Access squares =
      b.Reduce("squares", rows, extents, Combine::kSum, [&](const Indices& i, const Indices& r) {
        const Expr distance = x(UnreducedIndex(i, r, reduced, false)) - mean(i);
        return distance * distance;
      });
  const Access scale = b.Compute("scale", rows, [&](const Indices& i) {
    return loop::Rsqrt(squares(i) / count + loop::Const(count.type(), epsilon));
  });
  b.Output(0, [=](const Indices& i) {
    const Indices row = ReducedIndex(Reindexed(i, data_shape, shape), reduced);
    Expr value = (input(i) - mean(row)) * scale(row);
    if (has_scale) value = value * gamma({i[axis]});
    return center ? value + beta({i[axis]}) : value;
  });
}

absl::Status LowerLayerNorm(StageBuilder& b) {
  const Shape& shape = b.input_shape(0);
  std::vector<bool> reduced(shape.size());
  reduced[AxisOf(b.attrs().Int("axis"), shape.size())] = true;
  Normalize(b, shape, reduced);
  return absl::OkStatus();
}

absl::Status LowerInstanceNorm(StageBuilder& b) {
  const Shape& shape = b.input_shape(0);
  std::vector<bool> reduced(shape.size(), true);
  reduced[0] = false;
  reduced[AxisOf(b.attrs().Int("axis"), shape.size())] = false;
  Normalize(b, shape, reduced);
  return absl::OkStatus();
}

absl::Status LowerGroupNorm(StageBuilder& b) {
  Shape shape = b.input_shape(0);
  const size_t axis = AxisOf(b.attrs().Int("axis"), shape.size());
  const int64_t groups = b.attrs().Int("num_groups");
  shape[axis] /= groups;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), groups);
  std::vector<bool> reduced(shape.size(), true);
  reduced[0] = false;
  reduced[axis] = false;
  Normalize(b, shape, reduced);
  return absl::OkStatus();
}

OpDef MomentNorm(std::string name, std::string doc, int axis,
                 InferResult (*infer)(const InferContext&), absl::Status (*lower)(StageBuilder&),
                 std::vector<std::string> constraints, std::vector<OpExample> examples) {
  std::vector<AttrSchema> attrs;
  if (name == "nn.group_norm")
    attrs.push_back({"num_groups", AttrType::kInt, 0, false, "number of parts of the channels"});
  attrs.push_back({"axis", AttrType::kInt, axis, false, "axis of the channels"});
  attrs.push_back({"epsilon", AttrType::kFloat, 1e-5, false, "number added to the variance"});
  attrs.push_back({"center", AttrType::kBool, true, false, "true if beta is added"});
  attrs.push_back(
      {"scale", AttrType::kBool, true, false, "true if the result is multiplied by gamma"});
  std::vector<std::string> all = {
      "data holds floats", "axis is an axis of data",
      "gamma and beta are vectors of data's dtype with one value per index of the axis"};
  all.insert(all.end(), constraints.begin(), constraints.end());
  return {{.name = std::move(name),
           .doc = std::move(doc),
           .inputs = {{"data", "floats"},
                      {"gamma", "(extent of the axis,)"},
                      {"beta", "(extent of the axis,)"}},
           .attrs = std::move(attrs)},
          std::move(all),
          {.fusion = Fusion::kReduction, .layout = {LayoutRule::kAxis, "axis"}},
          infer,
          lower,
          std::move(examples)};
}

const OpDef kMomentNorms[] = {
    MomentNorm("nn.layer_norm",
               "(data - mean) / sqrt(variance + epsilon) * gamma + beta, with the mean and "
               "variance along the axis.",
               -1, InferLayerNorm, LowerLayerNorm, {},
               {Case({Values(F32({2, 2}), {1, 3, -2, 8}), Values(F32({2}), {1, 2}),
                      Values(F32({2}), {0, 1})},
                     {{"epsilon", 0.0}}, {Values(F32({2, 2}), {-1, 3, -1, 3})}, 1e-6),
                {.inputs = {F32({3, 20}), F32({20}), F32({20})}},
                {.inputs = {F32({2, 3, 4}), F32({3}), F32({3})},
                 .attrs = {{"axis", 1}, {"center", false}}},
                {.inputs = {F16({2, 6}), F16({6}), F16({6})}, .attrs = {{"scale", false}}}}),
    MomentNorm("nn.instance_norm",
               "(data - mean) / sqrt(variance + epsilon) * gamma + beta, with the mean and "
               "variance over all dimensions except the first and the axis.",
               1, InferInstanceNorm, LowerInstanceNorm, {"axis is not the first"},
               {Case({Values(F32({1, 2, 2}), {1, 3, -2, 8}), Values(F32({2}), {1, 2}),
                      Values(F32({2}), {0, 1})},
                     {{"epsilon", 0.0}}, {Values(F32({1, 2, 2}), {-1, 1, -1, 3})}, 1e-6),
                {.inputs = {F32({2, 3, 4, 5}), F32({3}), F32({3})}},
                {.inputs = {F32({2, 3, 4, 5}), F32({5}), F32({5})}, .attrs = {{"axis", -1}}}}),
    MomentNorm(
        "nn.group_norm",
        "(data - mean) / sqrt(variance + epsilon) * gamma + beta, with the mean and variance over "
        "all dimensions except the first, for each of num_groups parts of the axis.",
        1, InferGroupNorm, LowerGroupNorm,
        {"axis is not the first", "num_groups is positive and divides the extent of the axis",
         "the rank of data is below the limit"},
        {Case({Values(F32({1, 2, 1}), {1, 3}), Values(F32({2}), {1, 2}), Values(F32({2}), {0, 1})},
              {{"num_groups", 1}, {"epsilon", 0.0}}, {Values(F32({1, 2, 1}), {-1, 3})}, 1e-6),
         {.inputs = {F32({2, 6, 3, 3}), F32({6}), F32({6})}, .attrs = {{"num_groups", 3}}},
         {.inputs = {F32({2, 3, 4}), F32({4}), F32({4})},
          .attrs = {{"num_groups", 2}, {"axis", 2}}}}),
};
KILN_REGISTER_OPS(kMomentNorms);

}  // namespace
}  // namespace kiln
