// SPDX-License-Identifier: Apache-2.0
// Forest: decision trees as the tables of the operator decision_trees (compiler/ops). Its nodes all
// test whether a feature is at most a threshold. ForestBuilder builds them from the conditions of
// ONNX. A condition becomes one node or a few.
//
//   ForestBuilder builder(DType::Float(32), features);
//   const int64_t leaf = ForestBuilder::Leaf(0), other = ForestBuilder::Leaf(1);
//   builder.AddRoot(builder.Add({.mode = Condition::Mode::kLess, .value = 3}, leaf, other));
#ifndef KILN_COMPILER_FRONTEND_ONNX_FOREST_H_
#define KILN_COMPILER_FRONTEND_ONNX_FOREST_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/onnx/converter.h"

namespace kiln::onnx_frontend {

// The condition on one feature in a node of ONNX.
struct Condition {
  enum class Mode { kLessEqual, kLess, kGreaterEqual, kGreater, kEqual, kNotEqual, kMember };

  Mode mode = Mode::kLessEqual;
  int64_t feature = 0;
  double value = 0;
  std::vector<double> members = {};  // set of kMember, instead of `value`
  bool missing_is_true = false;      // NaN satisfies the condition
};

class ForestBuilder {
 public:
  // Maximum number of nodes on a path.
  static constexpr int64_t kMaxDepth = 512;

  // Values are compared as `dtype`, which is float32 or float64.
  explicit ForestBuilder(DType dtype) : dtype_(dtype) {}

  // Returns the leaf of this number, for use as a child or a root.
  static int64_t Leaf(int64_t number) { return -1 - number; }
  // Adds a node with these children, which are leaves or nodes added before. Several trees may
  // share a child.
  int64_t Add(const Condition& condition, int64_t if_true, int64_t if_false);
  // Returns the number of nodes on the longest path from `child` to a leaf.
  int64_t Depth(int64_t child) const { return child < 0 ? 0 : depths_[static_cast<size_t>(child)]; }

  // Returns the number of the leaf that each sample of `data`, (samples, features), reaches from
  // each root: int32, (samples, roots).
  absl::StatusOr<ValueId> Walk(Converter& c, ValueId data, const std::vector<int64_t>& roots) const;

 private:
  // Adds the node x <= value ? first : second.
  int64_t AddNode(int64_t feature, double value, bool missing_is_first, int64_t first,
                  int64_t second);
  int64_t AddEqual(int64_t feature, double value, bool missing_is_equal, int64_t equal,
                   int64_t other);
  // Adds nodes that test if the feature is one of members[begin], …, members[end - 1], in ascending
  // order.
  int64_t AddMember(const Condition& condition, size_t begin, size_t end, int64_t if_true,
                    int64_t if_false);
  // Returns the largest number of dtype_ below `value`, or NaN if there is none.
  double Below(double value) const;

  DType dtype_;
  std::vector<int64_t> features_, children_, depths_;
  std::vector<bool> missing_is_first_;
  std::vector<double> thresholds_;
};

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_FOREST_H_
