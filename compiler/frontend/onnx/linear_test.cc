// SPDX-License-Identifier: Apache-2.0
// Linear models and support vector machines of the domain ai.onnx.ml.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "compiler/frontend/onnx/values_of.h"

namespace kiln::onnx_frontend {
namespace {

using testing::HasSubstr;

const Given kX = {"x", {2, 2}, {1, 2, 3, 4}};

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

TEST(Linear, Regression) {
  const std::string two =
      FloatsAttr("coefficients", {1, 2, 0.5, -1}) + FloatsAttr("intercepts", {10, 20});
  ExpectValues(
      {{MachineLearningNode("LinearRegressor", FloatsAttr("coefficients", {1, 2})), {kX}, {5, 11}},
       {MachineLearningNode("LinearRegressor", two + Attr("targets", 2)),
        {kX},
        {15, 18.5, 21, 17.5}},
       {MachineLearningNode("LinearRegressor", FloatsAttr("coefficients", {1, 2})),
        {{"x", {1, 2}, {3, 4}, onnx::TensorProto::INT64}},
        {11}}});
}

TEST(Linear, Classification) {
  const std::string labels = Attr("classlabels_ints", std::vector<int>{4, 6});
  const std::string two =
      FloatsAttr("coefficients", {1, 0, 0, 1}) + FloatsAttr("intercepts", {0, -1.5}) + labels;
  const std::string one =
      FloatsAttr("coefficients", {1, -0.75}) + FloatsAttr("intercepts", {0.25}) + labels;
  ExpectValues({
      {MachineLearningNode("LinearClassifier", two, "'l' output: 'y'"), {kX}, {1, 0.5, 3, 2.5}},
      {MachineLearningNode("LinearClassifier", two, "'y' output: 'p'"), {kX}, {4, 4}},
      {MachineLearningNode("LinearClassifier", one, "'l' output: 'y'"),
       {kX},
       {1.25, -0.25, 0.75, 0.25}},
      {MachineLearningNode("LinearClassifier", one + Attr("post_transform", "LOGISTIC"),
                           "'l' output: 'y'"),
       {kX},
       {Sigmoid(0.25), Sigmoid(-0.25), Sigmoid(-0.25), Sigmoid(0.25)}},
      {MachineLearningNode("LinearClassifier", one, "'y' output: 'p'"), {kX}, {4, 6}},
  });
}

TEST(Linear, Transforms) {
  const Given x = {"x", {1, 3}, {1, 0, 2}};
  const std::string node =
      FloatsAttr("coefficients", {1, 0, 0, 0, 1, 0, 0, 0, 1}) + Attr("targets", 3);
  const double sum = std::exp(-1) + std::exp(-2) + 1, without = std::exp(-1) + 1;
  ExpectValues(
      {{MachineLearningNode("LinearRegressor", node + Attr("post_transform", "SOFTMAX")),
        {x},
        {std::exp(-1) / sum, std::exp(-2) / sum, 1 / sum}},
       {MachineLearningNode("LinearRegressor", node + Attr("post_transform", "SOFTMAX_ZERO")),
        {x},
        {std::exp(-1) / without, 0, 1 / without}},
       // The quantile of a normal distribution, within the accuracy of the approximation.
       {MachineLearningNode("LinearRegressor", FloatsAttr("coefficients", {0.5, 0, 0}) +
                                                   Attr("post_transform", "PROBIT")),
        {x},
        {0}}});
}

std::string Regressor(const std::string& kernel, const std::vector<double>& params) {
  return MachineLearningNode(
      "SVMRegressor", Attr("kernel_type", kernel.c_str()) + FloatsAttr("kernel_params", params) +
                          Attr("n_supports", 2) + FloatsAttr("support_vectors", {1, 0, 0, 1}) +
                          FloatsAttr("coefficients", {2, -1}) + FloatsAttr("rho", {0.5}));
}

TEST(SupportVectors, Regression) {
  ExpectValues({
      {Regressor("LINEAR", {0, 0, 0}), {kX}, {0.5, 2.5}},
      {Regressor("POLY", {1, 1, 2}), {kX}, {-0.5, 7.5}},
      {Regressor("RBF", {0.5, 0, 0}),
       {kX},
       {2 * std::exp(-2) - std::exp(-1) + 0.5, 2 * std::exp(-10) - std::exp(-9) + 0.5}},
      {Regressor("SIGMOID", {0.1, 0.2, 0}),
       {kX},
       {2 * std::tanh(0.3) - std::tanh(0.4) + 0.5, 2 * std::tanh(0.5) - std::tanh(0.6) + 0.5}},
      {MachineLearningNode("SVMRegressor", FloatsAttr("coefficients", {1, -1}) +
                                               FloatsAttr("rho", {1.5}) + Attr("one_class", 1)),
       {{"x", {2, 2}, {1, 2, 0, 4}}},
       {1, -1}},
  });
}

// Three classes with one support vector each. The kernel of a class is its feature.
std::string ThreeClasses() {
  return Attr("vectors_per_class", std::vector<int>{1, 1, 1}) +
         Attr("classlabels_ints", std::vector<int>{5, 6, 7}) +
         FloatsAttr("support_vectors", {1, 0, 0, 0, 1, 0, 0, 0, 1}) +
         FloatsAttr("coefficients", {1, -2, -3, 4, 5, -6}) + FloatsAttr("rho", {0, 0.5, 0});
}

// Two classes. Their score is x0 - x1 + 0.5.
std::string TwoClasses() {
  return Attr("vectors_per_class", std::vector<int>{1, 1}) +
         Attr("classlabels_ints", std::vector<int>{5, 6}) +
         FloatsAttr("support_vectors", {1, 0, 0, 1}) + FloatsAttr("coefficients", {1, -1}) +
         FloatsAttr("rho", {0.5});
}

TEST(SupportVectors, Classification) {
  const Given x = {"x", {2, 3}, {1, 1, 1, 9, 1, 1}};
  const std::string scores = "'l' output: 'y'", labels = "'y' output: 'p'";
  const std::string shares = FloatsAttr("prob_a", {-1}) + FloatsAttr("prob_b", {0.25});
  ExpectValues({
      // Scores: 0 against 1 is x0 - 2 x1; 0 against 2 is 4 x0 - 3 x2 + 0.5; 1 against 2 is 5 x1 - 6
      // x2.
      {MachineLearningNode("SVMClassifier", ThreeClasses(), scores.c_str()),
       {x},
       {-1, 1.5, -1, 7, 33.5, -1}},
      {MachineLearningNode("SVMClassifier", ThreeClasses(), labels.c_str()), {x}, {5, 5}},
      {MachineLearningNode("SVMClassifier", TwoClasses(), scores.c_str()),
       {kX},
       {0.5, -0.5, 0.5, -0.5}},
      {MachineLearningNode("SVMClassifier", TwoClasses(), labels.c_str()), {kX}, {6, 6}},
      {MachineLearningNode("SVMClassifier", TwoClasses() + shares, scores.c_str()),
       {kX},
       {Sigmoid(-0.75), Sigmoid(0.75), Sigmoid(-0.75), Sigmoid(0.75)}},
      // One linear machine per class.
      {MachineLearningNode("SVMClassifier",
                           Attr("classlabels_ints", std::vector<int>{5, 6}) +
                               FloatsAttr("coefficients", {1, 0, 0, 1}) + FloatsAttr("rho", {0.5}),
                           scores.c_str()),
       {kX},
       {1.5, 2.5, 3.5, 4.5}},
  });
}

TEST(Linear, Refusals) {
  const struct {
    std::string node, text;
  } rows[] = {
      {MachineLearningNode("LinearRegressor", FloatsAttr("coefficients", {1, 2, 3})),
       "coefficients: found 3 values, wanted 1 rows of 2, the features of a sample"},
      {MachineLearningNode("LinearRegressor",
                           FloatsAttr("coefficients", {1, 2}) + FloatsAttr("intercepts", {1, 2})),
       "intercepts: found 2 values, wanted 1, or 1"},
      {MachineLearningNode("LinearClassifier", FloatsAttr("coefficients", {1, 2}), "'y'"),
       "wanted classlabels_ints or classlabels_strings"},
      {MachineLearningNode("LinearClassifier",
                           FloatsAttr("coefficients", {1, 2, 3, 4}) +
                               Attr("classlabels_ints", std::vector<int>{1, 2, 3}),
                           "'y'"),
       "scores: found 2 for a sample, wanted 3, one for each label"},
      {Regressor("WAVE", {}), "kernel_type: found WAVE"},
      {Regressor("RBF", {1}), "kernel_params: found 1 values, wanted gamma, coef0, degree"},
      {MachineLearningNode("SVMClassifier", TwoClasses() + FloatsAttr("prob_a", {1}), "'y'"),
       "rho, prob_a and prob_b: found 1, 1 and 0 values, wanted 1"},
      {MachineLearningNode(
           "SVMClassifier",
           ThreeClasses() + FloatsAttr("prob_a", {1, 1, 1}) + FloatsAttr("prob_b", {1, 1, 1}),
           "'y'"),
       "probabilities of more than two classes"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(ValuesOf({row.node, {kX}, {}}).status().message(), HasSubstr(row.text)) << row.node;
  }
}

}  // namespace
}  // namespace kiln::onnx_frontend
