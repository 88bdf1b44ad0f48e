// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/common/constant_folder.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/base/dtype.h"
#include "compiler/base/tensor.h"
#include "compiler/graph/test_ops.h"

namespace kiln::frontend {
namespace {

constexpr int64_t kSmallFile = 100;
constexpr int64_t kLargeFile = 1 << 16;

const TensorType kScalar = {{}, DType::Float(32)};

ValueId AddRelu(Graph& graph, ValueId data) {
  const NodeId node = graph.AddNode({.op = FindTestOp("nn.relu"), .inputs = {data}}, {kScalar});
  return graph.node(node).outputs[0];
}

// Returns an evaluator that uses `share` of the work it is allowed and returns 1.
Evaluator Taking(double share, int64_t& taken) {
  return [share, &taken](const Graph& part, int64_t* work) -> absl::StatusOr<std::vector<Tensor>> {
    const auto cost = static_cast<int64_t>(share * static_cast<double>(*work));
    *work -= cost;
    taken += cost;
    return std::vector<Tensor>(part.outputs.size(), Tensor::Scalar(DType::Float(32), 1));
  };
}

// Returns the total work of the evaluations in an import that never runs out of nodes to fold.
int64_t WorkOfImport(int64_t file_bytes) {
  Graph graph;
  int64_t taken = 0;
  const Evaluator evaluate = Taking(0.9, taken);
  ConstantFolder folder(graph, static_cast<size_t>(file_bytes), evaluate);
  const ValueId data = graph.AddConstant(Tensor::Scalar(DType::Float(32), 2));
  for (int i = 0; i < 10'000; ++i) {
    ValueId value = AddRelu(graph, data);
    EXPECT_TRUE(folder.Fold({&value}).ok());
    if (!graph.is_constant(value)) return taken;
  }
  ADD_FAILURE() << "there is no end of it";
  return taken;
}

TEST(ConstantFolder, ComputesWhatDependsOnConstants) {
  Graph graph;
  int64_t taken = 0;
  const Evaluator evaluate = Taking(0, taken);
  ConstantFolder folder(graph, kSmallFile, evaluate);
  const ValueId x = graph.AddInput("x", kScalar);
  const ValueId two = graph.AddConstant(Tensor::Scalar(DType::Float(32), 2));
  ValueId fixed = AddRelu(graph, two);
  ValueId computed = AddRelu(graph, x);
  ValueId none = kNoId;
  ASSERT_TRUE(folder.Fold({&fixed, &computed, &none}).ok());
  EXPECT_TRUE(graph.is_constant(fixed));
  EXPECT_EQ(graph.value(fixed).constant, Tensor::Scalar(DType::Float(32), 1));
  EXPECT_FALSE(graph.is_constant(computed));
  EXPECT_EQ(none, kNoId);
}

// A value that takes too long stays a node, and so do values computed from it.
TEST(ConstantFolder, WhatTakesTooLongIsNotTriedAgain) {
  Graph graph;
  int calls = 0;
  const Evaluator evaluate = [&](const Graph&, int64_t*) -> absl::StatusOr<std::vector<Tensor>> {
    ++calls;
    return absl::ResourceExhaustedError("too long");
  };
  ConstantFolder folder(graph, kSmallFile, evaluate);
  ValueId value = AddRelu(graph, graph.AddConstant(Tensor::Scalar(DType::Float(32), 2)));
  ASSERT_TRUE(folder.Fold({&value}).ok());
  ValueId next = AddRelu(graph, value);
  ASSERT_TRUE(folder.Fold({&next}).ok());
  EXPECT_FALSE(graph.is_constant(value));
  EXPECT_FALSE(graph.is_constant(next));
  EXPECT_EQ(calls, 1);
}

// A dequantized constant and values computed from it stay in the graph, but ValueOf knows them.
TEST(ConstantFolder, ValuesOfDequantizedConstantsAreKnown) {
  const OpSchema dequantize = {.name = "qnn.dequantize", .doc = "", .inputs = {{"data"}}};
  Graph graph;
  int64_t taken = 0;
  const Evaluator evaluate = Taking(0.1, taken);
  ConstantFolder folder(graph, kSmallFile, evaluate);
  const ValueId x = graph.AddInput("x", kScalar);
  const ValueId two = graph.AddConstant(Tensor::Scalar(DType::Float(32), 2));
  const NodeId node = graph.AddNode({.op = &dequantize, .inputs = {two}}, {kScalar});
  ValueId dequantized = graph.node(node).outputs[0];
  ValueId made = AddRelu(graph, dequantized);
  ASSERT_TRUE(folder.Fold({&dequantized, &made}).ok());
  EXPECT_FALSE(graph.is_constant(dequantized));
  EXPECT_FALSE(graph.is_constant(made));
  EXPECT_EQ(taken, 0);
  const size_t values = graph.values.size();
  const absl::StatusOr<std::optional<Tensor>> known = folder.ValueOf(made);
  ASSERT_TRUE(known.ok()) << known.status();
  EXPECT_EQ(*known, Tensor::Scalar(DType::Float(32), 1));
  EXPECT_EQ(graph.values.size(), values);
  EXPECT_GT(taken, 0);
  // The second request costs nothing.
  const int64_t once = taken;
  EXPECT_EQ(*folder.ValueOf(made), *known);
  EXPECT_EQ(taken, once);
  EXPECT_EQ(*folder.ValueOf(two), Tensor::Scalar(DType::Float(32), 2));
  EXPECT_EQ(*folder.ValueOf(AddRelu(graph, x)), std::nullopt);
}

TEST(ConstantFolder, ValuesThatTakeTooLongAreNotKnown) {
  Graph graph;
  const Evaluator evaluate = [](const Graph&, int64_t*) -> absl::StatusOr<std::vector<Tensor>> {
    return absl::ResourceExhaustedError("too long");
  };
  ConstantFolder folder(graph, kSmallFile, evaluate);
  const ValueId two = graph.AddConstant(Tensor::Scalar(DType::Float(32), 2));
  const absl::StatusOr<std::optional<Tensor>> known = folder.ValueOf(AddRelu(graph, two));
  ASSERT_TRUE(known.ok()) << known.status();
  EXPECT_EQ(*known, std::nullopt);
}

TEST(ConstantFolder, WorkOfAnImportIsInProportionToItsFile) {
  const int64_t small = WorkOfImport(kSmallFile);
  const int64_t large = WorkOfImport(kLargeFile);
  EXPECT_GT(small, 1 << 22);
  EXPECT_LT(small, 1 << 25);
  EXPECT_GT(large, 2 * small);
  EXPECT_LT(large, int64_t{1} << 28);
}

TEST(ConstantFolder, WorkOfAnyImportIsBounded) {
  EXPECT_LT(WorkOfImport(int64_t{1} << 40), int64_t{1} << 31);
}

}  // namespace
}  // namespace kiln::frontend
