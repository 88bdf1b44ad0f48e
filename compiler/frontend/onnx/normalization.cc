// SPDX-License-Identifier: Apache-2.0
// Normalization by mean and variance.
#include "compiler/frontend/onnx/normalization.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/onnx/converter.h"
#include "compiler/frontend/onnx/formula.h"
#include "compiler/frontend/onnx/operands.h"

namespace kiln::onnx_frontend {
namespace {

// Inputs 1 to 4 of BatchNormalization.
constexpr const char* kBatchNormInputs[] = {"scale", "B", "input_mean", "input_var"};

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

// InvalidArgument unless x has channels (dimension 1) and each input from 1 on is a vector with one
// element per channel. `names` are the names of these inputs.
absl::Status CheckChannels(const Converter& c, ValueId x, absl::Span<const char* const> names) {
  const TensorType type = c.type(x);
  if (type.rank() < 2) return Wrong("data", type.ToString(), "rank 2 or more");
  for (size_t i = 0; i < names.size(); ++i) {
    KILN_ASSIGN_OR_RETURN(const ValueId value, c.Input(static_cast<int>(i) + 1));
    KILN_RETURN_IF_ERROR(CheckVector(c, value, names[i], type.shape[1]));
  }
  return absl::OkStatus();
}

// Normalizes by the statistics of the batch. Outputs 1 and 2 are the running statistics that
// training would keep: a blend of old and new ones.
absl::Status BatchNormalizationInTraining(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_RETURN_IF_ERROR(CheckChannels(c, x, absl::MakeConstSpan(kBatchNormInputs).first(2)));
  const int rank = c.type(x).rank();
  Shape channels(static_cast<size_t>(rank) - 1, 1);
  channels[0] = c.type(x).shape[1];
  std::vector<int64_t> axes = AxesFrom(1, rank);
  axes[0] = 0;  // all dimensions except the channels
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
  const Shape shape = c.type(inputs[0]).shape;
  if (shape.size() == 1) {
    // One channel.
    KILN_ASSIGN_OR_RETURN(inputs[0], c.Reshape(inputs[0], {shape[0], 1}));
  }
  KILN_RETURN_IF_ERROR(CheckChannels(c, inputs[0], kBatchNormInputs));
  KILN_ASSIGN_OR_RETURN(
      const std::vector<ValueId> y,
      c.TupleOp("nn.batch_norm", inputs, {{"axis", 1}, {"epsilon", c.Float("epsilon", 1e-5)}}));
  return c.Output(0, c.Reshape(y[0], shape));
}

// Returns the dtype for intermediate results if several operators compute a value of `dtype`.
DType Widened(DType dtype) { return dtype == DType::Float(16) ? DType::Float(32) : dtype; }

// True if a tensor of `shape`, which broadcasts to `data`, has one element per position of the
// dimensions of `data` from `axis` on.
bool LiesAlong(const Shape& shape, const Shape& data, int64_t axis) {
  Shape whole(data.size() - shape.size(), 1);
  whole.insert(whole.end(), shape.begin(), shape.end());
  for (size_t d = 0; d < data.size(); ++d) {
    if (whole[d] != (static_cast<int64_t>(d) < axis ? 1 : data[d])) return false;
  }
  return true;
}

absl::Status LayerNormalization(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId scale, c.Input(1));
  const int rank = c.type(x).rank();
  KILN_ASSIGN_OR_RETURN(const int64_t axis, NormalAxis(c.Int("axis", -1), rank));
  NormParams params = {.scale = scale, .axis = axis, .epsilon = c.Float("epsilon", 1e-5)};
  if (c.HasInput(2)) {
    KILN_ASSIGN_OR_RETURN(params.shift, c.Input(2));
  }
  if (c.node().output_size() > 1) {
    const DType wide = c.type(x).dtype == DType::Float(64) ? DType::Float(64) : DType::Float(32);
    Formula f(c);
    const Moments m = MomentsOf(f, f.Cast(x, wide), AxesFrom(axis, rank));
    const ValueId deviation = InverseRoot(f, m.variance, params.epsilon);
    // The statistics are float32 regardless of the dtype of the data.
    KILN_RETURN_IF_ERROR(f.Output(1, f.Cast(m.mean, DType::Float(32))));
    KILN_RETURN_IF_ERROR(f.Output(2, f.Cast(deviation, DType::Float(32))));
  }
  return c.Output(0, LayerNorm(c, x, params));
}

absl::Status InstanceNormalization(Converter& c) {
  Formula f(c);
  const ValueId x = f.Input(0), scale = f.Input(1), shift = f.Input(2);
  KILN_RETURN_IF_ERROR(f.status());
  KILN_RETURN_IF_ERROR(CheckChannels(c, x, absl::MakeConstSpan(kBatchNormInputs).first(2)));
  return f.Output(0, f("nn.instance_norm", {x, scale, shift},
                       {{"axis", 1}, {"epsilon", c.Float("epsilon", 1e-5)}}));
}

// Scale and shift are per group up to opset 20, and per channel from 21 on.
absl::Status GroupNormalization(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  const int64_t groups = c.Int("num_groups", 0);
  const Shape shape = c.type(x).shape;
  if (shape.size() < 2 || groups < 1 || shape[1] % groups != 0) {
    return Wrong("num_groups", absl::StrCat(groups, " of ", c.type(x).ToString()),
                 "a divisor of the channels");
  }
  const int64_t parameters = c.opset() >= 21 ? shape[1] : groups;
  for (int i : {1, 2}) {
    KILN_ASSIGN_OR_RETURN(const ValueId value, c.Input(i));
    KILN_RETURN_IF_ERROR(CheckVector(c, value, i == 1 ? "scale" : "bias", parameters));
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
  KILN_ASSIGN_OR_RETURN(const ValueId scale, c.Input(1));
  KILN_ASSIGN_OR_RETURN(const int64_t axis, NormalAxis(c.Int("axis", -1), c.type(x).rank()));
  return c.Output(
      0, RmsNorm(c, x, {.scale = scale, .axis = axis, .epsilon = c.Float("epsilon", 1e-5)}));
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

// Divides x by its norm along an axis.
absl::Status LpNormalization(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const int64_t axis, NormalAxis(c.Int("axis", -1), c.type(x).rank()));
  const int64_t p = c.Int("p", 2);
  if (p != 1 && p != 2) return Wrong("p", absl::StrCat(p), "1 or 2");
  Formula f(c);
  const ValueId norm = p == 1 ? f.Reduce("sum", f("abs", {x}), {axis})
                              : f("sqrt", {f.Reduce("sum", f("multiply", {x, x}), {axis})});
  // A norm of 0 is replaced by 1, so zeros stay zeros.
  const ValueId zero = f.Number(0, x);
  const ValueId y = f("divide", {x, f("where", {f("equal", {norm, zero}), f.Number(1, x), norm})});
  return f.Output(0, y);
}

constexpr OnnxOperator kNormalizationRows[] = {
    {"BatchNormalization", BatchNormalization},
    {"GroupNormalization", GroupNormalization},
    {"InstanceNormalization", InstanceNormalization},
    {"LRN", Lrn},
    {"LayerNormalization", LayerNormalization},
    Composite("LpNormalization", LpNormalization),
    Composite("MeanVarianceNormalization", MeanVarianceNormalization),
    {"RMSNormalization", RmsNormalization},
};

}  // namespace

absl::StatusOr<ValueId> LayerNorm(Converter& c, ValueId x, const NormParams& params) {
  const TensorType given = c.type(x);
  const auto lies_along = [&](ValueId value) {
    return LiesAlong(c.type(value).shape, given.shape, params.axis);
  };
  const bool has_shift = params.shift != kNoId;
  KILN_RETURN_IF_ERROR(CheckBroadcasts(c, params.scale, "Scale", given.shape));
  if (has_shift) KILN_RETURN_IF_ERROR(CheckBroadcasts(c, params.shift, "B", given.shape));
  // nn.layer_norm normalizes one dimension, with gamma and beta along it. A scale of another shape
  // becomes an operator after it. So does a shift of another shape, or one that follows such a
  // scale.
  const bool is_gamma = lies_along(params.scale);
  const bool is_beta = is_gamma && (!has_shift || lies_along(params.shift));
  // If there are several operators, they compute in float32, so that float16 is rounded only once.
  const DType dtype = is_beta ? given.dtype : Widened(given.dtype);
  const auto outer = static_cast<size_t>(params.axis);
  Shape flat(given.shape.begin(), given.shape.begin() + params.axis);
  flat.push_back(NumElements({given.shape.data() + outer, given.shape.size() - outer}));
  const TensorType along = {{flat.back()}, dtype};
  Formula f(c);
  const ValueId scale = f.Cast(params.scale, dtype);
  const ValueId shift = has_shift ? f.Cast(params.shift, dtype) : kNoId;
  const ValueId beta =
      is_beta && has_shift ? f.Reshape(shift, along.shape) : c.Constant(Tensor::Filled(along, 0));
  const ValueId gamma =
      is_gamma ? f.Reshape(scale, along.shape) : c.Constant(Tensor::Filled(along, 1));
  Attrs attrs = {{"axis", -1}, {"epsilon", params.epsilon}};
  if (!is_gamma) attrs.Set("scale", false);
  if (!is_beta) attrs.Set("center", false);
  ValueId y =
      f("nn.layer_norm", {f.Reshape(f.Cast(x, dtype), flat), gamma, beta}, std::move(attrs));
  y = f.Reshape(y, given.shape);
  if (!is_gamma) y = f("multiply", {y, scale});
  if (!is_beta && has_shift) y = f("add", {y, shift});
  y = f.Cast(y, given.dtype);
  if (!f.ok()) return f.status();
  return y;
}

absl::StatusOr<ValueId> RmsNorm(Converter& c, ValueId x, const NormParams& params) {
  const TensorType type = c.type(x);
  KILN_RETURN_IF_ERROR(CheckBroadcasts(c, params.scale, "scale", type.shape));
  Formula f(c);
  // Squares of float16 overflow from 256 on.
  const DType dtype = Widened(type.dtype);
  const ValueId wide = f.Cast(x, dtype);
  const ValueId squares =
      f.Reduce("mean", f("multiply", {wide, wide}), AxesFrom(params.axis, type.rank()));
  const ValueId y = f("multiply", {wide, InverseRoot(f, squares, params.epsilon)});
  const ValueId scaled = f("multiply", {y, f.Cast(params.scale, dtype)});
  const ValueId result = f.Cast(scaled, c.type(params.scale).dtype);
  if (!f.ok()) return f.status();
  return result;
}

absl::Span<const OnnxOperator> NormalizationOperators() { return kNormalizationRows; }

}  // namespace kiln::onnx_frontend
