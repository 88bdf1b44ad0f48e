// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compiler/base/status.h"
#include "compiler/loop/math.h"
#include "compiler/ops/add_op.h"
#include "compiler/ops/axes.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/make.h"

namespace kiln {
namespace {

InferResult InferBatchNorm(const InferContext& c) {
  const TensorType& data = c.inputs[0];
  KILN_CONSTRAINT(1, data.dtype.is_float(), data.dtype.ToString(), "floats");
  KILN_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(c.attrs.Int("axis"), data.rank(), 2));
  const TensorType channel{{data.shape[static_cast<size_t>(axis)]}, data.dtype};
  for (size_t k = 1; k < c.inputs.size(); ++k) {
    KILN_CONSTRAINT(3, c.inputs[k] == channel,
                    absl::StrCat("input ", k, " of ", c.inputs[k].ToString()), channel.ToString());
  }
  return OutputTypes({data, channel, channel});
}

absl::Status LowerBatchNorm(StageBuilder& b) {
  const size_t axis = AxisOf(b.attrs().Int("axis"), b.input_shape(0).size());
  const bool center = b.attrs().Bool("center"), has_scale = b.attrs().Bool("scale");
  const double epsilon = b.attrs().Float("epsilon");
  const Access x = b.Input(0), gamma = b.Input(1), beta = b.Input(2), mean = b.Input(3),
               variance = b.Input(4);
  const Access scale = b.Compute("scale", b.input_shape(3), [&](const Indices& i) {
    const Expr v = variance(i);
    const Expr reciprocal = loop::Rsqrt(v + loop::Const(v.type(), epsilon));
    return has_scale ? reciprocal * gamma(i) : reciprocal;
  });
  const Access shift = b.Compute("shift", b.input_shape(3), [&](const Indices& i) {
    const Expr back = -mean(i) * scale(i);
    return center ? back + beta(i) : back;
  });
  b.Output(0, [=](const Indices& i) { return x(i) * scale({i[axis]}) + shift({i[axis]}); });
  b.Output(1, mean);
  b.Output(2, variance);
  return absl::OkStatus();
}

// data * scale + shift, if all inputs but data are constants, so that the scale can fold into
// earlier operators. 16-bit floats are left as they are: scale and shift would be rounded.
absl::StatusOr<std::vector<ValueId>> ScaleAndShift(Graph& graph, const Node& node,
                                                   const std::vector<ValueId>& inputs) {
  const bool constant = std::all_of(inputs.begin() + 1, inputs.end(),
                                    [&](ValueId v) { return graph.is_constant(v); });
  const TensorType data = graph.type(inputs[0]);
  const DType dtype = data.dtype;
  if (!constant || dtype.bits == 16) return std::vector<ValueId>();
  const ValueId gamma = inputs[1], beta = inputs[2], mean = inputs[3], variance = inputs[4];
  const ValueId epsilon = graph.AddConstant(Tensor::Scalar(dtype, node.attrs.Float("epsilon")));
  KILN_ASSIGN_OR_RETURN(ValueId scale, AddOp(graph, "add", {variance, epsilon}));
  KILN_ASSIGN_OR_RETURN(scale, AddOp(graph, "sqrt", {scale}));
  const ValueId one = graph.AddConstant(Tensor::Scalar(dtype, 1));
  KILN_ASSIGN_OR_RETURN(scale,
                        AddOp(graph, "divide", {node.attrs.Bool("scale") ? gamma : one, scale}));
  KILN_ASSIGN_OR_RETURN(ValueId shift, MakeProduct(graph, mean, scale));
  if (node.attrs.Bool("center")) {
    KILN_ASSIGN_OR_RETURN(shift, AddOp(graph, "subtract", {beta, shift}));
  } else {
    KILN_ASSIGN_OR_RETURN(shift, AddOp(graph, "negative", {shift}));
  }
  const auto axis = static_cast<int64_t>(AxisOf(node.attrs.Int("axis"), data.shape.size()));
  KILN_ASSIGN_OR_RETURN(scale, MakeAlongAxis(graph, scale, data.rank(), axis));
  KILN_ASSIGN_OR_RETURN(shift, MakeAlongAxis(graph, shift, data.rank(), axis));
  KILN_ASSIGN_OR_RETURN(ValueId y, MakeProduct(graph, inputs[0], scale, node.source));
  KILN_ASSIGN_OR_RETURN(y, AddOp(graph, "add", {y, shift}, {}, node.source));
  return std::vector<ValueId>{y, mean, variance};
}

Tensor Pair(double a, double b) { return Values(F32({2}), {a, b}); }

const OpDef kBatchNorm = {
    {.name = "nn.batch_norm",
     .doc = "(data - moving_mean) / sqrt(moving_var + epsilon) * gamma + beta, where the four "
            "vectors are read at the index along the axis. The other two results are moving_mean "
            "and moving_var, unchanged.",
     .inputs = {{"data", "floats of rank 1 or more"},
                {"gamma", "(extent of the axis,)"},
                {"beta", "(extent of the axis,)"},
                {"moving_mean", "(extent of the axis,)"},
                {"moving_var", "(extent of the axis,)"}},
     .attrs = {{"axis", AttrType::kInt, 1, false, "axis of the channels"},
               {"epsilon", AttrType::kFloat, 1e-5, false, "number added to the variance"},
               {"center", AttrType::kBool, true, false, "true if beta is added"},
               {"scale", AttrType::kBool, true, false,
                "true if the result is multiplied by gamma"}},
     .num_outputs = [](const Attrs&, size_t) -> absl::StatusOr<int> { return 3; }},
    {"data holds floats", "axis is an axis of data",
     "the other inputs are vectors of data's dtype with one value per index of the axis"},
    {.fusion = Fusion::kOpaque, .layout = {LayoutRule::kAxis, "axis"}, .canonical = ScaleAndShift},
    InferBatchNorm,
    LowerBatchNorm,
    {Case({Values(F32({1, 2}), {3, 5}), Pair(2, 1), Pair(1, 0), Pair(1, 1), Pair(4, 0.25)},
          {{"epsilon", 0.0}}, {Values(F32({1, 2}), {3, 8}), Pair(1, 1), Pair(4, 0.25)}, 1e-6),
     Case({Values(F32({1, 2}), {3, 5}), Pair(2, 1), Pair(1, 0), Pair(1, 1), Pair(4, 0.25)},
          {{"axis", -1}, {"epsilon", 0.0}, {"center", false}, {"scale", false}},
          {Values(F32({1, 2}), {1, 8}), Pair(1, 1), Pair(4, 0.25)}, 1e-6),
     {.inputs = {F32({2, 3, 4, 4}), F32({3}), F32({3}), F32({3}), F32({3})}, .input_min = 0.1},
     {.inputs = {F16({2, 4, 3}), F16({3}), F16({3}), F16({3}), F16({3})},
      .attrs = {{"axis", 2}},
      .input_min = 0.1}},
};
KILN_REGISTER_OP(kBatchNorm);

}  // namespace
}  // namespace kiln
