// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/state.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

const TensorType kPair = {{1, 2}, DType::Float(32)}, kTriple = {{1, 3}, DType::Float(32)};

// Inputs "x", "h", "a=b" and "t"; outputs "y", "h_out", "c" and "t_out". "t" and "t_out" have
// another type than the rest.
Graph Model() {
  Graph graph;
  for (const char* name : {"x", "h", "a=b"}) graph.outputs.push_back(graph.AddInput(name, kPair));
  graph.outputs.push_back(graph.AddInput("t", kTriple));
  graph.inputs = graph.outputs;
  graph.output_names = {"y", "h_out", "c", "t_out"};
  return graph;
}

void ExpectRefused(const char* pair, const char* words) {
  Graph graph = Model();
  const absl::Status status = DeclareState(pair, graph);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << pair;
  EXPECT_TRUE(absl::StrContains(status.message(), words)) << status;
  EXPECT_TRUE(absl::StartsWith(status.message(), "--state: found ")) << status;
}

TEST(State, IsDeclaredByNames) {
  Graph graph = Model();
  ASSERT_TRUE(DeclareState("h=h_out", graph).ok());
  ASSERT_TRUE(DeclareState("a=b=c", graph).ok());
  AddState("t", "t_out", -3, graph);
  const auto states = StatesOf(graph);
  ASSERT_TRUE(states.ok()) << states.status();
  ASSERT_EQ(states->size(), 3u);
  EXPECT_EQ((*states)[0].input, 1);
  EXPECT_EQ((*states)[0].output, 1);
  EXPECT_EQ((*states)[0].initial, 0);
  EXPECT_EQ((*states)[1].input, 2);
  EXPECT_EQ((*states)[1].output, 2);
  EXPECT_EQ((*states)[2].initial, -3);
}

TEST(State, AGraphWithoutAttributesHasNone) {
  const auto states = StatesOf(Model());
  ASSERT_TRUE(states.ok()) << states.status();
  EXPECT_TRUE(states->empty());
}

TEST(State, WhatIsNoPairOfTheModelIsRefused) {
  ExpectRefused("h", "'h', wanted input=output");
  ExpectRefused("=h_out", "wanted input=output");
  ExpectRefused("h=", "wanted input=output");
  ExpectRefused("g=h_out", "no input 'g', wanted one of 'x', 'h', 'a=b', 't'");
  ExpectRefused("h=h_in", "no output 'h_in', wanted one of 'y', 'h_out', 'c', 't_out'");
  ExpectRefused("t=h_out", "Tensor[(1, 3), float32] in the input 't' and Tensor[(1, 2), float32]");
}

TEST(State, InputsAndOutputsAreInOnePairEach) {
  for (const char* second : {"h=y", "x=h_out"}) {
    Graph graph = Model();
    ASSERT_TRUE(DeclareState("h=h_out", graph).ok());
    const absl::Status status = DeclareState(second, graph);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << second;
    EXPECT_TRUE(absl::StrContains(status.message(), "in two pairs")) << status;
  }
}

TEST(State, AttributesOfAnotherFormAreRefused) {
  const auto refusal = [](const std::string& attr, AttrValue value) {
    Graph graph = Model();
    AddState("h", "h_out", 0, graph);
    graph.attrs.Set(attr, std::move(value));
    const absl::Status status = StatesOf(graph).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_TRUE(absl::StartsWith(status.message(), "@main: state: found ")) << status;
    return std::string(status.message());
  };
  using List = std::vector<AttrValue>;
  EXPECT_TRUE(absl::StrContains(refusal("state_inputs", 1), "1 in state_inputs, wanted a list"));
  EXPECT_TRUE(absl::StrContains(refusal("state_inputs", List{AttrValue(2)}), "no input 2"));
  EXPECT_TRUE(absl::StrContains(refusal("state_outputs", List{}), "0 state_outputs"));
  EXPECT_TRUE(absl::StrContains(refusal("state_initial", List{AttrValue("0")}), "wanted a float"));
}

}  // namespace
}  // namespace kiln
