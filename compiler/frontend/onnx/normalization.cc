// SPDX-License-Identifier: Apache-2.0
// Normalisation by means and variances.
#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/onnx/converter.h"
#include "compiler/frontend/onnx/formula.h"

namespace kiln::onnx_frontend {
namespace {

struct Moments {
  ValueId mean, variance;  // the reduced axes have extent 1
};
Moments MomentsOf(Formula& f, ValueId x, const std::vector<int64_t>& axes) {
  const ValueId mean = f.Reduce("mean", x, axes);
  const ValueId distance = f("subtract", {x, mean});
  return {mean, f.Reduce("mean", f("multiply", {distance, distance}), axes)};
}

// 1 / sqrt(x + epsilon)
ValueId InverseRoot(Formula& f, ValueId x, double epsilon) {
  return f("rsqrt", {f("add", {x, f.Number(epsilon, x)})});
}

std::vector<int64_t> AxesFrom(int64_t first, int rank) {
  std::vector<int64_t> axes;
  for (int64_t axis = first; axis < rank; ++axis) axes.push_back(axis);
  return axes;
}

// The statistics are of the batch, and what a training would keep of them: a blend with the old.
absl::Status BatchNormalizationInTraining(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  const int rank = c.type(x).rank();
  if (rank < 2) return Wrong("data", c.type(x).ToString(), "rank 2 or more");
  Shape channels(static_cast<size_t>(rank) - 1, 1);
  channels[0] = c.type(x).shape[1];
  std::vector<int64_t> axes = AxesFrom(1, rank);
  axes[0] = 0;  // all but the channels
  Formula f(c);
  const Moments m = MomentsOf(f, x, axes);
  const ValueId scale = f.Reshape(f.Input(1), channels), shift = f.Reshape(f.Input(2), channels);
  ValueId y = f("multiply",
                {f("subtract", {x, m.mean}), InverseRoot(f, m.variance, c.Float("epsilon", 1e-5))});
  y = f("add", {f("multiply", {y, scale}), shift});
  const double momentum = c.Float("momentum", 0.9);
  const auto blend = [&](int old, ValueId now) {
    const ValueId before = f.Input(old);
    now = f.Cast(f.Reshape(now, {channels[0]}), f.ok() ? c.type(before).dtype : DType());
    return f("add", {f("multiply", {before, f.Number(momentum, before)}),
                     f("multiply", {now, f.Number(1 - momentum, before)})});
  };
  if (c.node().output_size() > 1) KILN_RETURN_IF_ERROR(f.Output(1, blend(3, m.mean)));
  if (c.node().output_size() > 2) KILN_RETURN_IF_ERROR(f.Output(2, blend(4, m.variance)));
  return f.Output(0, y);
}

absl::Status BatchNormalization(Converter& c) {
  if (c.Int("training_mode", 0) != 0) return BatchNormalizationInTraining(c);
  std::vector<ValueId> inputs;
  for (int i = 0; i < 5; ++i) {
    KILN_ASSIGN_OR_RETURN(const ValueId input, c.Input(i));
    inputs.push_back(input);
  }
  KILN_ASSIGN_OR_RETURN(
      const std::vector<ValueId> y,
      c.TupleOp("nn.batch_norm", inputs, {{"axis", 1}, {"epsilon", c.Float("epsilon", 1e-5)}}));
  return c.Output(0, y[0]);
}

absl::Status LayerNormalization(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId scale, c.Input(1));
  const TensorType type = c.type(x);
  KILN_ASSIGN_OR_RETURN(const int64_t axis, NormalAxis(c.Int("axis", -1), type.rank()));
  const double epsilon = c.Float("epsilon", 1e-5);
  Formula f(c);
  if (c.node().output_size() > 1) {
    const Moments m = MomentsOf(f, x, AxesFrom(axis, type.rank()));
    KILN_RETURN_IF_ERROR(f.Output(1, m.mean));
    KILN_RETURN_IF_ERROR(f.Output(2, InverseRoot(f, m.variance, epsilon)));
  }
  // Several normalised dimensions are one long one.
  const Shape tail(type.shape.begin() + axis, type.shape.end());
  Shape flat(type.shape.begin(), type.shape.begin() + axis);
  flat.push_back(NumElements(tail));
  ValueId beta = c.HasInput(2) ? *c.Input(2) : c.Constant(Tensor::Filled({tail, type.dtype}, 0));
  beta = f.Reshape(beta, {flat.back()});
  const ValueId gamma = f.Reshape(scale, {flat.back()});
  const ValueId y =
      f("nn.layer_norm", {f.Reshape(x, flat), gamma, beta}, {{"axis", -1}, {"epsilon", epsilon}});
  return f.Output(0, f.Reshape(y, type.shape));
}

absl::Status InstanceNormalization(Converter& c) {
  Formula f(c);
  const ValueId x = f.Input(0), scale = f.Input(1), shift = f.Input(2);
  return f.Output(0, f("nn.instance_norm", {x, scale, shift},
                       {{"axis", 1}, {"epsilon", c.Float("epsilon", 1e-5)}}));
}

// Up to opset 20, scale and shift are of groups, from 21 on of channels.
absl::Status GroupNormalization(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  const int64_t groups = c.Int("num_groups", 0);
  const Shape shape = c.type(x).shape;
  if (shape.size() < 2 || groups < 1 || shape[1] % groups != 0) {
    return Wrong("num_groups", absl::StrCat(groups, " of ", c.type(x).ToString()),
                 "a divisor of the channels");
  }
  Formula f(c);
  const auto of_channels = [&](int i) {
    const ValueId value = f.Input(i);
    if (!f.ok() || c.opset() >= 21) return value;
    return f("repeat", {value}, {{"repeats", shape[1] / groups}, {"axis", 0}});
  };
  const ValueId scale = of_channels(1), shift = of_channels(2);
  return f.Output(0, f("nn.group_norm", {x, scale, shift},
                       {{"num_groups", groups}, {"epsilon", c.Float("epsilon", 1e-5)}}));
}

absl::Status RmsNormalization(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  const int rank = c.type(x).rank();
  KILN_ASSIGN_OR_RETURN(const int64_t axis, NormalAxis(c.Int("axis", -1), rank));
  Formula f(c);
  const ValueId squares = f.Reduce("mean", f("multiply", {x, x}), AxesFrom(axis, rank));
  const ValueId y = f("multiply", {x, InverseRoot(f, squares, c.Float("epsilon", 1e-5))});
  return f.Output(0, f("multiply", {y, f.Input(1)}));
}

absl::Status MeanVarianceNormalization(Converter& c) {
  Formula f(c);
  const ValueId x = f.Input(0);
  const Moments m = MomentsOf(f, x, c.Ints("axes", {0, 2, 3}));
  const ValueId deviation = f("add", {f("sqrt", {m.variance}), f.Number(1e-9, x)});
  return f.Output(0, f("divide", {f("subtract", {x, m.mean}), deviation}));
}

absl::Status Lrn(Converter& c) {
  Formula f(c);
  const ValueId x = f.Input(0);
  return f.Output(0, f("nn.lrn", {x},
                       {{"size", c.Int("size", 1)},
                        {"axis", 1},
                        {"bias", c.Float("bias", 1)},
                        {"alpha", c.Float("alpha", 1e-4)},
                        {"beta", c.Float("beta", 0.75)}}));
}

// x over its norm along an axis.
absl::Status LpNormalization(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const int64_t axis, NormalAxis(c.Int("axis", -1), c.type(x).rank()));
  const int64_t p = c.Int("p", 2);
  if (p != 1 && p != 2) return Wrong("p", absl::StrCat(p), "1 or 2");
  Formula f(c);
  const ValueId norm = p == 1 ? f.Reduce("sum", f("abs", {x}), {axis})
                              : f("sqrt", {f.Reduce("sum", f("multiply", {x, x}), {axis})});
  // Zeros have none.
  const ValueId zero = f.Number(0, x);
  const ValueId y = f("divide", {x, f("where", {f("equal", {norm, zero}), f.Number(1, x), norm})});
  return f.Output(0, y);
}

constexpr OnnxOperator kRows[] = {
    {"BatchNormalization", BatchNormalization},
    {"GroupNormalization", GroupNormalization},
    {"InstanceNormalization", InstanceNormalization},
    {"LRN", Lrn},
    {"LayerNormalization", LayerNormalization},
    {"LpNormalization", LpNormalization},
    {"MeanVarianceNormalization", MeanVarianceNormalization},
    {"RMSNormalization", RmsNormalization},
};

}  // namespace

absl::Span<const OnnxOperator> NormalizationOperators() { return kRows; }

}  // namespace kiln::onnx_frontend
