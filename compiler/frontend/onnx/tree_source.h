// SPDX-License-Identifier: Apache-2.0
// TreeSource: the trees in the attributes of an ONNX node, checked, in one form for all versions of
// the operators.
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

// The value that a leaf adds to a target or class.
struct Vote {
  int64_t leaf, target;
  double weight;
};

struct TreeSource {
  // One per node. A child is a node or a leaf (ForestBuilder::Leaf).
  std::vector<Condition> conditions;
  std::vector<std::array<int64_t, 2>> children = {};  // if the condition is true, if it is false
  std::vector<int64_t> roots = {};                    // one per tree, as a child
  int64_t leaves = 0;
  std::vector<Vote> votes = {};
};

// Names of the attributes of TreeEnsembleRegressor or TreeEnsembleClassifier that contain the
// votes.
struct VoteAttributes {
  std::string trees, nodes, targets, weights;
};

// InvalidArgument if lengths or numbers are wrong. `features` is the number of features of a
// sample, and `targets` the number of targets.
absl::StatusOr<TreeSource> ReadTrees(const Converter& c, int64_t features, int64_t targets,
                                     const VoteAttributes& votes);
// Like ReadTrees, for the operator TreeEnsemble.
absl::StatusOr<TreeSource> ReadTreeEnsemble(const Converter& c, int64_t features, int64_t targets);

// Returns the attribute, or the tensor attribute with the suffix "_as_tensor". Empty if both are
// absent.
absl::StatusOr<std::vector<double>> FloatsOrTensor(const Converter& c, const std::string& name);

// Adds the nodes to `builder` and returns the roots there. InvalidArgument if a node is its own
// descendant. Unimplemented if a tree is deeper than ForestBuilder::kMaxDepth.
absl::StatusOr<std::vector<int64_t>> AddTrees(const TreeSource& source, ForestBuilder& builder);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_TREE_SOURCE_H_
