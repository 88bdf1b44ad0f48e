// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/passes/testing/run_pass.h"
#include "compiler/target/target.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

// The graph by strips, for firmware. It must compute the same.
Graph Split(const std::string& model, const char* target_name = "cortex-m4f",
            bool for_ram = false) {
  const Graph whole = ParseModel(model);
  const Target target = Target::Parse(target_name).value();
  const absl::StatusOr<Graph> strips =
      SplitRows(whole, {.target = target, .evaluate = nullptr, .for_ram = for_ram});
  EXPECT_TRUE(strips.ok()) << strips.status();
  if (!strips.ok()) return whole;
  EXPECT_EQ(Verify(*strips, /*typed=*/true), absl::OkStatus()) << BodyText(*strips);
  EXPECT_EQ(*RunGraph(*strips), *RunGraph(whole)) << BodyText(*strips);
  return *strips;
}

bool IsSplit(const std::string& model, const char* target = "cortex-m4f") {
  return BodyText(Split(model, target)) != BodyText(ParseModel(model));
}

// The most rows of a value between nodes. The output does not count.
int64_t MostRows(const Graph& graph) {
  int64_t rows = 0;
  for (const Node& node : graph.nodes) {
    if (node.outputs[0] != graph.outputs[0]) {
      rows = std::max(rows, graph.type(node.outputs[0]).shape[1]);
    }
  }
  return rows;
}

constexpr char kFirst[] = R"(
def @main(%x: Tensor[(1, 32, 4, 2), float32], %constant0: Tensor[(8, 3, 3, 2), float32],
          %constant1: Tensor[(2, 3, 3, 8), float32], %constant2: Tensor[(2), float32]) {
  %0 = nn.conv2d(%x, %constant0, padding=[1, 1], data_layout="NHWC", kernel_layout="OHWI");
)";

std::string Convolutions(const std::string& second) { return absl::StrCat(kFirst, second, "\n}"); }

const std::string kSecond = R"(
  nn.conv2d(%0, %constant1, padding=[1, 1], data_layout="NHWC", kernel_layout="OHWI"))";

TEST(SplitRows, ComputesWhatLiesBetweenAFewRowsAtATime) {
  const Graph strips = Split(Convolutions(kSecond));
  EXPECT_LE(MostRows(strips), 6);
  EXPECT_EQ(strips.nodes.back().op_name(), "concatenate");
}

TEST(SplitRows, ForRamStripsAreAsLowAsSavesMemory) {
  const std::string tall = absl::StrReplaceAll(Convolutions(kSecond), {{"(1, 32,", "(1, 1024,"}});
  const Graph speed = Split(tall);
  const Graph ram = Split(tall, "cortex-m4f", /*for_ram=*/true);
  EXPECT_LT(MostRows(ram), MostRows(speed));
}

TEST(SplitRows, CarriesOnTheRowsThatAreReadAgain) {
  const Graph strips = Split(Convolutions(kSecond));
  // Every row of the first convolution is computed once.
  int64_t rows = 0;
  for (const Node& node : strips.nodes) {
    const TensorType& type = strips.type(node.outputs[0]);
    if (node.is_group() && type.shape[3] == 8) rows += type.shape[1];
  }
  EXPECT_EQ(rows, 32);
}

TEST(SplitRows, FollowsStridesDilationAndOneSidedPadding) {
  EXPECT_TRUE(IsSplit(Convolutions(R"(
  nn.conv2d(%0, %constant1, strides=[2, 1], padding=[0, 1, 1, 1], data_layout="NHWC",
            kernel_layout="OHWI"))")));
  EXPECT_TRUE(IsSplit(Convolutions(R"(
  nn.conv2d(%0, %constant1, dilation=[2, 1], padding=[3, 1, 0, 1], data_layout="NHWC",
            kernel_layout="OHWI"))")));
}

TEST(SplitRows, ASumReadsRowsOfBoth) {
  EXPECT_TRUE(IsSplit(Convolutions(absl::StrCat("  %1 =", kSecond, R"(;
  %2 = nn.bias_add(%1, %constant2, axis=3);
  %3 = nn.conv2d(%2, %constant0, padding=[1, 1], data_layout="NHWC", kernel_layout="OHWI");
  %4 = add(%3, %0);
  nn.conv2d(%4, %constant1, padding=[1, 1], data_layout="NHWC", kernel_layout="OHWI"))"))));
}

// Rows of padding are made next to the first and the last rows. No strip then has padding of its
// own, and strips with the same number of rows are equal.
TEST(SplitRows, StripsHaveNoBorders) {
  const Graph strips = Split(Convolutions(kSecond));
  std::map<int64_t, std::set<std::string>> bodies;  // by channels of the output
  for (const Node& node : strips.nodes) {
    if (!node.is_group()) continue;
    const Node& convolution = node.body->nodes.back();
    EXPECT_EQ(convolution.attrs.Ints("padding"), (std::vector<int64_t>{0, 1, 0, 1}));
    const TensorType& type = strips.type(node.outputs[0]);
    const TensorType& data = node.body->type(convolution.inputs[0]);
    bodies[type.shape[3]].insert(absl::StrCat(data.ToString(), " to ", type.ToString()));
  }
  // The first strip of the second convolution lacks the row after its last one, so that an
  // additional strip computes the last row.
  EXPECT_EQ(bodies.at(8).size(), 1u);
  EXPECT_LE(bodies.at(2).size(), 2u);
}

constexpr char kQuantized[] = R"(
def @main(%x: Tensor[(1, 32, 4, 2), int8], %constant0: Tensor[(8, 3, 3, 2), int8],
          %constant1: Tensor[(2, 3, 3, 8), int8]) {
  %0 = cast(qnn.conv2d(%x, %constant0, 3, 0, 0.5f, 0.25f, padding=[1, 1], data_layout="NHWC",
                       kernel_layout="OHWI"), dtype="int8");
  %1 = cast(qnn.conv2d(%0, %constant1, -5, 0, 0.5f, 0.25f, padding=[1, 1], data_layout="NHWC",
                       kernel_layout="OHWI"), dtype="int8");
)";

// The values of rows that are made without being computed.
std::set<int64_t> Paddings(const Graph& graph) {
  std::set<int64_t> paddings;
  for (const Node& node : graph.nodes) {
    if (node.op_name() == "full") {
      paddings.insert(graph.value(node.inputs[0]).constant.AsInt(0));
    }
  }
  return paddings;
}

TEST(SplitRows, PaddingIsTheZeroPoint) {
  EXPECT_EQ(Paddings(Split(absl::StrCat(kQuantized, "%1 }"))), (std::set<int64_t>{-5, 3}));
}

// Only the part before the two convolutions is split.
TEST(SplitRows, LeavesAloneWhatIsPaddedInTwoWays) {
  EXPECT_EQ(Paddings(Split(absl::StrCat(kQuantized, R"(
  %2 = cast(qnn.conv2d(%0, %constant1, 7, 0, 0.5f, 0.25f, padding=[1, 1], data_layout="NHWC",
                       kernel_layout="OHWI"), dtype="int8");
  add(%1, %2) })"))),
            std::set<int64_t>{3});
}

TEST(SplitRows, LeavesAloneWhatOthersRead) {
  EXPECT_FALSE(IsSplit(Convolutions(absl::StrCat("  %1 =", kSecond, ";\n  (%1, %0)"))));
}

TEST(SplitRows, LeavesAloneWhatReadsWholeTensors) {
  EXPECT_FALSE(IsSplit(Convolutions("  nn.softmax(%0, axis=1)")));
  // A bias along the rows.
  EXPECT_FALSE(IsSplit(R"(
def @main(%x: Tensor[(1, 16, 4, 2), float32], %constant0: Tensor[(16), float32]) {
  %0 = nn.bias_add(%x, %constant0, axis=1);
  nn.bias_add(%0, %constant0, axis=1)
})"));
}

TEST(SplitRows, ForRamASmallSavingIsEnough) {
  // 84 channels are alive at once; with strips, 80 and a few rows.
  const std::string model = R"(
def @main(%x: Tensor[(1, 64, 4, 64), float32], %constant0: Tensor[(20, 1, 1, 64), float32],
          %constant1: Tensor[(16, 3, 3, 20), float32]) {
  %0 = nn.conv2d(%x, %constant0, data_layout="NHWC", kernel_layout="OHWI");
  %1 = nn.conv2d(%0, %constant1, padding=[1, 1], data_layout="NHWC", kernel_layout="OHWI");
  (%1, %x)
})";
  EXPECT_FALSE(IsSplit(model));
  EXPECT_NE(BodyText(Split(model, "cortex-m4f", /*for_ram=*/true)), BodyText(ParseModel(model)));
}

TEST(SplitRows, LeavesAloneWhatSavesNothing) {
  // Input and output need the most memory, whatever lies between them.
  EXPECT_FALSE(IsSplit(R"(
def @main(%x: Tensor[(1, 16, 4, 2), float32]) {
  %0 = nn.relu(%x);
  negative(%0)
})"));
}

TEST(SplitRows, IsForFirmware) { EXPECT_FALSE(IsSplit(Convolutions(kSecond), "x86-64")); }

}  // namespace
}  // namespace kiln
