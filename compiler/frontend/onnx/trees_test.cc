// SPDX-License-Identifier: Apache-2.0
// Trees of the domain ai.onnx.ml: values and refusals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/frontend/onnx/values_of.h"

namespace kiln::onnx_frontend {
namespace {

using testing::HasSubstr;

// Returns a tree with one condition, x0 `mode` 2, and the leaves 1 and 2.
std::string Question(const std::string& mode, const std::string& rest = "") {
  return Attr("nodes_treeids", std::vector<int>{0, 0, 0}) +
         Attr("nodes_nodeids", std::vector<int>{0, 1, 2}) +
         Attr("nodes_featureids", std::vector<int>{0, 0, 0}) +
         FloatsAttr("nodes_values", {2, 0, 0}) +
         StringsAttr("nodes_modes", {mode, "LEAF", "LEAF"}) +
         Attr("nodes_truenodeids", std::vector<int>{1, 0, 0}) +
         Attr("nodes_falsenodeids", std::vector<int>{2, 0, 0}) + rest;
}

std::string Targets(const std::vector<int>& ids, const std::vector<double>& weights,
                    const std::string& name = "target") {
  const auto of = [&](const char* what) { return absl::StrCat(name, "_", what); };
  return Attr(of("treeids").c_str(), std::vector<int>(ids.size())) +
         Attr(of("nodeids").c_str(),
              ids.size() == 2 ? std::vector<int>{1, 2} : std::vector<int>{1, 1, 2, 2}) +
         Attr(of("ids").c_str(), ids) + FloatsAttr(of("weights").c_str(), weights);
}

std::string Regressor(const std::string& attributes) {
  return MachineLearningNode("TreeEnsembleRegressor", attributes);
}

const Given kSamples = {"x", {4, 1}, {1, 2, 3, NAN}};

TEST(Trees, AskWhatTheModesSay) {
  const std::string targets = Targets({0, 0}, {10, 20});
  const std::string missing = Attr("nodes_missing_value_tracks_true", std::vector<int>{1, 0, 0});
  const auto with = [&](const char* mode, const std::string& rest = "") {
    return Regressor(Question(mode, targets + rest));
  };
  ExpectValues({{with("BRANCH_LEQ"), {kSamples}, {10, 10, 20, 20}},
                {with("BRANCH_LT"), {kSamples}, {10, 20, 20, 20}},
                {with("BRANCH_GTE"), {kSamples}, {20, 10, 10, 20}},
                {with("BRANCH_GT"), {kSamples}, {20, 20, 10, 20}},
                {with("BRANCH_EQ"), {kSamples}, {20, 10, 20, 20}},
                {with("BRANCH_NEQ"), {kSamples}, {10, 20, 10, 10}},
                {with("BRANCH_LEQ", missing), {kSamples}, {10, 10, 20, 10}},
                {with("BRANCH_GTE", missing), {kSamples}, {20, 10, 10, 10}},
                {with("BRANCH_EQ", missing), {kSamples}, {20, 10, 20, 10}}});
}

TEST(Trees, TakeAnyNumbers) {
  const std::string node = Regressor(Question("BRANCH_LEQ", Targets({0, 0}, {10, 20})));
  ExpectValues({{node, {{"x", {2, 1}, {2, 3}, onnx::TensorProto::INT64}}, {10, 20}},
                {node, {{"x", {1}, {3}}}, {20}}});
}

// Returns two trees, each with a condition on another feature.
std::string TwoTrees(const std::string& rest) {
  return Attr("nodes_treeids", std::vector<int>{5, 5, 5, 7, 7, 7}) +
         Attr("nodes_nodeids", std::vector<int>{0, 1, 2, 4, 5, 6}) +
         Attr("nodes_featureids", std::vector<int>{0, 0, 0, 1, 0, 0}) +
         FloatsAttr("nodes_values", {2, 0, 0, 0.5, 0, 0}) +
         StringsAttr("nodes_modes", {"BRANCH_LEQ", "LEAF", "LEAF", "BRANCH_LT", "LEAF", "LEAF"}) +
         Attr("nodes_truenodeids", std::vector<int>{1, 0, 0, 5, 0, 0}) +
         Attr("nodes_falsenodeids", std::vector<int>{2, 0, 0, 6, 0, 0}) + rest;
}

std::string Votes(const char* name, const std::vector<int>& ids) {
  const auto of = [&](const char* what) { return absl::StrCat(name, "_", what); };
  return Attr(of("treeids").c_str(), std::vector<int>{5, 5, 7, 7}) +
         Attr(of("nodeids").c_str(), std::vector<int>{1, 2, 5, 6}) + Attr(of("ids").c_str(), ids) +
         FloatsAttr(of("weights").c_str(), {1, 2, 3, 4});
}

TEST(Trees, AreAddedUp) {
  const Given x = {"x", {2, 2}, {2, 0, 3, 1}};
  const std::string one = Votes("target", {0, 0, 0, 0});
  const auto with = [&](const std::string& rest) { return Regressor(TwoTrees(rest)); };
  ExpectValues(
      {{with(one), {x}, {4, 6}},
       {with(one + FloatsAttr("base_values", {0.5})), {x}, {4.5, 6.5}},
       {with(one + Attr("aggregate_function", "AVERAGE") + FloatsAttr("base_values", {10})),
        {x},
        {12, 13}},
       {with(one + Attr("aggregate_function", "MIN")), {x}, {1, 2}},
       {with(one + Attr("aggregate_function", "MAX")), {x}, {3, 4}},
       // No leaf that a sample reaches votes for the target.
       {with(Votes("target", {0, 0, 1, 1}) + Attr("n_targets", 3) +
             Attr("aggregate_function", "MIN")),
        {x},
        {1, 3, 0, 2, 4, 0}},
       {with(Votes("target", {0, 1, 0, 0}) + Attr("n_targets", 2) +
             Attr("aggregate_function", "MAX") + FloatsAttr("base_values", {10, 20})),
        {x},
        {13, 20, 14, 22}},
       // Each tree, then each leaf, has its own target.
       {with(Votes("target", {1, 1, 0, 0}) + Attr("n_targets", 2)), {x}, {3, 1, 4, 2}},
       {with(Votes("target", {0, 1, 1, 0}) + Attr("n_targets", 2)), {x}, {1, 3, 4, 2}},
       {with(one + Attr("post_transform", "LOGISTIC")), {x}, {0.98201379, 0.99752738}}});
}

// Tree t is a chain of t % 5 conditions: x0 <= 0, x0 <= 1 and so on. Its leaf j has the weight t +
// 1000 j.
std::string Chains(int trees) {
  std::vector<int> tree_ids, node_ids, if_true, if_false, leaf_trees, leaf_nodes;
  std::vector<double> values, weights;
  std::vector<std::string> modes;
  const auto add = [&](int tree, int node, double value, const char* mode, int first, int second) {
    tree_ids.push_back(tree);
    node_ids.push_back(node);
    values.push_back(value);
    modes.push_back(mode);
    if_true.push_back(first);
    if_false.push_back(second);
  };
  for (int tree = 0; tree < trees; ++tree) {
    const int depth = tree % 5;
    for (int k = 0; k < depth; ++k) {
      add(tree, k, k, "BRANCH_LEQ", depth + k, k + 1 < depth ? k + 1 : 2 * depth);
    }
    for (int leaf = 0; leaf <= depth; ++leaf) {
      add(tree, depth + leaf, 0, "LEAF", 0, 0);
      leaf_trees.push_back(tree);
      leaf_nodes.push_back(depth + leaf);
      weights.push_back(tree + 1000.0 * leaf);
    }
  }
  return Attr("nodes_treeids", tree_ids) + Attr("nodes_nodeids", node_ids) +
         Attr("nodes_featureids", std::vector<int>(tree_ids.size())) +
         FloatsAttr("nodes_values", values) + StringsAttr("nodes_modes", modes) +
         Attr("nodes_truenodeids", if_true) + Attr("nodes_falsenodeids", if_false) +
         Attr("target_treeids", leaf_trees) + Attr("target_nodeids", leaf_nodes) +
         Attr("target_ids", std::vector<int>(leaf_trees.size())) +
         FloatsAttr("target_weights", weights);
}

TEST(Trees, HaveDepthsOfTheirOwn) {
  const std::vector<double> x = {-1, 0.5, 1, 2.5, 9, NAN};
  for (const int trees : {1, 4, 12, 300}) {
    std::vector<double> expected;
    for (const double value : x) {
      double sum = 0;
      for (int tree = 0; tree < trees; ++tree) {
        int leaf = 0;
        while (leaf < tree % 5 && !(value <= leaf)) ++leaf;
        sum += tree + 1000.0 * leaf;
      }
      expected.push_back(sum);
    }
    ExpectValues({{Regressor(Chains(trees)), {{"x", {6, 1}, x}}, expected}});
  }
}

std::string Classifier(const std::string& attributes, const char* outputs) {
  return MachineLearningNode("TreeEnsembleClassifier", attributes, outputs);
}

TEST(Trees, ChooseClasses) {
  const Given x = {"x", {2, 2}, {2, 0, 3, 1}};
  const std::string labels = Attr("classlabels_int64s", std::vector<int>{30, 10, 20});
  const std::string node = TwoTrees(Votes("class", {0, 1, 2, 2}) + labels);
  const std::string names = StringsAttr("classlabels_strings", {"cat", "dog", "owl"});
  ExpectValues(
      {{Classifier(node, "'l' output: 'y'"), {x}, {1, 0, 3, 0, 2, 4}},
       {Classifier(node, "'y' output: 'p'"), {x}, {20, 20}},
       {Classifier(node + FloatsAttr("base_values", {9, 0, 0}), "'y' output: 'p'"), {x}, {30, 30}},
       // A string label is replaced by its position.
       {Classifier(TwoTrees(Votes("class", {0, 1, 2, 2}) + names), "'y' output: 'p'"),
        {x},
        {2, 2}}});
}

TEST(Trees, ChooseOneOfTwoClassesByOneScore) {
  const Given x = {"x", {2, 1}, {1, 3}};
  const std::string labels = Attr("classlabels_int64s", std::vector<int>{7, 9});
  const auto with = [&](const std::vector<double>& weights, const std::string& rest,
                        const char* outputs) {
    return Classifier(Question("BRANCH_LEQ", Targets({0, 0}, weights, "class") + labels + rest),
                      outputs);
  };
  const std::string logistic = Attr("post_transform", "LOGISTIC");
  ExpectValues({
      // Weights that are shares.
      {with({0.25, 0.75}, "", "'l' output: 'y'"), {x}, {0.75, 0.25, 0.25, 0.75}},
      {with({0.25, 0.75}, "", "'y' output: 'p'"), {x}, {7, 9}},
      // Weights of both signs.
      {with({-1, 2}, "", "'l' output: 'y'"), {x}, {1, -1, -2, 2}},
      {with({-1, 2}, logistic, "'l' output: 'y'"),
       {x},
       {0.73105858, 0.26894142, 0.11920292, 0.88079708}},
      {with({-1, 2}, logistic, "'y' output: 'p'"), {x}, {7, 9}},
      {with({-1, 2}, FloatsAttr("base_values", {1.5}), "'y' output: 'p'"), {x}, {9, 9}},
  });
}

// Returns an attribute that is a tensor of float32.
std::string TensorAttr(const char* name, const std::vector<double>& values) {
  return absl::StrCat(" attribute { name: '", name,
                      "' type: TENSOR t { data_type: 1 dims: ", values.size(), " float_data: [",
                      absl::StrJoin(values, ", "), "] } }");
}

std::string Ensemble(const std::vector<double>& modes, const std::string& rest) {
  return MachineLearningNode(
      "TreeEnsemble", Attr("tree_roots", std::vector<int>{0}) + TensorAttr("nodes_modes", modes) +
                          Attr("nodes_featureids", std::vector<int>{0, 1}) +
                          TensorAttr("nodes_splits", {2, 0.5}) +
                          Attr("nodes_truenodeids", std::vector<int>{1, 1}) +
                          Attr("nodes_trueleafs", std::vector<int>{0, 1}) +
                          Attr("nodes_falsenodeids", std::vector<int>{0, 2}) +
                          Attr("nodes_falseleafs", std::vector<int>{1, 1}) +
                          Attr("leaf_targetids", std::vector<int>{0, 0, 0}) +
                          TensorAttr("leaf_weights", {10, 20, 30}) + rest);
}

TEST(Trees, AreReadFromTreeEnsemble) {
  const Given x = {"x", {3, 2}, {2, 0.5, 2, 1, 5, 0}};
  ExpectValues({{Ensemble({0, 0}, ""), {x}, {20, 30, 10}},
                {Ensemble({3, 1}, ""), {x}, {10, 10, 20}},
                {Ensemble({0, 6}, TensorAttr("membership_values", {0.5, 7, 1})), {x}, {20, 20, 10}},
                {Ensemble({0, 6}, TensorAttr("membership_values", {7})), {x}, {30, 30, 10}}});
}

TEST(Trees, AreRefusedWhereTheyAreNoTrees) {
  const Given x = {"x", {1, 2}, {1, 1}};
  const std::string targets = Targets({0, 0}, {10, 20});
  const auto circle = [&] {
    return Attr("nodes_treeids", std::vector<int>{0, 0, 0, 0}) +
           Attr("nodes_nodeids", std::vector<int>{0, 1, 2, 3}) +
           Attr("nodes_featureids", std::vector<int>{0, 0, 0, 0}) +
           FloatsAttr("nodes_values", {2, 0, 0, 0}) +
           StringsAttr("nodes_modes", {"BRANCH_LT", "LEAF", "LEAF", "BRANCH_LT"}) +
           Attr("nodes_truenodeids", std::vector<int>{3, 0, 0, 3}) +
           Attr("nodes_falsenodeids", std::vector<int>{2, 0, 0, 1});
  };
  const struct {
    std::string node, text;
  } rows[] = {
      {Regressor(""), "nodes_treeids: found no values, wanted at least one node"},
      {Regressor(Question("BRANCH_ODD", targets)), "found BRANCH_ODD, wanted BRANCH_LEQ"},
      {Regressor(Question("BRANCH_LT") + Targets({0, 3}, {1, 2})),
       "a value of target_ids: found 3, wanted 0 to 0"},
      {Regressor(Question("LEAF", targets)), "tree 0: found 3 roots, wanted one"},
      {Regressor(Question("BRANCH_LT", Targets({0, 0}, {1}))),
       "target_weights: found 1 values, wanted 2, one for each value of target_treeids"},
      {Regressor(circle() + targets), "a circle"},
      {Regressor(Question("BRANCH_LT", targets + Attr("aggregate_function", "MEDIAN"))),
       "aggregate_function: found MEDIAN, wanted AVERAGE, SUM, MIN or MAX"},
      {Regressor(Question("BRANCH_LT", targets + Attr("post_transform", "ODD"))),
       "post_transform: found ODD"},
      {Regressor(Question("BRANCH_LT", targets + FloatsAttr("base_values", {1, 2}))),
       "base_values: found 2 values, wanted 1, one for each target"},
      {Regressor(Question("BRANCH_LT", targets + Attr("n_targets", 0))), "n_targets: found 0"},
      {Classifier(Question("BRANCH_LT", Targets({0, 0}, {1, 2}, "class")), "'y'"),
       "wanted classlabels_int64s or classlabels_strings"},
      {Ensemble({0, 9}, ""), "a value of nodes_modes: found 9, wanted 0 to 6"},
      {Ensemble({6, 6}, TensorAttr("membership_values", {1})), "membership_values: found 1 sets"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(ValuesOf({row.node, {x}, {}}).status().message(), HasSubstr(row.text)) << row.node;
  }
  std::string far = Question("BRANCH_LT", targets);
  far.replace(far.find("[0, 0, 0]", far.find("nodes_featureids")), 9, "[4, 0, 0]");
  EXPECT_THAT(ValuesOf({Regressor(far), {x}, {}}).status().message(),
              HasSubstr("the feature of node 0 of tree 0: found 4, wanted 0 to 1"));
}

TEST(Trees, HaveABoundedDepth) {
  const auto chain = [](int depth) {
    std::vector<int> zeros(2 * depth + 1), ids, yes, no;
    std::vector<std::string> modes;
    for (int n = 0; n < depth; ++n) {
      ids.push_back(n);
      yes.push_back(depth + n);
      no.push_back(n + 1 < depth ? n + 1 : 2 * depth);
      modes.push_back("BRANCH_LEQ");
    }
    for (int n = depth; n <= 2 * depth; ++n) {
      ids.push_back(n);
      yes.push_back(0);
      no.push_back(0);
      modes.push_back("LEAF");
    }
    std::vector<double> values(ids.begin(), ids.end());
    return Regressor(Attr("nodes_treeids", zeros) + Attr("nodes_nodeids", ids) +
                     Attr("nodes_featureids", zeros) + FloatsAttr("nodes_values", values) +
                     StringsAttr("nodes_modes", modes) + Attr("nodes_truenodeids", yes) +
                     Attr("nodes_falsenodeids", no) + Attr("target_treeids", std::vector<int>{0}) +
                     Attr("target_nodeids", std::vector<int>{2 * depth}) +
                     Attr("target_ids", std::vector<int>{0}) + FloatsAttr("target_weights", {5}));
  };
  const Given x = {"x", {2, 1}, {1, 1000}};
  ExpectValues({{chain(512), {x}, {0, 5}}});
  EXPECT_THAT(ValuesOf({chain(513), {x}, {}}).status().message(),
              HasSubstr("a tree asks more than 512 questions of a sample"));
}

}  // namespace
}  // namespace kiln::onnx_frontend
