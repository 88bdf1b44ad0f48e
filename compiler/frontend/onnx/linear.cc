// SPDX-License-Identifier: Apache-2.0
// Linear models and support vector machines of the domain ai.onnx.ml.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/onnx/class_scores.h"
#include "compiler/frontend/onnx/machine_learning.h"

namespace kiln::onnx_frontend {
namespace {

// Multiplies x (samples, features) by the `rows` rows of the matrix in an attribute. Returns
// (samples, rows).
absl::StatusOr<ValueId> TimesRows(Converter& c, ValueId x, absl::string_view what,
                                  const std::vector<double>& matrix, int64_t rows) {
  const int64_t features = c.type(x).shape[1];
  if (rows < 1 || static_cast<int64_t>(matrix.size()) / rows != features ||
      static_cast<int64_t>(matrix.size()) % rows != 0) {
    return Wrong(what, absl::StrCat(matrix.size(), " values"),
                 absl::StrCat(rows, " rows of ", features, ", the features of a sample"));
  }
  return c.Op("nn.dense", {x, FloatConstant(c, matrix, {rows, features})});
}

absl::StatusOr<ValueId> PlusRow(Converter& c, ValueId x, absl::string_view what,
                                const std::vector<double>& row) {
  if (row.empty()) return x;
  const int64_t wanted = c.type(x).shape[1], count = static_cast<int64_t>(row.size());
  if (count != 1 && count != wanted) {
    return Wrong(what, absl::StrCat(count, " values"), absl::StrCat(wanted, ", or 1"));
  }
  return c.Op("add", {x, FloatConstant(c, row, {1, count})});
}

absl::Status LinearRegressor(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, Samples(c));
  KILN_ASSIGN_OR_RETURN(
      ValueId y, TimesRows(c, x, "coefficients", c.Floats("coefficients"), c.Int("targets", 1)));
  KILN_ASSIGN_OR_RETURN(y, PlusRow(c, y, "intercepts", c.Floats("intercepts")));
  return c.Output(0, PostTransform(c, y, c.String("post_transform", "NONE")));
}

absl::Status LinearClassifier(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, Samples(c));
  KILN_ASSIGN_OR_RETURN(const ClassLabels labels, LabelsOf(c, "classlabels_ints"));
  const std::vector<double> coefficients = c.Floats("coefficients");
  const int64_t features = std::max<int64_t>(c.type(x).shape[1], 1);
  const int64_t rows = static_cast<int64_t>(coefficients.size()) / features;
  KILN_ASSIGN_OR_RETURN(ValueId scores, TimesRows(c, x, "coefficients", coefficients, rows));
  KILN_ASSIGN_OR_RETURN(scores, PlusRow(c, scores, "intercepts", c.Floats("intercepts")));
  const std::string transform = c.String("post_transform", "NONE");
  if (rows != 1 || labels.count() != 2) return SetClasses(c, labels, scores, transform);
  return SetTwoClasses(c, labels, scores, 0, /*is_share=*/true, transform);
}

// Returns the kernel of each sample with each of `count` support vectors: (samples, count).
absl::StatusOr<ValueId> Kernel(Converter& c, ValueId x, int64_t count) {
  const std::vector<double> vectors = c.Floats("support_vectors"),
                            given = c.Floats("kernel_params");
  double params[3] = {0, 0, 0};  // gamma, coef0, degree
  if (given.size() != 3 && !given.empty()) {
    return Wrong("kernel_params", absl::StrCat(given.size(), " values"), "gamma, coef0, degree");
  }
  std::copy(given.begin(), given.end(), params);
  KILN_ASSIGN_OR_RETURN(const ValueId dot, TimesRows(c, x, "support_vectors", vectors, count));
  const std::string type = c.String("kernel_type", "LINEAR");
  Formula f(c);
  const auto number = [&](double value) { return f.Number(value, dot); };
  const auto scaled = [&] {
    return f("add", {f("multiply", {dot, number(params[0])}), number(params[1])});
  };
  ValueId y = dot;
  if (type == "RBF") {
    // Computes |x - v|^2 term by term, as |x|^2 - 2 x v + |v|^2 would lose small values.
    const int64_t samples = c.type(x).shape[0], features = c.type(x).shape[1];
    const ValueId v = FloatConstant(c, vectors, {1, count, features});
    const ValueId difference = f("subtract", {f.Reshape(x, {samples, 1, features}), v});
    const ValueId squares = f.Reduce("sum", f("multiply", {difference, difference}), {2}, false);
    y = f("exp", {f("multiply", {squares, number(-params[0])})});
  } else if (type == "POLY") {
    y = f("power", {scaled(), number(params[2])});
  } else if (type == "SIGMOID") {
    y = f("tanh", {scaled()});
  } else if (type != "LINEAR") {
    return Wrong("kernel_type", type, "LINEAR, POLY, RBF or SIGMOID");
  }
  if (!f.ok()) return f.status();
  return y;
}

absl::Status SvmRegressor(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, Samples(c));
  const int64_t count = c.Int("n_supports", 0);
  ValueId y = x;
  if (count > 0) {
    KILN_ASSIGN_OR_RETURN(y, Kernel(c, x, count));
  }
  KILN_ASSIGN_OR_RETURN(y, TimesRows(c, y, "coefficients", c.Floats("coefficients"), 1));
  KILN_ASSIGN_OR_RETURN(y, PlusRow(c, y, "rho", c.Floats("rho")));
  KILN_ASSIGN_OR_RETURN(y, PostTransform(c, y, c.String("post_transform", "NONE")));
  if (c.Int("one_class", 0) != 0) {
    Formula f(c);
    y = f("where", {f("greater", {y, f.Number(0, y)}), f.Number(1, y), f.Number(-1, y)});
    return f.Output(0, y);
  }
  return c.Output(0, y);
}

// One machine per pair of classes. The first class of a pair wins if the score is above 0.
struct Pairs {
  std::vector<std::pair<int64_t, int64_t>> classes;
  std::vector<double> coefficients;  // one row per pair, over all support vectors
};

// The attribute has one row less than there are classes. The columns of a class's own vectors
// contain its coefficients against each other class, in order.
absl::StatusOr<Pairs> PairsOf(const Converter& c, const std::vector<int64_t>& vectors_per_class) {
  const std::vector<double> all = c.Floats("coefficients");
  const size_t classes = vectors_per_class.size();
  std::vector<int64_t> begin(1);
  for (int64_t count : vectors_per_class) begin.push_back(begin.back() + count);
  const int64_t vectors = begin.back();
  if (static_cast<int64_t>(all.size()) != static_cast<int64_t>(classes - 1) * vectors) {
    return Wrong("coefficients", absl::StrCat(all.size(), " values"),
                 absl::StrCat(classes - 1, " rows of ", vectors));
  }
  Pairs pairs;
  for (size_t i = 0; i < classes; ++i) {
    for (size_t j = i + 1; j < classes; ++j) {
      pairs.classes.emplace_back(i, j);
      std::vector<double> row(static_cast<size_t>(vectors));
      const auto copy = [&](size_t of, size_t from_row) {
        for (int64_t v = begin[of]; v < begin[of + 1]; ++v) {
          row[static_cast<size_t>(v)] = all[from_row * row.size() + static_cast<size_t>(v)];
        }
      };
      copy(i, j - 1);
      copy(j, i);
      pairs.coefficients.insert(pairs.coefficients.end(), row.begin(), row.end());
    }
  }
  return pairs;
}

// Returns the number of pairs that each class wins: (samples, classes).
ValueId Wins(Formula& f, Converter& c, const Pairs& pairs, ValueId scores, int64_t classes) {
  const auto count = static_cast<int64_t>(pairs.classes.size());
  // Each pair counts 1 for its second class. If its first class wins, `changes` moves the 1 to it.
  std::vector<double> changes(static_cast<size_t>(classes * count)),
      otherwise(static_cast<size_t>(classes));
  for (int64_t p = 0; p < count; ++p) {
    const auto [i, j] = pairs.classes[static_cast<size_t>(p)];
    changes[static_cast<size_t>(i * count + p)] = 1;
    changes[static_cast<size_t>(j * count + p)] = -1;
    otherwise[static_cast<size_t>(j)] += 1;
  }
  const ValueId first = f.Cast(f("greater", {scores, f.Number(0, scores)}), DType::Float(32));
  const ValueId wins = f("nn.dense", {first, FloatConstant(c, changes, {classes, count})});
  return f("add", {wins, FloatConstant(c, otherwise, {1, classes})});
}

// Sets the scores of a machine of two classes. They are probabilities if prob_a and prob_b define a
// sigmoid.
absl::Status SetTwoScores(Converter& c, ValueId score) {
  const std::vector<double> a = c.Floats("prob_a"), b = c.Floats("prob_b");
  Formula f(c);
  const auto number = [&](double value) { return f.Number(value, score); };
  ValueId first = f("negative", {score}), second = score;
  if (!a.empty()) {
    const ValueId t = f("add", {f("multiply", {score, number(a[0])}), number(b[0])});
    second = f("clip", {f("sigmoid", {t})}, {{"a_min", 1e-7}, {"a_max", 1 - 1e-7}});
    first = f("subtract", {number(1), second});
  } else if (c.String("post_transform", "NONE") != "NONE") {
    first = f("subtract", {number(1), score});
  }
  if (!f.ok()) return f.status();
  return f.Output(1, f("concatenate", {first, second}, {{"axis", 1}}));
}

absl::Status SvmClassifier(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, Samples(c));
  KILN_ASSIGN_OR_RETURN(const ClassLabels labels, LabelsOf(c, "classlabels_ints"));
  const std::vector<int64_t> per_class = c.Ints("vectors_per_class");
  const std::string transform = c.String("post_transform", "NONE");
  if (per_class.empty()) {  // one linear machine per class
    KILN_ASSIGN_OR_RETURN(
        ValueId scores, TimesRows(c, x, "coefficients", c.Floats("coefficients"), labels.count()));
    KILN_ASSIGN_OR_RETURN(scores, PlusRow(c, scores, "rho", c.Floats("rho")));
    return SetClasses(c, labels, scores, transform);
  }
  int64_t vectors = 0;
  for (int64_t count : per_class) {
    if (count < 0 || count > INT32_MAX) {
      return Wrong("a value of vectors_per_class", absl::StrCat(count), "a number of vectors");
    }
    vectors += count;
  }
  if (static_cast<int64_t>(per_class.size()) != labels.count() || labels.count() < 2) {
    return Wrong("vectors_per_class", absl::StrCat(per_class.size(), " values"),
                 absl::StrCat(labels.count(), ", one for each of two or more labels"));
  }
  const std::vector<double> rho = c.Floats("rho"), a = c.Floats("prob_a"), b = c.Floats("prob_b");
  KILN_ASSIGN_OR_RETURN(const Pairs pairs, PairsOf(c, per_class));
  if (rho.size() != pairs.classes.size() || a.size() != b.size() ||
      (!a.empty() && a.size() != rho.size())) {
    return Wrong("rho, prob_a and prob_b",
                 absl::StrCat(rho.size(), ", ", a.size(), " and ", b.size(), " values"),
                 absl::StrCat(pairs.classes.size(), ", one for each pair of classes"));
  }
  if (!a.empty() && labels.count() > 2) {
    return absl::UnimplementedError(
        "probabilities of more than two classes, which need an iteration; train the machine "
        "without them (probability=False), or behind scikit-learn's CalibratedClassifierCV");
  }
  KILN_ASSIGN_OR_RETURN(const ValueId kernel, Kernel(c, x, vectors));
  KILN_ASSIGN_OR_RETURN(ValueId scores, TimesRows(c, kernel, "coefficients", pairs.coefficients,
                                                  static_cast<int64_t>(pairs.classes.size())));
  KILN_ASSIGN_OR_RETURN(scores, PlusRow(c, scores, "rho", rho));
  Formula f(c);
  const ValueId wins = Wins(f, c, pairs, scores, labels.count());
  KILN_RETURN_IF_ERROR(SetLabels(f, c, labels, f.Reduce("argmax", wins, {1}, false)));
  if (labels.count() == 2) return SetTwoScores(c, scores);
  KILN_ASSIGN_OR_RETURN(scores, PostTransform(c, scores, transform));
  c.SetOutput(1, scores);
  return absl::OkStatus();
}

constexpr OnnxOperator kLinearRows[] = {
    {"LinearClassifier", LinearClassifier, nullptr, kMachineLearningDomain},
    {"LinearRegressor", LinearRegressor, nullptr, kMachineLearningDomain},
    {"SVMClassifier", SvmClassifier, nullptr, kMachineLearningDomain},
    {"SVMRegressor", SvmRegressor, nullptr, kMachineLearningDomain},
};

}  // namespace

absl::Span<const OnnxOperator> LinearOperators() { return kLinearRows; }

}  // namespace kiln::onnx_frontend
