// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/onnx/end_at.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace kiln::onnx_frontend {
namespace {

using ::testing::ElementsAre;

// x -> first -> a -> second -> b, c; y -> third -> d. The outputs are b and d. The type of b is
// declared.
constexpr char kGraph[] = R"(
  input { name: 'x' } input { name: 'y' }
  output { name: 'b' type { tensor_type { elem_type: 1 } } } output { name: 'd' }
  node { name: 'first' op_type: 'Relu' input: 'x' output: 'a' }
  node { name: 'second' op_type: 'Split' input: 'a' output: 'b' output: 'c' }
  node { name: 'third' op_type: 'Relu' input: 'y' output: 'd' })";

onnx::GraphProto Parse(const char* text) {
  onnx::GraphProto graph;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &graph));
  return graph;
}

template <typename Messages>
std::vector<std::string> Names(const Messages& messages) {
  std::vector<std::string> names;
  for (const auto& message : messages) names.push_back(message.name());
  return names;
}

TEST(EndAt, KeepsWhatTheValuesNeed) {
  onnx::GraphProto graph = Parse(kGraph);
  ASSERT_TRUE(EndAt({"a"}, graph).ok());
  EXPECT_THAT(Names(graph.input()), ElementsAre("x"));
  EXPECT_THAT(Names(graph.node()), ElementsAre("first"));
  EXPECT_THAT(Names(graph.output()), ElementsAre("a"));
}

TEST(EndAt, KeepsTheOrderAndDeclaredTypes) {
  onnx::GraphProto graph = Parse(kGraph);
  ASSERT_TRUE(EndAt({"d", "b", "d"}, graph).ok());
  EXPECT_THAT(Names(graph.output()), ElementsAre("d", "b"));
  EXPECT_EQ(graph.output(1).type().tensor_type().elem_type(), 1);
  EXPECT_THAT(Names(graph.node()), ElementsAre("first", "second", "third"));
}

TEST(EndAt, TakesTheNameOfANodeForItsOutputs) {
  onnx::GraphProto graph = Parse(kGraph);
  ASSERT_TRUE(EndAt({"second", "y"}, graph).ok());
  EXPECT_THAT(Names(graph.output()), ElementsAre("b", "c", "y"));
  EXPECT_THAT(Names(graph.input()), ElementsAre("x", "y"));
  EXPECT_THAT(Names(graph.node()), ElementsAre("first", "second"));
}

TEST(EndAt, BodiesReadValuesAroundThem) {
  onnx::GraphProto graph = Parse(R"(
    input { name: 'x' } input { name: 'y' } input { name: 'z' } output { name: 'r' }
    node { name: 'outer' op_type: 'Relu' input: 'y' output: 'a' }
    node { name: 'other' op_type: 'Relu' input: 'z' output: 'b' }
    node { name: 'choice' op_type: 'If' input: 'x' output: 'r' attribute { name: 'then_branch'
      g { output { name: 'o' } node { op_type: 'Relu' input: 'a' output: 'o' } } } })");
  ASSERT_TRUE(EndAt({"r"}, graph).ok());
  EXPECT_THAT(Names(graph.node()), ElementsAre("outer", "choice"));
  EXPECT_THAT(Names(graph.input()), ElementsAre("x", "y"));
}

TEST(EndAt, UnknownNamesAreErrors) {
  onnx::GraphProto graph = Parse(kGraph);
  EXPECT_EQ(EndAt({"b", "secnd"}, graph).message(),
            "--outputs: the model has no value and no node 'secnd', perhaps 'second'");
  EXPECT_THAT(Names(graph.output()), ElementsAre("b", "d"));
}

}  // namespace
}  // namespace kiln::onnx_frontend
