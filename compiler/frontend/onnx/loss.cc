// SPDX-License-Identifier: Apache-2.0
// Losses: the distance of class scores from the target classes.
#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/onnx/converter.h"
#include "compiler/frontend/onnx/formula.h"

namespace kiln::onnx_frontend {
namespace {

// -scores[n, target[n, d…], d…] * weight[target[n, d…]], or 0 if the target is ignore_index,
// reduced as the node's `reduction` says. The mean is the sum divided by the sum of the weights.
absl::StatusOr<ValueId> NegativeLogLikelihood(Converter& c, ValueId scores) {
  KILN_ASSIGN_OR_RETURN(ValueId target, c.Input(1));
  const TensorType type = c.type(scores);
  Shape wanted = type.shape;
  if (wanted.size() >= 2) wanted.erase(wanted.begin() + 1);
  if (type.rank() < 2 || c.type(target).shape != wanted) {
    return Wrong("scores and target", type.ToString() + " and " + c.type(target).ToString(),
                 "(n, classes, d…) and (n, d…)");
  }
  const std::string reduction = c.String("reduction", "mean");
  if (reduction != "none" && reduction != "sum" && reduction != "mean") {
    return Wrong("reduction", reduction, "none, sum or mean");
  }
  Formula f(c);
  ValueId ignored = kNoId, weight = kNoId;
  if (c.HasAttr("ignore_index")) {
    const double index = static_cast<double>(c.Int("ignore_index", 0));
    ignored = f("equal", {target, f.Number(index, target)});
    target = f("where", {ignored, f.Number(0, target), target});
  }
  if (c.HasInput(2)) {
    weight = f("take", {f.Input(2), target}, {{"axis", 0}});
  } else if (ignored != kNoId) {
    weight = c.Constant(Tensor::Scalar(type.dtype, 1));
  }
  if (ignored != kNoId) weight = f("where", {ignored, f.Number(0, scores), weight});
  Shape one_class = type.shape;
  one_class[1] = 1;
  ValueId loss = f("gather", {scores, f.Reshape(target, one_class)}, {{"axis", 1}});
  loss = f("negative", {f.Reshape(loss, wanted)});
  if (weight != kNoId) loss = f("multiply", {loss, weight});
  if (reduction == "sum") loss = f("sum", {loss});
  if (reduction == "mean") {
    loss =
        weight == kNoId ? f("mean", {loss}) : f("divide", {f("sum", {loss}), f("sum", {weight})});
  }
  if (!f.ok()) return f.status();
  return loss;
}

absl::Status NegativeLogLikelihoodLoss(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId scores, c.Input(0));
  return c.Output(0, NegativeLogLikelihood(c, scores));
}

absl::Status SoftmaxCrossEntropyLoss(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId scores, c.Input(0));
  if (c.type(scores).rank() < 2) {
    return Wrong("scores", c.type(scores).ToString(), "(n, classes, d…)");
  }
  KILN_ASSIGN_OR_RETURN(const ValueId log_prob, c.Op("nn.log_softmax", {scores}, {{"axis", 1}}));
  KILN_ASSIGN_OR_RETURN(const ValueId loss, NegativeLogLikelihood(c, log_prob));
  c.SetOutput(0, loss);
  c.SetOutput(1, log_prob);
  return absl::OkStatus();
}

constexpr OnnxOperator kLossRows[] = {
    Composite("NegativeLogLikelihoodLoss", NegativeLogLikelihoodLoss),
    Composite("SoftmaxCrossEntropyLoss", SoftmaxCrossEntropyLoss),
};

}  // namespace

absl::Span<const OnnxOperator> LossOperators() { return kLossRows; }

}  // namespace kiln::onnx_frontend
