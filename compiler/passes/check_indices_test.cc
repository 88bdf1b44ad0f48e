// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "compiler/passes/testing/run_pass.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

absl::StatusOr<Graph> Checked(const Graph& graph, bool check = true) {
  const Target target;
  return CheckIndices(graph, {.target = target, .evaluate = RunGraph, .check_indices = check});
}

std::string Body(absl::string_view model) {
  const absl::StatusOr<Graph> after = Checked(ParseModel(model));
  if (!after.ok()) return std::string(after.status().message());
  EXPECT_EQ(Verify(*after, /*typed=*/true), absl::OkStatus());
  return BodyText(*after);
}

constexpr char kTake[] = R"(
def @main(%x: Tensor[(4, 2), float32], %ids: Tensor[(3), int64]) {
  take(%x, %ids, axis=0)
})";

TEST(CheckIndices, OnlyWhereItIsAskedFor) {
  const Graph graph = ParseModel(kTake);
  const absl::StatusOr<Graph> after = Checked(graph, false);
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_TRUE(*after == graph);
}

TEST(CheckIndices, InFrontOfReaders) {
  EXPECT_EQ(Body(kTake),
            "%0 = check_indices(%ids, least=[0], largest=[3], reader=\"take (line 4)\", "
            "name=\"indices 'ids'\");\ntake(%x, %0, axis=0)\n");
  EXPECT_EQ(
      Body(R"(
def @main(%x: Tensor[(4, 2), float32], %ids: Tensor[(2, 3), int32], %u: Tensor[(3), float32]) {
  scatter_nd(%x, negative(%ids), %u, mode="add")
})"),
      "%0 = negative(%ids);\n"
      "%1 = check_indices(%0, least=[-4, -2], largest=[3, 1], reader=\"scatter_nd (line 4)\");\n"
      "scatter_nd(%x, %1, %u, mode=\"add\")\n");
}

TEST(CheckIndices, NotWhereNoneCanBeOutside) {
  for (const char* model : {R"(
def @main(%x: Tensor[(256), float32], %i: Tensor[(3), uint8]) {
  take(%x, %i, axis=0)
})",
                            R"(
def @main(%x: Tensor[(4), float32], %i: Tensor[(3), int32]) {
  take(%x, %i, axis=0, mode="wrap")
})",
                            R"(
def @main(%x: Tensor[(4), float32], %i: Tensor[(3), float32]) {
  add(take(%x, 3, axis=0), %i)
})"}) {
    const Graph graph = ParseModel(model);
    const absl::StatusOr<Graph> after = Checked(graph);
    ASSERT_TRUE(after.ok()) << after.status();
    EXPECT_TRUE(*after == graph) << BodyText(*after);
  }
}

// The error names the index in the model, not the one that is counted from the beginning.
TEST(CheckIndices, BeforeNegativeOnesAreCountedFromTheEnd) {
  const auto model = [](int extent) {
    return absl::StrCat(R"(
def @main(%x: Tensor[(4), float32], %i: Tensor[(3), int32]) {
  %0 = less(%i, 0);
  %1 = add(%i, )",
                        extent, R"();
  take(%x, where(%0, %1, %i), axis=0)
})");
  };
  EXPECT_EQ(Body(model(4)),
            "%0 = check_indices(%i, least=[-4], largest=[3], reader=\"take (line 6)\", "
            "name=\"indices 'i'\");\n%1 = less(%0, 0);\n%2 = add(%0, 4);\n"
            "%3 = where(%1, %2, %0);\ntake(%x, %3, axis=0)\n");
  EXPECT_EQ(Body(model(5)),
            "%0 = less(%i, 0);\n%1 = add(%i, 5);\n%2 = where(%0, %1, %i);\n"
            "%3 = check_indices(%2, least=[0], largest=[3], reader=\"take (line 6)\");\n"
            "take(%x, %3, axis=0)\n");
}

TEST(CheckIndices, ConstantsAreCheckedHere) {
  EXPECT_EQ(Body(R"(
def @main(%x: Tensor[(4), float32], %constant: Tensor[(4), int32]) {
  take(%x, %constant, axis=0)
})"),
            "model:4:3: take: found index 4 in indices, wanted 0 to 3");
  EXPECT_EQ(Body(R"(
def @main(%x: Tensor[(4, 9), float32], %constant: Tensor[(2, 4), int64]) {
  gather_nd(%x, %constant)
})"),
            "model:4:3: gather_nd: found index 4 in indices, wanted -4 to 3");
  EXPECT_EQ(Body(R"(
def @main(%x: Tensor[(5, 9), float32], %constant: Tensor[(2, 4), int64]) {
  gather_nd(%x, %constant)
})"),
            "gather_nd(%x, meta[relay.Constant][0])\n");
}

// Indices that depend on constants only are computed, and rejected, by the compiler.
TEST(CheckIndices, WhatIsComputedOfConstants) {
  const absl::StatusOr<Graph> checked = Checked(ParseModel(R"(
def @main(%x: Tensor[(4), float32], %constant: Tensor[(3), int32]) {
  take(%x, add(%constant, 1), axis=0)
})"));
  ASSERT_TRUE(checked.ok()) << checked.status();
  const absl::StatusOr<Graph> folded = RunPass(FoldConstants, *checked);
  EXPECT_EQ(std::string(folded.status().message()),
            "check_indices: take (line 4): found index 4 in indices, wanted 0 to 3");
}

}  // namespace
}  // namespace kiln
