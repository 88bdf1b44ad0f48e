// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/common/constant_folder.h"

#include <gtest/gtest.h>

#include <cstdint>
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

// Takes `share` of the operations that it is allowed, and finds 1.
Evaluator Taking(double share, int64_t& taken) {
  return [share, &taken](const Graph& part, int64_t* work) -> absl::StatusOr<std::vector<Tensor>> {
    const auto cost = static_cast<int64_t>(share * static_cast<double>(*work));
    *work -= cost;
    taken += cost;
    return std::vector<Tensor>(part.outputs.size(), Tensor::Scalar(DType::Float(32), 1));
  };
}

// What evaluations take altogether of an import that has always more to compute.
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

// What takes too long stays a node, and so does what is made of it.
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
