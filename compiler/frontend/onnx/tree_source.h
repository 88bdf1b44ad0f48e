// SPDX-License-Identifier: Apache-2.0
// TreeSource: the trees of an ONNX node as its attributes have them, checked, in one form for all
// versions of the operators.
#ifndef KILN_COMPILER_FRONTEND_ONNX_TREE_SOURCE_H_
#define KILN_COMPILER_FRONTEND_ONNX_TREE_SOURCE_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/onnx/converter.h"
#include "compiler/frontend/onnx/forest.h"

namespace kiln::onnx_frontend {

// What a leaf adds to a target or class.
struct Vote {
  int64_t leaf, target;
  double weight;
};

struct TreeSource {
  // Of each node. A child is a node, or a leaf: ForestBuilder::Leaf.
  std::vector<Condition> conditions;
  std::vector<std::array<int64_t, 2>> children = {};  // where the condition holds, and where not
  std::vector<int64_t> roots = {};                    // one for each tree, as a child
  int64_t leaves = 0;
  std::vector<Vote> votes = {};
};

// Which attributes of TreeEnsembleRegressor and TreeEnsembleClassifier have the votes.
struct VoteAttributes {
  std::string trees, nodes, targets, weights;
};

// InvalidArgument if lengths or numbers are wrong. `features` is how many features a sample has,
// `targets` how many targets there are.
absl::StatusOr<TreeSource> ReadTrees(const Converter& c, int64_t features, int64_t targets,
                                     const VoteAttributes& votes);
// Of the operator TreeEnsemble.
absl::StatusOr<TreeSource> ReadTreeEnsemble(const Converter& c, int64_t features, int64_t targets);

// The attribute, or its namesake that is a tensor; nothing if there is neither.
absl::StatusOr<std::vector<double>> FloatsOrTensor(const Converter& c, const std::string& name);

// Adds the nodes to `builder`, and returns the roots there. InvalidArgument if a node is its own
// descendant; Unimplemented beyond ForestBuilder::kMaxDepth.
absl::StatusOr<std::vector<int64_t>> AddTrees(const TreeSource& source, ForestBuilder& builder);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_TREE_SOURCE_H_
