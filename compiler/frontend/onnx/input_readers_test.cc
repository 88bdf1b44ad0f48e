// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/onnx/input_readers.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace kiln::onnx_frontend {
namespace {

using frontend::ModelPort;
using ::testing::ElementsAre;

// Returns an input "x" with open dimensions, as set by the readers in a graph in text form.
ModelPort ReadBy(const std::string& graph, size_t rank) {
  onnx::GraphProto proto;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(graph, &proto));
  std::vector<ModelPort> inputs(1);
  inputs[0].name = "x";
  inputs[0].extents.resize(rank);
  AddFactsOfReaders(proto, inputs);
  return inputs[0];
}

// Returns the size that the readers require of each dimension; 0: none.
std::vector<int64_t> WantedBy(const std::string& graph, size_t rank) {
  std::vector<int64_t> sizes;
  for (const auto& extent : ReadBy(graph, rank).extents) sizes.push_back(extent.wanted.value_or(0));
  return sizes;
}

const char kWeights[] =
    "initializer { name: 'w' dims: 8 dims: 3 dims: 5 dims: 5 } initializer { name: 'm' dims: 12 "
    "dims: 7 } initializer { name: 'r' dims: 1 dims: 16 dims: 9 } initializer { name: 'v' dims: 6 "
    "} ";

TEST(InputReaders, ConvolutionsWantChannels) {
  const std::string conv = absl::StrCat(kWeights,
                                        "node { op_type: 'Conv' input: 'x' input: 'w' output: 'y' "
                                        "attribute { name: 'group' type: INT i: 4 } }");
  EXPECT_THAT(WantedBy(conv, 4), ElementsAre(0, 12, 0, 0));
  EXPECT_TRUE(ReadBy(conv, 4).is_convolved);
  const std::string behind_cast =
      absl::StrCat(kWeights,
                   "node { op_type: 'Cast' input: 'x' output: 'a' } node { op_type: 'QLinearConv' "
                   "input: 'a' input: '' input: '' input: 'w' output: 'y' }");
  EXPECT_THAT(WantedBy(behind_cast, 4), ElementsAre(0, 3, 0, 0));
}

TEST(InputReaders, StatesAreWhatRecurrentOperatorsBeginWith) {
  EXPECT_TRUE(ReadBy("node { op_type: 'LSTM' input: 'a' input: 'w' input: 'r' input: '' input: '' "
                     "input: 'x' output: 'y' }",
                     3)
                  .is_state);
  EXPECT_TRUE(ReadBy("node { op_type: 'Slice' input: 'x' input: 'from' output: 's' } "
                     "node { op_type: 'GRU' input: 'a' input: 'w' input: 'r' input: '' input: '' "
                     "input: 's' output: 'y' }",
                     3)
                  .is_state);
  EXPECT_FALSE(
      ReadBy("node { op_type: 'LSTM' input: 'x' input: 'w' input: 'r' output: 'y' }", 3).is_state);
}

TEST(InputReaders, OperatorsWithWeightsWantTheirRows) {
  const auto wanted = [](const std::string& node, size_t rank) {
    return WantedBy(absl::StrCat(kWeights, "node { input: 'x' output: 'y' ", node, " }"), rank);
  };
  EXPECT_THAT(wanted("op_type: 'MatMul' input: 'm'", 3), ElementsAre(0, 0, 12));
  EXPECT_THAT(wanted("op_type: 'Gemm' input: 'm'", 2), ElementsAre(0, 12));
  EXPECT_THAT(wanted("op_type: 'Gemm' input: 'm' attribute { name: 'transB' type: INT i: 1 }", 2),
              ElementsAre(0, 7));
  EXPECT_THAT(wanted("op_type: 'GRU' input: 'r'", 3), ElementsAre(0, 0, 9));
  EXPECT_THAT(wanted("op_type: 'BatchNormalization' input: 'v'", 4), ElementsAre(0, 6, 0, 0));
  EXPECT_THAT(wanted("op_type: 'LayerNormalization' input: 'v'", 3), ElementsAre(0, 0, 6));
  EXPECT_FALSE(ReadBy("node { op_type: 'Relu' input: 'x' output: 'y' }", 2).is_convolved);
}

TEST(InputReaders, OperatorsOfMachineLearningWantFeatures) {
  const auto wanted = [](const std::string& node) {
    return WantedBy("node { input: 'x' output: 'y' " + node + " }", 2);
  };
  EXPECT_THAT(wanted("op_type: 'Scaler' attribute { name: 'scale' floats: [1, 2, 3] }"),
              ElementsAre(0, 3));
  EXPECT_THAT(wanted("op_type: 'LinearRegressor' attribute { name: 'coefficients' floats: [1, 2, "
                     "3, 4] } attribute { name: 'targets' i: 2 }"),
              ElementsAre(0, 2));
  EXPECT_THAT(wanted("op_type: 'LinearClassifier' attribute { name: 'coefficients' floats: [1, 2, "
                     "3, 4, 5, 6] } attribute { name: 'intercepts' floats: [0, 0] }"),
              ElementsAre(0, 3));
  EXPECT_THAT(wanted("op_type: 'SVMRegressor' attribute { name: 'support_vectors' floats: [1, 2, "
                     "3, 4] } attribute { name: 'n_supports' i: 1 }"),
              ElementsAre(0, 4));
  EXPECT_THAT(
      wanted("op_type: 'TreeEnsembleRegressor' attribute { name: 'nodes_featureids' ints: [0, 4, "
             "2] }"),
      ElementsAre(0, 5));
}

TEST(InputReaders, ReadersThatMakeNoSenseSayNothing) {
  for (const char* node :
       {"op_type: 'Conv'", "op_type: 'Conv' input: 'none'", "op_type: 'Conv' input: 'v'",
        "op_type: 'LSTM' input: 'm'", "op_type: 'Scaler'",
        "op_type: 'Conv' input: 'w' attribute { name: 'group' i: 9223372036854775807 }",
        "op_type: 'Conv' input: 'w' attribute { name: 'group' i: -1 }",
        "op_type: 'LinearRegressor' attribute { name: 'targets' i: 0 }",
        "op_type: 'TreeEnsembleRegressor' attribute { name: 'nodes_featureids' ints: "
        "[9223372036854775807] }"}) {
    EXPECT_THAT(WantedBy(absl::StrCat(kWeights, "node { input: 'x' output: 'y' ", node, " }"), 2),
                ElementsAre(0, 0))
        << node;
  }
  // The rank of the input differs from the rank that the reader expects.
  const std::string conv =
      absl::StrCat(kWeights, "node { op_type: 'Conv' input: 'x' input: 'w' output: 'y' }");
  EXPECT_THAT(WantedBy(conv, 1), ElementsAre(0));
}

}  // namespace
}  // namespace kiln::onnx_frontend
