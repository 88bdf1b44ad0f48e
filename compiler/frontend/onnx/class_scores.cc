// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/onnx/class_scores.h"

#include <cmath>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"

namespace kiln::onnx_frontend {
namespace {

// sqrt(2) * erfinv(2 x - 1), with the same approximation of the inverse error function by
// logarithms as ONNX Runtime (S. Winitzki, 2008).
ValueId Probit(Formula& f, ValueId x) {
  constexpr double kA = 0.147, kPi = 3.14159;
  const auto number = [&](double value) { return f.Number(value, x); };
  const ValueId t = f("subtract", {f("multiply", {x, number(2)}), number(1)});
  const ValueId log = f("log", {f("subtract", {number(1), f("multiply", {t, t})})});
  const ValueId v = f("add", {f("multiply", {log, number(0.5)}), number(2 / (kPi * kA))});
  const ValueId root =
      f("sqrt", {f("subtract", {f("multiply", {v, v}), f("multiply", {log, number(1 / kA)})})});
  const ValueId size = f("sqrt", {f("subtract", {root, v})});
  return f("multiply", {f("multiply", {f("sign", {t}), size}), number(std::sqrt(2.0))});
}

// Softmax over the nonzero elements. Elements that are 0 stay 0.
ValueId SoftmaxZero(Formula& f, ValueId x) {
  const ValueId zero = f.Number(0, x);
  const ValueId kept = f("greater", {f("abs", {x}), f.Number(1e-7, x)});
  const ValueId e = f("exp", {f("subtract", {x, f.Reduce("max", x, {1})})});
  const ValueId terms = f("where", {kept, e, zero});
  const ValueId sum = f.Reduce("sum", terms, {1});
  // If all elements are 0, so is the sum, but its quotient is not used.
  return f("where", {kept, f("divide", {terms, sum}), zero});
}

}  // namespace

absl::StatusOr<ValueId> Samples(Converter& c, bool keep_double) {
  KILN_ASSIGN_OR_RETURN(ValueId x, c.Input(0));
  const TensorType type = c.type(x);
  if (type.rank() != 1 && type.rank() != 2) {
    return Wrong("the data", type.ToString(), "a matrix of samples and features");
  }
  const bool is_double = type.dtype == DType::Float(64) && keep_double;
  Formula f(c);
  x = f.Cast(x, DType::Float(is_double ? 64 : 32));
  if (type.rank() == 1) x = f.Reshape(x, {1, type.shape[0]});
  if (!f.ok()) return f.status();
  return x;
}

ValueId FloatConstant(Converter& c, const std::vector<double>& values, Shape shape, DType dtype) {
  if (dtype.bits == 64) return c.Constant(Tensor::From<double>(std::move(shape), dtype, values));
  const std::vector<float> floats(values.begin(), values.end());
  return c.Constant(Tensor::From<float>(std::move(shape), DType::Float(32), floats));
}

absl::StatusOr<ValueId> PostTransform(Converter& c, ValueId scores, const std::string& name) {
  Formula f(c);
  ValueId y = scores;
  if (name == "LOGISTIC") {
    y = f("sigmoid", {scores});
  } else if (name == "SOFTMAX") {
    y = f("nn.softmax", {scores}, {{"axis", -1}});
  } else if (name == "SOFTMAX_ZERO") {
    y = SoftmaxZero(f, scores);
  } else if (name == "PROBIT") {
    y = Probit(f, scores);
  } else if (name != "NONE") {
    return Wrong("post_transform", name, "NONE, LOGISTIC, SOFTMAX, SOFTMAX_ZERO or PROBIT");
  }
  if (!f.ok()) return f.status();
  return y;
}

absl::StatusOr<ClassLabels> LabelsOf(const Converter& c, absl::string_view ints) {
  ClassLabels labels{c.Ints(ints)};
  if (labels.labels.empty()) {
    labels.labels.resize(c.Strings("classlabels_strings").size());
    std::iota(labels.labels.begin(), labels.labels.end(), int64_t{0});
  }
  if (!labels.labels.empty()) return labels;
  return Wrong("labels", "none", absl::StrCat(ints, " or classlabels_strings"));
}

absl::Status SetLabels(Formula& f, Converter& c, const ClassLabels& labels, ValueId positions) {
  const ValueId table =
      c.Constant(Tensor::From<int64_t>({labels.count()}, DType::Int(64), labels.labels));
  return f.Output(0, f("take", {table, positions}, {{"axis", 0}}));
}

absl::Status SetClasses(Converter& c, const ClassLabels& labels, ValueId scores,
                        const std::string& post_transform) {
  const TensorType type = c.type(scores);
  if (type.shape[1] != labels.count()) {
    return Wrong("scores", absl::StrCat(type.shape[1], " for a sample"),
                 absl::StrCat(labels.count(), ", one for each label"));
  }
  Formula f(c);
  KILN_RETURN_IF_ERROR(SetLabels(f, c, labels, f.Reduce("argmax", scores, {1}, false)));
  KILN_ASSIGN_OR_RETURN(const ValueId y, PostTransform(c, scores, post_transform));
  return f.Output(1, f.Cast(y, DType::Float(32)));
}

absl::Status SetTwoClasses(Converter& c, const ClassLabels& labels, ValueId score, double threshold,
                           bool is_share, const std::string& post_transform) {
  Formula f(c);
  const int64_t samples = c.type(score).shape[0];
  const ValueId wins = f("greater", {f.Reshape(score, {samples}), f.Number(threshold, score)});
  KILN_RETURN_IF_ERROR(SetLabels(f, c, labels, f.Cast(wins, DType::Int(32))));
  const bool shares = is_share && post_transform == "NONE";
  const ValueId other =
      shares ? f("subtract", {f.Number(1, score), score}) : f("negative", {score});
  if (!f.ok()) return f.status();
  const ValueId both = f("concatenate", {other, score}, {{"axis", 1}});
  if (!f.ok()) return f.status();
  KILN_ASSIGN_OR_RETURN(const ValueId y, PostTransform(c, both, post_transform));
  return f.Output(1, f.Cast(y, DType::Float(32)));
}

}  // namespace kiln::onnx_frontend
