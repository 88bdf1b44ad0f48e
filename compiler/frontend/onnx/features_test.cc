// SPDX-License-Identifier: Apache-2.0
// Operators of the domain ai.onnx.ml that prepare features.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "compiler/frontend/onnx/values_of.h"

namespace kiln::onnx_frontend {
namespace {

using testing::HasSubstr;

const Given kX = {"x", {2, 2}, {1, -3, 0, 0}};

TEST(Features, AreScaled) {
  ExpectValues({
      {MachineLearningNode("Scaler", FloatsAttr("offset", {1, 2}) + FloatsAttr("scale", {2, 10})),
       {kX},
       {0, -50, -2, -20}},
      {MachineLearningNode("Scaler", FloatsAttr("offset", {1}) + FloatsAttr("scale", {2})),
       {kX},
       {0, -8, -2, -2}},
      {MachineLearningNode("Normalizer", Attr("norm", "L1")), {kX}, {0.25, -0.75, 0, 0}},
      {MachineLearningNode("Normalizer", Attr("norm", "L2")), {kX}, {0.31622777, -0.9486833, 0, 0}},
      {MachineLearningNode("Normalizer", ""), {{"x", {1, 2}, {1, 4}}}, {0.25, 1}},
      {MachineLearningNode("Binarizer", Attr("threshold", -1.0)), {kX}, {1, 0, 1, 1}},
  });
}

TEST(Features, AreImputed) {
  ExpectValues({
      {MachineLearningNode("Imputer", FloatsAttr("imputed_value_floats", {8, 9}) +
                                          Attr("replaced_value_float", NAN)),
       {{"x", {2, 2}, {NAN, 1, 2, NAN}}},
       {8, 1, 2, 9}},
      {MachineLearningNode(
           "Imputer", FloatsAttr("imputed_value_floats", {7}) + Attr("replaced_value_float", 0.0)),
       {kX},
       {1, -3, 7, 7}},
      {MachineLearningNode(
           "Imputer", Attr("replaced_value_int64", -1) +
                          " attribute { name: 'imputed_value_int64s' type: INTS ints: [5, 6] }"),
       {{"x", {2, 2}, {-1, 1, 2, -1}, onnx::TensorProto::INT64}},
       {5, 1, 2, 6}},
  });
}

TEST(Features, AreChosenAndJoined) {
  ExpectValues({
      {MachineLearningNode("ArrayFeatureExtractor", "", "'y'", "'x' input: 'i'"),
       {kX, Ints("i", {1, 1})},
       {-3, -3, 0, 0}},
      {MachineLearningNode("ArrayFeatureExtractor", "", "'y'", "'x' input: 'i'"),
       {Ints("x", {5, 6, 7}), Ints("i", {2, 0})},
       {7, 5}},
      {MachineLearningNode("FeatureVectorizer", "", "'y'", "'x' input: 'z'"),
       {kX, {"z", {2, 1}, {8, 9}, onnx::TensorProto::INT64}},
       {1, -3, 8, 0, 0, 9}},
      {MachineLearningNode("ZipMap", Attr("classlabels_int64s", std::vector<int>{1, 2})),
       {kX},
       {1, -3, 0, 0}},
  });
}

TEST(Features, AreEncoded) {
  const std::string categories = Attr("cats_int64s", std::vector<int>{4, 2});
  const std::string keys = Attr("keys_int64s", std::vector<int>{30, 10, 20});
  ExpectValues({
      {MachineLearningNode("OneHotEncoder", categories),
       {Ints("x", {2, 4, 3})},
       {0, 1, 1, 0, 0, 0}},
      {MachineLearningNode("OneHotEncoder", categories), {{"x", {2}, {2, 4}}}, {0, 1, 1, 0}},
      {MachineLearningNode("LabelEncoder", keys + FloatsAttr("values_floats", {0.3, 0.1, 0.2}) +
                                               Attr("default_float", 9.0)),
       {Ints("x", {10, 20, 30, 40})},
       {0.1, 0.2, 0.3, 9}},
      {MachineLearningNode("LabelEncoder", keys + Attr("values_int64s", std::vector<int>{3, 1, 2})),
       {Ints("x", {20, 5})},
       {2, -1}},
      {MachineLearningNode("LabelEncoder", FloatsAttr("keys_floats", {NAN, 0.5}) +
                                               Attr("values_int64s", std::vector<int>{7, 8})),
       {{"x", {3}, {0.5, NAN, 1}}},
       {8, 7, -1}},
  });
}

TEST(Features, Refusals) {
  const struct {
    std::string node, text;
  } rows[] = {
      {MachineLearningNode("Scaler", FloatsAttr("offset", {1, 2, 3}) + FloatsAttr("scale", {1})),
       "offset: found 3 values, wanted 2, one for each feature, or 1"},
      {MachineLearningNode("Normalizer", Attr("norm", "L3")),
       "norm: found L3, wanted MAX, L1 or L2"},
      {MachineLearningNode("OneHotEncoder", ""), "categories: found none, wanted cats_int64s"},
      {MachineLearningNode("OneHotEncoder", StringsAttr("cats_strings", {"a"})),
       "encode them as numbers"},
      {MachineLearningNode("LabelEncoder", StringsAttr("keys_strings", {"a"})),
       "keys that are strings"},
      {MachineLearningNode("LabelEncoder",
                           FloatsAttr("keys_floats", {1, 2}) + FloatsAttr("values_floats", {1})),
       "keys and values: found 2 and 1, wanted as many"},
      {MachineLearningNode("LabelEncoder", Attr("keys_int64s", std::vector<int>{1}) +
                                               Attr("values_int64s", std::vector<int>{1})),
       "the keys: found int64, wanted float32"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(ValuesOf({row.node, {kX}, {}}).status().message(), HasSubstr(row.text)) << row.node;
  }
}

}  // namespace
}  // namespace kiln::onnx_frontend
