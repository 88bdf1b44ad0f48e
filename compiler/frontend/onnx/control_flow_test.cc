// SPDX-License-Identifier: Apache-2.0
// Control flow, sequences, recurrent operators and functions of models in protobuf's text form:
// values that the importer computes, resulting graphs, and refusals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/frontend/onnx/model_text.h"

namespace kiln::onnx_frontend {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Returns the bytes of a model of operator set 16. `rest` is placed next to the graph.
std::string Model16(const std::string& graph, const std::string& rest = "") {
  return Model(graph, 16, rest);
}

const std::string kX =
    "input { name: 'x' type { tensor_type { elem_type: 1 shape { dim { dim_value: 3 } } } } }\n";

std::string Flag(int value) {
  return absl::StrCat("initializer { name: 'c' data_type: 9 int32_data: ", value, " }\n");
}

std::string Floats(const std::string& name, const std::vector<float>& values) {
  std::string text =
      absl::StrCat("initializer { name: '", name, "' data_type: 1 dims: ", values.size(), " ");
  for (float value : values) absl::StrAppend(&text, "float_data: ", value, " ");
  return text + "}\n";
}

std::string Int(const std::string& name, int64_t value) {
  return absl::StrCat("initializer { name: '", name, "' data_type: 7 int64_data: ", value, " }\n");
}

std::string Branch(const std::string& name, const std::string& op) {
  return absl::StrCat("attribute { name: '", name, "_branch' type: GRAPH g { node { op_type: '", op,
                      "' input: 'x' output: '", name, "' } output { name: '", name, "' } } } ");
}

std::string IfNode(const std::string& branches) {
  return "node { op_type: 'If' name: 'if' input: 'c' output: 'y' " + branches + "}\n";
}

const std::string kFlagInput =
    "input { name: 'c' type { tensor_type { elem_type: 9 shape { } } } }\n";

TEST(If, TakesTheBranchOfAKnownCondition) {
  const std::string node = IfNode(Branch("then", "Exp") + Branch("else", "Tanh"));
  EXPECT_THAT(Text(Model16(kX + Flag(1) + node)), HasSubstr("exp(%x)"));
  EXPECT_THAT(Text(Model16(kX + Flag(0) + node)), HasSubstr("tanh(%x)"));
  EXPECT_THAT(Text(Model16(kX + Flag(1) + node)), Not(HasSubstr("where")));
}

// Conditions as exporters write them for squeeze. x has three elements in its only dimension.
TEST(If, DecidesWhatRankAndShapeDecide) {
  const std::string branches = Branch("then", "Exp") + Branch("else", "Tanh");
  const std::string shape = kX + "node { op_type: 'Relu' input: 'x' output: 'r' }\n" +
                            "node { op_type: 'Shape' input: 'r' output: 's' }\n";
  const auto decided = [&](const std::string& of_shape, int64_t wanted) {
    return Text(Model16(shape + Int("wanted", wanted) + Int("zero", 0) + of_shape +
                        "node { op_type: 'Equal' input: 'd' input: 'wanted' output: 'c' }\n" +
                        IfNode(branches)));
  };
  const std::string extent = "node { op_type: 'Gather' input: 's' input: 'zero' output: 'd' }\n";
  const std::string rank = "node { op_type: 'Size' input: 's' output: 'd' }\n";
  const std::string size = "node { op_type: 'Size' input: 'r' output: 'd' }\n";
  EXPECT_THAT(decided(extent, 3), HasSubstr("exp(%x)"));
  EXPECT_THAT(decided(extent, 1), HasSubstr("tanh(%x)"));
  EXPECT_THAT(decided(rank, 1), HasSubstr("exp(%x)"));
  EXPECT_THAT(decided(rank, 2), HasSubstr("tanh(%x)"));
  EXPECT_THAT(decided(size, 3), HasSubstr("exp(%x)"));
  EXPECT_THAT(decided(size, 1), Not(HasSubstr("where")));
}

TEST(If, NamesTheNodesOfABranch) {
  const absl::StatusOr<Graph> graph =
      Import(Model16(kX + Flag(1) + IfNode(Branch("then", "Exp") + Branch("else", "Tanh"))));
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->node(0).source.node, "if/then");
}

TEST(If, SelectsWhereBothBranchesAreCheap) {
  EXPECT_THAT(
      Text(Model16(kX + kFlagInput + IfNode(Branch("then", "Exp") + Branch("else", "Tanh")))),
      HasSubstr("where(%c, "));
}

TEST(If, SaysHowToFixACondition) {
  const std::string text =
      Text(Model16(kX + kFlagInput + IfNode(Branch("then", "Shape") + Branch("else", "Tanh"))));
  EXPECT_THAT(text, HasSubstr("fix it with --constant c=VALUE, or end the model before this node "
                              "(--outputs); its branches cannot both be computed: "));
  EXPECT_THAT(text, HasSubstr("output 0 is Tensor[(1,), int64] in one and "));
}

// The branch that is not taken may not fit the inputs.
TEST(If, SaysHowToFixAConditionWhereABranchHasProblems) {
  const std::string text =
      Text(Model16(kX + kFlagInput + IfNode(Branch("then", "Transpose") + Branch("else", "LSTM"))));
  EXPECT_THAT(text, HasSubstr("node 'if/else' (LSTM): "));
  EXPECT_THAT(text, HasSubstr("node 'if' (If): a branch has problems, and the condition"));
  EXPECT_THAT(text, HasSubstr("--constant c=VALUE to leave out the other one"));
}

TEST(If, RefusesWhatIsNoConditional) {
  EXPECT_THAT(Text(Model16(kX + Flag(1) + IfNode(""))),
              HasSubstr("attribute then_branch, a graph, is missing"));
  EXPECT_THAT(Text(Model16(kX + Flag(1) +
                           "node { op_type: 'If' name: 'if' input: 'c' output: 'y' output: 'z' " +
                           Branch("then", "Exp") + Branch("else", "Exp") + "}")),
              HasSubstr("then_branch: found 1 outputs, wanted 2"));
}

// s starts as `start` and doubles in each iteration. Its values are also stacked.
std::string LoopNode(const std::string& condition = "Identity", const std::string& extra = "") {
  return absl::StrCat(
      "node { op_type: 'Loop' name: 'loop' input: 'n' input: '' input: 's' output: 'last' output: "
      "'y' attribute { name: 'body' type: GRAPH g { input { name: 'i' } input { name: 'go' } input "
      "{ name: 'v' } ",
      extra, "node { op_type: '", condition,
      "' input: 'go' output: 'on' } node { op_type: 'Add' input: 'v' input: 'v' output: 'w' } node "
      "{ op_type: 'Identity' input: 'w' output: 'each' } output { name: 'on' } output { name: 'w' "
      "} output { name: 'each' } } } }\n");
}

TEST(Loop, IsWrittenOut) {
  EXPECT_EQ(Values(Model16(Floats("s", {1, 3}) + Int("n", 3) + LoopNode())),
            (std::vector<double>{2, 6, 4, 12, 8, 24}));
}

TEST(Loop, EndsWithItsCondition) {
  EXPECT_EQ(Values(Model16(Floats("s", {1}) + Int("n", 5) + LoopNode("Not"))),
            (std::vector<double>{2}));
}

TEST(Loop, RefusesWhatItCannotWriteOut) {
  EXPECT_THAT(Text(Model16(Floats("s", {1}) + Int("n", int64_t{1} << 40) + LoopNode())),
              HasSubstr("found more than 1024 iterations"));
  EXPECT_THAT(Text(Model16(Floats("s", {1}) + Int("n", 2) +
                           LoopNode("Identity", "input { name: 'more' } "))),
              HasSubstr("body: found 4 inputs, wanted 3"));
  const std::string count = "input { name: 'n' type { tensor_type { elem_type: 7 shape { } } } }\n";
  EXPECT_THAT(Text(Model16(Floats("s", {1}) + count + LoopNode())),
              HasSubstr("the trip count (input 'n') is computed from the model's input 'n'"));
}

// Returns two iterations over s with the condition `condition`. `go` computes "on", the body's
// output that is the condition of the next iteration.
std::string ConditionalLoop(const std::string& condition, const std::string& go) {
  return "node { op_type: 'Loop' name: 'loop' input: 'n' input: '" + condition +
         "' input: 's' output: 'y' attribute { name: 'body' type: GRAPH g { input { name: 'i' } "
         "input { name: 'go' } input { name: 'v' } " +
         go + " output { name: 'on' } output { name: 'v' } } } }\n";
}

TEST(Loop, RefusesAConditionThatIsNoBool) {
  const std::string where = "m.onnx: node 'loop' (Loop): the condition";
  const std::string model = Floats("s", {1}) + Int("n", 2) +
                            "initializer { name: 'c' data_type: 9 dims: 2 int32_data: [1, 1] }\n";
  const auto text = [&](const std::string& condition, const std::string& go) {
    return Text(Model16(model + kX + ConditionalLoop(condition, go)));
  };
  const std::string same = "node { op_type: 'Identity' input: 'go' output: 'on' }";
  EXPECT_EQ(text("c", same), where + ": found Tensor[(2,), bool], wanted one bool");
  EXPECT_EQ(text("", "node { op_type: 'Identity' input: 'c' output: 'on' }"),
            where + " after iteration 0: found Tensor[(2,), bool], wanted one bool");
  EXPECT_EQ(text("", "node { op_type: 'SequenceConstruct' input: 'v' output: 'on' }"),
            where + " after iteration 0: found a sequence, wanted a bool");
  EXPECT_THAT(text("",
                   "node { op_type: 'ReduceMax' input: 'x' output: 'm' } "
                   "node { op_type: 'Cast' input: 'm' output: 'on' attribute { name: 'to' "
                   "type: INT i: 9 } }"),
              HasSubstr(where + " after iteration 0 is computed from the model's input 'x'"));
}

std::string ScanNode(int64_t inputs, const std::string& more = "") {
  return absl::StrCat(
      "node { op_type: 'Scan' name: 'scan' input: 's' input: 'z' output: 'last' output: 'y' "
      "attribute { name: 'num_scan_inputs' type: INT i: ",
      inputs, " } ", more,
      "attribute { name: 'body' type: GRAPH g { input { name: 'a' } input { name: 'b' } node { "
      "op_type: 'Add' input: 'a' input: 'b' output: 'sum' } node { op_type: 'Identity' input: "
      "'sum' output: 'each' } output { name: 'sum' } output { name: 'each' } } } }\n");
}

TEST(Scan, SumsInBothDirections) {
  const std::string start = "initializer { name: 's' data_type: 1 float_data: 0 }\n";
  const std::string z = Floats("z", {1, 2, 3});
  EXPECT_EQ(Values(Model16(start + z + ScanNode(1))), (std::vector<double>{1, 3, 6}));
  EXPECT_EQ(Values(Model16(start + z +
                           ScanNode(1,
                                    "attribute { name: 'scan_input_directions' type: INTS ints: 1 "
                                    "} "))),
            (std::vector<double>{3, 5, 6}));
}

TEST(Scan, RefusesAbsurdForms) {
  const std::string z =
      "input { name: 'z' type { tensor_type { elem_type: 1 shape { dim { dim_value: 2000000000 } } "
      "} } }\n";
  const std::string start = "initializer { name: 's' data_type: 1 float_data: 0 }\n";
  EXPECT_THAT(Text(Model16(start + z + ScanNode(1))),
              HasSubstr("found 2000000000 steps, wanted at most 1024"));
  EXPECT_THAT(Text(Model16(start + z + ScanNode(int64_t{1} << 62))),
              HasSubstr("num_scan_inputs: found 4611686018427387904, wanted 1 to 2"));
}

// A batch of two sequences of three numbers, which are summed. Opset 8 has the lengths "l" as the
// first input.
std::string ScanOfOpset8(const std::string& lengths) {
  const std::string nodes =
      "initializer { name: 's' data_type: 1 dims: 2 float_data: [0, 0] }\n"
      "initializer { name: 'z' data_type: 1 dims: 2 dims: 3 float_data: [1, 2, 3, 10, 20, 30] }\n"
      "node { op_type: 'Scan' name: 'scan' input: 'l' input: 's' input: 'z' output: 'last' output: "
      "'y' attribute { name: 'num_scan_inputs' type: INT i: 1 } attribute { name: 'body' type: "
      "GRAPH g { input { name: 'a' } input { name: 'b' } node { op_type: 'Add' input: 'a' input: "
      "'b' output: 'sum' } node { op_type: 'Identity' input: 'sum' output: 'each' } output { name: "
      "'sum' } output { name: 'each' } } } }\n";
  return Model(lengths + nodes, 8);
}

std::string Lengths(const std::vector<int64_t>& lengths) {
  return ScanOfOpset8(Ints("l", lengths));
}

TEST(Scan, OfOpset8EndsWhereItsSequencesDo) {
  EXPECT_EQ(Values(Lengths({2, 3})), (std::vector<double>{1, 3, 0, 10, 30, 60}));
  const std::string where = "m.onnx: node 'scan' (Scan): sequence_lens";
  EXPECT_EQ(Text(Lengths({2, 4})), where + ": found [2, 4], wanted 2 lengths of 1 to 3");
  EXPECT_EQ(Text(Lengths({0, 3})), where + ": found [0, 3], wanted 2 lengths of 1 to 3");
  EXPECT_EQ(Text(Lengths({2})), where + ": found [2], wanted 2 lengths of 1 to 3");
  EXPECT_THAT(Text(ScanOfOpset8("input { name: 'l' type { tensor_type { elem_type: 7 shape { dim { "
                                "dim_value: 2 } } } } }\n")),
              HasSubstr(where + " (input 'l') is computed from the model's input 'l'"));
}

TEST(Sequence, IsTheListOfItsTensors) {
  const std::string make =
      "node { op_type: 'SequenceConstruct' input: 'a' input: 'b' output: 'q' }\n";
  const std::string at =
      make + "node { op_type: 'SequenceAt' input: 'q' input: 'p' output: 'y' }\n";
  const std::string tensors = Floats("a", {1, 2}) + Floats("b", {3});
  EXPECT_EQ(Values(Model16(tensors + Int("p", -1) + at)), (std::vector<double>{3}));
  EXPECT_THAT(Text(Model16(tensors + Int("p", 2) + at)),
              HasSubstr("the position: found 2, wanted -2 to 1"));
  EXPECT_THAT(Text(Model16(tensors + make + "node { op_type: 'Identity' input: 'q' output: 'y' }")),
              HasSubstr("output 'y' is a sequence, not a tensor"));
}

std::string Function(const std::string& body) {
  return "opset_import { domain: 'own' version: 1 } functions { name: 'F' domain: 'own' input: 'a' "
         "output: 'r' attribute: 'how' opset_import { version: 16 } opset_import { domain: 'own' "
         "version: 1 } " +
         body + " }";
}

TEST(Function, IsWrittenOutWithItsAttributes) {
  const std::string call =
      "node { op_type: 'F' domain: 'own' name: 'call' input: 'x' output: 'y' attribute { name: "
      "'how' type: FLOAT f: 0.5 } }\n";
  const std::string body =
      "node { op_type: 'LeakyRelu' input: 'a' output: 'r' attribute { name: 'alpha' type: FLOAT "
      "ref_attr_name: 'how' } }";
  EXPECT_THAT(Text(Model16(kX + call, Function(body))), HasSubstr("nn.leaky_relu(%x, alpha=0.5f)"));
}

TEST(Function, MayNotCallItself) {
  const std::string call = "node { op_type: 'F' domain: 'own' name: 'f' input: 'x' output: 'y' }\n";
  EXPECT_THAT(Text(Model16(kX + call,
                           Function("node { op_type: 'F' domain: 'own' input: 'a' output: 'r' }"))),
              HasSubstr("function 'F' calls itself"));
}

TEST(Problems, AreAllTold) {
  const std::string text = Text(Model16(
      kX +
      "node { op_type: 'None' name: 'a' input: 'x' output: 'b' attribute { name: 'k' type: INT i: "
      "7 } }"
      "node { op_type: 'Relu' input: 'b' output: 'c' }"
      "node { op_type: 'Flatten' name: 'f' input: 'x' output: 'd' attribute { name: 'axis' type: "
      "INT i: 9 } }"
      "node { op_type: 'Add' input: 'c' input: 'd' output: 'y' }"));
  EXPECT_THAT(text, HasSubstr("m.onnx: operator None is not supported (node 'a'); inputs "
                              "Tensor[(3,), float32]; attributes k = 7\n"));
  EXPECT_THAT(text, HasSubstr("m.onnx: node 'f' (Flatten): axis: found 9"));
}

TEST(Recurrent, RefusesShapesThatDoNotFit) {
  const auto input = [](const std::string& name, const std::vector<int>& shape) {
    std::string dims;
    for (int extent : shape) absl::StrAppend(&dims, "dim { dim_value: ", extent, " } ");
    return absl::StrCat("input { name: '", name, "' type { tensor_type { elem_type: 1 shape { ",
                        dims, "} } } }\n");
  };
  const std::string node =
      "node { op_type: 'LSTM' input: 'x' input: 'w' input: 'r' output: 'y' }\n";
  EXPECT_THAT(
      Text(Model16(input("x", {5, 1, 3}) + input("w", {1, 8, 3}) + input("r", {1, 8, 2}) + node)),
      HasSubstr("nn.dense("));
  EXPECT_THAT(
      Text(Model16(input("x", {5, 1, 3}) + input("w", {1, 8, 4}) + input("r", {1, 8, 2}) + node)),
      HasSubstr("W: found Tensor[(1, 8, 4), float32], wanted (1, 8, 3)"));
  EXPECT_THAT(Text(Model16(input("x", {5000, 1, 3}) + input("w", {1, 8, 3}) +
                           input("r", {1, 8, 2}) + node)),
              HasSubstr("found 5000 steps, wanted at most 4096"));
  EXPECT_THAT(Text(Model16(input("x", {1025, 1, 3}) + input("w", {1, 8, 3}) +
                           input("r", {1, 8, 2}) + node)),
              HasSubstr("nn.dense("));
}

}  // namespace
}  // namespace kiln::onnx_frontend
