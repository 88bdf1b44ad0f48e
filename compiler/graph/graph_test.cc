// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/graph.h"

#include <functional>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/graph/relay_text.h"
#include "compiler/graph/rewrite.h"
#include "compiler/graph/test_ops.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

Graph Parse(absl::string_view text) {
  absl::StatusOr<Graph> graph =
      ParseRelay(absl::StrCat("#[version = \"0.0.5\"]\n", text), "t.relay", FindTestOp);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *std::move(graph) : Graph();
}

constexpr char kText[] = R"(def @main(%a: int8, %b: int8, flag=1) {
  %0 = add(%a, 5i16) /* ty=int8 */;
  %1 = fn (%p: int8, Primitive=1) -> int8 { nn.relu(%p) /* ty=int8 */ };
  %2 = %1(%0) /* ty=int8 */;
  (%2, %0)
})";

TEST(SourceLocation, Prints) {
  EXPECT_EQ((SourceLocation{.file = "m.relay", .line = 3, .column = 8, .node = ""}).ToString(),
            "m.relay:3:8: ");
  EXPECT_EQ((SourceLocation{.file = "m.onnx", .line = 0, .column = 0, .node = "c1"}).ToString(),
            "m.onnx: node 'c1': ");
  EXPECT_EQ((SourceLocation{.file = "m.onnx", .line = 0, .column = 0, .node = ""}).ToString(),
            "m.onnx: ");
  EXPECT_EQ(SourceLocation().ToString(), "");
}

TEST(Graph, NamesItsOutputs) {
  Graph graph;
  graph.outputs = {graph.AddInput("a", {})};
  EXPECT_EQ(graph.OutputName(0), "output");
  graph.outputs.push_back(graph.outputs[0]);
  EXPECT_EQ(graph.OutputName(1), "output1");
  graph.output_names = {"x", "y"};
  EXPECT_EQ(graph.OutputName(1), "y");
}

TEST(Graph, KnowsConsumers) {
  const Graph graph = Parse("def @main(%a: int8) { %0 = add(%a, %a); add(%0, %a) }");
  EXPECT_EQ(graph.Consumers()[static_cast<size_t>(graph.inputs[0])],
            (std::vector<NodeId>{0, 0, 1}));
}

TEST(Compare, IgnoresPlacesHintsAndWhatNothingReads) {
  const Graph graph = Parse(kText);
  Graph other = Parse(absl::StrCat("\n\n", kText));
  other.AddConstant(Tensor::Scalar(DType::Int(8), 1));
  other.value(other.node(0).outputs[0]).name = "hint";
  EXPECT_TRUE(graph == other);
}

TEST(Compare, SeesEveryDifference) {
  const Graph graph = Parse(kText);
  auto with = [](const std::string& from, const std::string& to) {
    std::string text = kText;
    return Parse(text.replace(text.find(from), from.size(), to));
  };
  EXPECT_FALSE(graph == with("add(", "subtract("));
  EXPECT_FALSE(graph == with("5i16", "6i16"));
  EXPECT_FALSE(graph == with("5i16", "%b"));
  EXPECT_FALSE(graph == with("%b: int8", "%b: int16"));
  EXPECT_FALSE(graph == with("%b: int8", "%c: int8"));
  EXPECT_FALSE(graph == with("%b: int8, ", ""));
  EXPECT_FALSE(graph == with("flag=1", "flag=2"));
  EXPECT_FALSE(graph == with("flag=1", "flag=1, output_tensor_names=[\"x\", \"y\"]"));
  EXPECT_FALSE(graph == with("Primitive=1", "Primitive=1, hash=2"));
  EXPECT_FALSE(graph == with("nn.relu(%p)", "add(%p, %p)"));
  EXPECT_FALSE(graph == with("(%2, %0)", "(%0, %2)"));
  EXPECT_FALSE(graph == with("(%2, %0)", "(%2, %0, %0)"));
  EXPECT_FALSE(graph == with("(%2, %0)", "%3 = nn.relu(%a); (%2, %0)"));
  Graph untyped = graph;
  untyped.value(graph.node(0).outputs[0]).type.reset();
  EXPECT_FALSE(graph == untyped);
}

struct Breakage {
  const char* message;
  std::function<void(Graph&)> apply;
};

TEST(Verify, FindsEveryBrokenRule) {
  const Breakage breakages[] = {
      {"there is no value 99", [](Graph& g) { g.outputs[0] = 99; }},
      {"there is no value -1", [](Graph& g) { g.nodes[0].inputs[0] = kNoId; }},
      {"is read before it is defined",
       [](Graph& g) { g.nodes[0].inputs[0] = g.nodes[1].outputs[0]; }},
      {"has two origins", [](Graph& g) { g.inputs.push_back(g.inputs[0]); }},
      {"has no origin", [](Graph& g) { g.values.emplace_back(); }},
      {"is among the inputs and is of another kind",
       [](Graph& g) { g.inputs[0] = g.nodes[0].outputs[0]; }},
      {"input 'a' has no type", [](Graph& g) { g.value(g.inputs[0]).type.reset(); }},
      {"has no name", [](Graph& g) { g.value(g.inputs[0]).name.clear(); }},
      {"two inputs have the name 'b'", [](Graph& g) { g.value(g.inputs[0]).name = "b"; }},
      {"has a type that is not its tensor's",
       [](Graph& g) { g.value(g.nodes[0].inputs[1]).type->dtype = DType::Int(8); }},
      {"does not point back at its node",
       [](Graph& g) { g.value(g.nodes[0].outputs[0]).node = 1; }},
      {"found 1 input, wanted 2", [](Graph& g) { g.nodes[0].inputs.pop_back(); }},
      {"unknown attribute 'x'", [](Graph& g) { g.nodes[0].attrs.Set("x", 1); }},
      {"attributes are not normalized",
       [](Graph& g) { g.nodes[0].op = FindTestOp("nn.bias_add"); }},
      {"found 1 outputs, wanted 3",
       [](Graph& g) {
         g.nodes[0].op = FindTestOp("nn.batch_norm");
         g.nodes[0].inputs.assign(5, g.inputs[0]);
         g.nodes[0].attrs = *NormalizeAttrs(*g.nodes[0].op, {});
       }},
      {"an operator has no body", [](Graph& g) { g.nodes[0].body = g.nodes[1].body; }},
      {"a group needs a body", [](Graph& g) { g.nodes[1].body = nullptr; }},
      {"a group needs the attribute Primitive=1", [](Graph& g) { g.nodes[1].attrs = {}; }},
      {"attribute 'input_names' is reserved", [](Graph& g) { g.attrs.Set("input_names", 1); }},
      {"there are 2 outputs and 1 output_names", [](Graph& g) { g.output_names = {"x"}; }},
      {"in its body of type",
       [](Graph& g) { g.value(g.nodes[0].outputs[0]).type->dtype = DType::Int(16); }},
      {"found 2 inputs, its body has 1",
       [](Graph& g) { g.nodes[1].inputs.push_back(g.inputs[0]); }},
      {"body: graph is broken",
       [](Graph& g) {
         auto body = std::make_shared<Graph>(*g.nodes[1].body);
         body->outputs[0] = 99;
         g.nodes[1].body = std::move(body);
       }},
      {"found some on its body",
       [](Graph& g) {
         auto body = std::make_shared<Graph>(*g.nodes[1].body);
         body->attrs.Set("x", 1);
         g.nodes[1].body = std::move(body);
       }},
  };
  const Graph graph = Parse(kText);
  ASSERT_EQ(Verify(graph, /*typed=*/true), absl::OkStatus());
  for (const Breakage& breakage : breakages) {
    Graph broken = graph;
    breakage.apply(broken);
    const absl::Status status = Verify(broken, /*typed=*/false);
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal) << breakage.message;
    EXPECT_TRUE(absl::StrContains(status.message(), breakage.message)) << status << "\n"
                                                                       << breakage.message;
  }
}

TEST(Verify, WantsTypesOnlyIfTyped) {
  Graph graph = Parse(kText);
  graph.value(graph.node(0).outputs[0]).type.reset();
  EXPECT_EQ(Verify(graph, /*typed=*/false), absl::OkStatus());
  EXPECT_TRUE(absl::StrContains(Verify(graph, /*typed=*/true).message(), "has no type"));
}

TEST(Rewrite, CopiesEverything) {
  const Graph graph = Parse(kText);
  GraphRewriter rewriter(graph);
  for (size_t i = 0; i < graph.nodes.size(); ++i) rewriter.Copy(static_cast<NodeId>(i));
  EXPECT_TRUE(std::move(rewriter).Finish() == graph);
}

TEST(Rewrite, ReplacesAndLeavesOutWhatNothingReads) {
  const Graph graph = Parse(
      "def @main(%a: int8, %b: int8, x=1) { %0 = add(%a, 5i16); %1 = nn.relu(%0); add(%1, 6i16) }");
  GraphRewriter rewriter(graph);
  rewriter.Copy(0);
  rewriter.Replace(graph.node(1).outputs[0], rewriter.Map(graph.inputs[1]));
  rewriter.Copy(2);
  const Graph result = std::move(rewriter).Finish();
  EXPECT_EQ(Verify(result, /*typed=*/false), absl::OkStatus());
  EXPECT_TRUE(result == Parse("def @main(%a: int8, %b: int8, x=1) { add(%b, 6i16) }"))
      << PrintRelay(result);
  EXPECT_EQ(result.values.size(), 4u);  // two inputs, a constant, a sum
}

TEST(Print, WithoutMetadataShowsWhereConstantsAre) {
  Graph graph;
  const ValueId c = graph.AddConstant(Tensor::From<int8_t>({2}, DType::Int(8), {1, 2}));
  graph.outputs =
      graph.node(graph.AddNode({.op = FindTestOp("nn.relu"), .inputs = {c}}, 1)).outputs;
  EXPECT_EQ(PrintRelay(graph, {.types = false, .metadata = false}),
            "#[version = \"0.0.5\"]\ndef @main() {\n  nn.relu(meta[relay.Constant][0])\n}\n");
}

}  // namespace
}  // namespace kiln
