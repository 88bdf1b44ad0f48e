// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/slices.h"

#include "absl/strings/str_cat.h"
#include "compiler/passes/testing/run_pass.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

// Returns "relu_2" for the output of node 2, or the name of an input.
std::string NameOf(const Graph& graph, ValueId id) {
  const Value& value = graph.value(id);
  if (value.kind != ValueKind::kNodeOutput) return value.name.empty() ? "constant" : value.name;
  return absl::StrCat(graph.node(value.node).op_name(), "_", value.node);
}

// Returns a line for every part and for every remaining copy.
std::string Describe(const Graph& graph, const Target& target = Target()) {
  const Slices slices = FindSlices(graph, target);
  std::string text;
  const auto place = [&](const Slice& at) {
    return absl::StrCat(NameOf(graph, at.whole), " + ", at.first);
  };
  for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
    const Node& node = graph.node(id);
    for (ValueId output : node.outputs) {
      if (!slices.IsPart(output)) continue;
      absl::StrAppend(&text, NameOf(graph, output), ": ", place(slices.Of(output)), "\n");
    }
    if (const auto* copies = slices.copies(id)) {
      for (const PartCopy& copy : *copies) {
        absl::StrAppend(&text, "copy ", NameOf(graph, copy.part), ": ", place(copy.to), "\n");
      }
    } else if (node.op_name() == "concatenate") {
      absl::StrAppend(&text, NameOf(graph, node.outputs[0]), " copies\n");
    }
  }
  return text;
}

std::string DescribeModel(absl::string_view model) { return Describe(ParseModel(model)); }

Target Firmware() {
  Target target;
  target.SetBaremetal();
  return target;
}

TEST(Slices, OfAConcatenationAlongTheInnermostAxis) {
  const Graph graph = ParseModel(R"(
def @main(%x: Tensor[(1, 2, 2, 16), float32]) {
  %0 = exp(%x);
  %1 = tanh(%x);
  nn.relu(concatenate((%0, %1), axis=-1))
})");
  EXPECT_EQ(Describe(graph), "exp_0: concatenate_2 + 0\ntanh_1: concatenate_2 + 16\n");
  const Slice slice = FindSlices(graph, Target()).Of(graph.node(1).outputs[0]);
  EXPECT_EQ(slice.strides, (Shape{128, 64, 32, 1}));
}

TEST(Slices, OfTheModelsOutput) {
  EXPECT_EQ(DescribeModel(R"(
def @main(%x: Tensor[(2, 16), float32]) {
  concatenate((exp(%x), tanh(%x)))
})"),
            "exp_0: concatenate_2 + 0\ntanh_1: concatenate_2 + 32\n");
}

TEST(Slices, OfChainsLieInTheLastOne) {
  EXPECT_EQ(DescribeModel(R"(
def @main(%x: Tensor[(4, 16), float32]) {
  %0 = exp(%x);
  %1 = concatenate((%0, tanh(%0)), axis=1);
  %2 = concatenate((%1, nn.relu(%1)), axis=1);
  concatenate((%2, sigmoid(%2)), axis=0)
})"),
            "exp_0: concatenate_6 + 0\ntanh_1: concatenate_6 + 16\nconcatenate_2: concatenate_6 + "
            "0\nnn.relu_3: concatenate_6 + 32\nconcatenate_4: concatenate_6 + 0\nsigmoid_5: "
            "concatenate_6 + 256\n");
}

// Dense connections as some exporters write them: every concatenation repeats all inputs of the
// previous one.
TEST(Slices, OfConcatenationsThatGrow) {
  EXPECT_EQ(DescribeModel(R"(
def @main(%x: Tensor[(4, 16), float32]) {
  %0 = exp(%x);
  %1 = tanh(%x);
  %2 = concatenate((%0, %1), axis=1);
  %3 = nn.relu(%2);
  %4 = concatenate((%0, %1, %3), axis=1);
  sigmoid(%4)
})"),
            "exp_0: concatenate_4 + 0\ntanh_1: concatenate_4 + 16\nconcatenate_2: concatenate_4 + "
            "0\nnn.relu_3: concatenate_4 + 32\n");
}

TEST(Slices, OneWholeForEachValue) {
  EXPECT_EQ(DescribeModel(R"(
def @main(%x: Tensor[(4, 16), float32]) {
  %0 = exp(%x);
  %1 = tanh(%x);
  %2 = concatenate((%0, %1), axis=1);
  %3 = concatenate((%1, %0, %0), axis=1);
  (%2, %3)
})"),
            "exp_0: concatenate_3 + 16\ntanh_1: concatenate_3 + 0\nconcatenate_2 copies\ncopy "
            "exp_0: concatenate_3 + 32\n");
}

TEST(Slices, WhatIsNoPartIsCopied) {
  // The parts that are copied: an input, a constant, and an output of the model.
  EXPECT_EQ(DescribeModel(R"(
def @main(%x: Tensor[(4, 16), float32], %constant: Tensor[(4, 16), float32]) {
  %0 = exp(%x);
  %1 = tanh(%x);
  (concatenate((%x, %0, %constant, %1), axis=1), %0)
})"),
            "tanh_1: concatenate_2 + 48\ncopy x: concatenate_2 + 0\ncopy exp_0: concatenate_2 + "
            "16\ncopy constant: concatenate_2 + 32\n");
  EXPECT_EQ(DescribeModel(R"(
def @main(%x: Tensor[(4, 16), float32]) {
  concatenate((%x, %x), axis=1)
})"),
            "concatenate_0 copies\n");
}

TEST(Slices, NotOfWhatExternalFunctionsMakeOrRead) {
  EXPECT_EQ(DescribeModel(R"(
def @main(%x: Tensor[(4, 16), float32]) {
  %0 = exp(%x);
  %1 = fn (%p: Tensor[(4, 16), float32], Compiler="c", global_symbol="f") { tanh(%p) };
  %2 = %1(%0);
  concatenate((%0, %2, sin(%x)), axis=1)
})"),
            "sin_2: concatenate_3 + 32\ncopy exp_0: concatenate_3 + 0\ncopy fn_1: concatenate_3 + "
            "16\n");
}

TEST(Slices, NotOfShortRuns) {
  constexpr char kModel[] = R"(
def @main(%x: Tensor[(4, 15), float32]) {
  nn.relu(concatenate((exp(%x), tanh(%x)), axis=1))
})";
  EXPECT_EQ(DescribeModel(kModel), "concatenate_2 copies\n");
  EXPECT_EQ(Describe(ParseModel(kModel), Firmware()),
            "exp_0: concatenate_2 + 0\ntanh_1: concatenate_2 + 15\n");
  // Each input is one contiguous run.
  EXPECT_EQ(DescribeModel(R"(
def @main(%x: Tensor[(1, 3), float32]) {
  nn.relu(concatenate((exp(%x), tanh(%x)), axis=1))
})"),
            "exp_0: concatenate_2 + 0\ntanh_1: concatenate_2 + 3\n");
}

TEST(Slices, ViewsMoveAlong) {
  // As in detectors: parts of different shapes, one after the other.
  EXPECT_EQ(DescribeModel(R"(
def @main(%x: Tensor[(1, 2, 2, 4), float32]) {
  %0 = exp(%x);
  %1 = tanh(%x);
  %2 = reshape(%0, newshape=[1, 16]);
  %3 = nn.relu(reshape(%1, newshape=[16]));
  (concatenate((%2, reshape(%1, newshape=[1, 16])), axis=1), %3)
})"),
            "exp_0: concatenate_6 + 0\ntanh_1: concatenate_6 + 16\nreshape_2: concatenate_6 + "
            "0\nreshape_3: concatenate_6 + 16\nreshape_5: concatenate_6 + 16\n");
}

TEST(Slices, NothingMovesThatHasViewsAndIsNotContiguous) {
  EXPECT_EQ(DescribeModel(R"(
def @main(%x: Tensor[(2, 16), float32]) {
  %0 = exp(%x);
  %1 = concatenate((%0, tanh(%x)), axis=1);
  (%1, nn.relu(reshape(%0, newshape=[32])))
})"),
            "tanh_1: concatenate_2 + 16\ncopy exp_0: concatenate_2 + 0\n");
}

TEST(Slices, LeaveEmptyTensorsAlone) {
  EXPECT_EQ(DescribeModel(R"(
def @main(%x: Tensor[(4, 16), float32], %y: Tensor[(4, 0), float32]) {
  concatenate((exp(%y), tanh(%x)), axis=1)
})"),
            "tanh_1: concatenate_2 + 0\n");
  EXPECT_EQ(DescribeModel(R"(
def @main(%y: Tensor[(4, 0), float32]) {
  concatenate((exp(%y), tanh(%y)), axis=1)
})"),
            "concatenate_2 copies\n");
}

// A value that is read long before its concatenation would keep the whole result alive.
TEST(Slices, DoNotRaiseThePeakOfFirmware) {
  const Graph graph = ParseModel(R"(
def @main(%x: Tensor[(16, 16), float32]) {
  %0 = exp(%x);
  %1 = repeat(%0, repeats=8, axis=0);
  %2 = tanh(%1);
  %3 = max(%2, axis=[0], keepdims=True);
  %4 = add(%0, %3);
  nn.relu(concatenate((%0, %4), axis=1))
})");
  EXPECT_EQ(Describe(graph), "exp_0: concatenate_5 + 0\nadd_4: concatenate_5 + 16\n");
  EXPECT_EQ(Describe(graph, Firmware()),
            "add_4: concatenate_5 + 16\ncopy exp_0: concatenate_5 + 0\n");
  // The last function needs so much scratch memory that the part does not raise the peak.
  EXPECT_TRUE(
      FindSlices(graph, Firmware(), {0, 0, 0, 0, 0, 0, 100'000}).IsPart(graph.node(0).outputs[0]));
}

}  // namespace
}  // namespace kiln
