// SPDX-License-Identifier: Apache-2.0
// Forests of many shapes, with few and with many samples, compared with a straightforward walk.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/tensor.h"
#include "compiler/ops/example.h"
#include "compiler/ops/op_def.h"
#include "compiler/ops/testing/run_op.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

constexpr int64_t kWidth = 5;

struct Forest {
  std::vector<int64_t> features, children, roots;
  std::vector<double> thresholds;
  int64_t leaves = 0, depth = 0;
};

// Adds a tree of `levels` levels and returns its root. With `is_ragged`, some children are leaves.
int64_t AddTree(std::mt19937& random, int64_t levels, bool is_ragged, bool missing,
                Forest& forest) {
  if (levels == 0 || (is_ragged && random() % 3 == 0)) return -1 - forest.leaves++;
  const size_t node = forest.features.size();
  const auto feature = static_cast<int64_t>(random() % kWidth);
  forest.features.push_back(missing && random() % 2 == 0 ? -1 - feature : feature);
  forest.thresholds.push_back(static_cast<double>(random() % 9) - 4);
  forest.children.resize(forest.children.size() + 2);
  for (size_t k = 0; k < 2; ++k) {
    const int64_t child = AddTree(random, levels - 1, is_ragged, missing, forest);
    forest.children[2 * node + k] = child;
  }
  return static_cast<int64_t>(node);
}

Forest MakeForest(const std::vector<int64_t>& levels, bool is_ragged, bool missing) {
  std::mt19937 random(7);
  Forest forest;
  for (const int64_t tree : levels) {
    forest.roots.push_back(AddTree(random, tree, is_ragged, missing, forest));
    forest.depth = std::max(forest.depth, tree);
  }
  if (forest.features.empty()) AddTree(random, 1, false, missing, forest);
  return forest;
}

Tensor DataOf(int64_t samples, DType dtype) {
  std::mt19937 random(11);
  std::vector<double> values(static_cast<size_t>(samples * kWidth));
  for (double& value : values) {
    value = static_cast<double>(random() % 11) - 5;
    if (random() % 7 == 0) value = std::numeric_limits<double>::quiet_NaN();
  }
  return Values({{samples, kWidth}, dtype}, values);
}

// The leaf of a walk, as the operator's documentation defines it.
int64_t LeafOf(const Forest& forest, const Tensor& data, int64_t sample, int64_t node) {
  while (node >= 0) {
    const auto at = static_cast<size_t>(node);
    const int64_t feature = forest.features[at];
    const double x = data.AsDouble(sample * kWidth + (feature < 0 ? -1 - feature : feature));
    const bool first = x <= forest.thresholds[at] || (feature < 0 && std::isnan(x));
    node = forest.children[2 * at + (first ? 0 : 1)];
  }
  return -1 - node;
}

Attrs AttrsOf(const Forest& forest, bool missing) {
  return {{"depth", forest.depth}, {"missing", missing}};
}

std::vector<Tensor> InputsOf(const Forest& forest, const Tensor& data) {
  const auto nodes = static_cast<int64_t>(forest.features.size());
  const auto ints = [](const Shape& shape, const std::vector<int64_t>& values) {
    return Values({shape, DType::Int(32)}, {values.begin(), values.end()});
  };
  return {data, ints({nodes}, forest.features),
          Values({{nodes}, data.type().dtype}, forest.thresholds),
          ints({nodes, 2}, forest.children),
          ints({static_cast<int64_t>(forest.roots.size())}, forest.roots)};
}

TEST(DecisionTrees, EveryWalkEndsAtItsLeaf) {
  const std::vector<std::vector<int64_t>> forests = {
      {0},
      {1},
      {6},
      {0, 3, 4},
      std::vector<int64_t>(9, 2),
      std::vector<int64_t>(37, 5),
      {1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5, 6, 7},
  };
  for (const std::vector<int64_t>& levels : forests) {
    for (const int64_t samples : {1, 3, 8, 9, 70}) {
      for (const int options : {0, 1, 2, 3}) {
        const bool is_ragged = (options & 1) != 0, missing = (options & 2) != 0;
        const DType dtype = DType::Float(is_ragged ? 64 : 32);
        SCOPED_TRACE(absl::StrCat(levels.size(), " trees, ", samples, " samples, ", options));
        const Forest forest = MakeForest(levels, is_ragged, missing);
        const Tensor data = DataOf(samples, dtype);
        const absl::StatusOr<std::vector<Tensor>> outputs =
            RunOp(*FindOp("decision_trees"), AttrsOf(forest, missing), InputsOf(forest, data), 0);
        ASSERT_TRUE(outputs.ok()) << outputs.status();
        const auto trees = static_cast<int64_t>(levels.size());
        for (int64_t i = 0; i < samples * trees; ++i) {
          const int64_t root = forest.roots[static_cast<size_t>(i % trees)];
          ASSERT_EQ((*outputs)[0].AsInt(i), LeafOf(forest, data, i / trees, root)) << i;
        }
      }
    }
  }
}

// Largest number of terms that one stage computes for trees with these levels.
int64_t Steps(const std::vector<int64_t>& levels, int64_t samples) {
  const Forest forest = MakeForest(levels, false, false);
  const std::vector<Tensor> inputs = InputsOf(forest, DataOf(samples, DType::Float(32)));
  const TensorType leaves = {{samples, static_cast<int64_t>(levels.size())}, DType::Int(32)};
  int64_t least = 0, most = int64_t{1} << 20;
  while (most - least > 1) {
    const int64_t steps = (least + most) / 2;
    const bool is_enough =
        RunLowered(*FindOp("decision_trees"), AttrsOf(forest, false), inputs, {leaves}, steps, 0)
            .ok();
    (is_enough ? most : least) = steps;
  }
  return most;
}

TEST(DecisionTrees, TakeFewSteps) {
  // Blocks of trees of equal depth take as many steps as each tree needs.
  EXPECT_EQ(Steps(std::vector<int64_t>(32, 6), 1), 32 * 6);
  EXPECT_EQ(Steps(std::vector<int64_t>(40, 6), 1), 40 * 6);
  EXPECT_EQ(Steps(std::vector<int64_t>(31, 6), 1), 32 * 6);
  std::vector<int64_t> levels(16, 8);
  levels.insert(levels.end(), 16, 2);
  EXPECT_EQ(Steps(levels, 1), 16 * 8 + 16 * 2);
  // Trees of many depths take steps in turn, each tree as many as it needs.
  EXPECT_EQ(Steps({1, 8, 2, 7, 3, 6, 4, 5}, 1), 36);
  // With many samples, the first three levels are one step.
  EXPECT_EQ(Steps(std::vector<int64_t>(20, 6), 16), 20 * 3 * 16);
}

}  // namespace
}  // namespace kiln
