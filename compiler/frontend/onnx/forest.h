// SPDX-License-Identifier: Apache-2.0
// Forest: decision trees as the tables of the operator decision_trees (compiler/ops), whose nodes
// all ask whether a feature is at most a threshold. ForestBuilder makes them of the conditions that
// ONNX has; a condition becomes one node, or a few.
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

// What a node of ONNX asks of one feature.
struct Condition {
  enum class Mode { kLessEqual, kLess, kGreaterEqual, kGreater, kEqual, kNotEqual, kMember };

  Mode mode = Mode::kLessEqual;
  int64_t feature = 0;
  double value = 0;
  std::vector<double> members = {};  // of kMember, in place of `value`
  bool missing_is_true = false;      // NaN satisfies it
};

class ForestBuilder {
 public:
  // Walks are at most so long.
  static constexpr int64_t kMaxDepth = 512;

  // Values are compared as `dtype`, float32 or float64.
  explicit ForestBuilder(DType dtype) : dtype_(dtype) {}

  // The leaf of this number, as a child or a root.
  static int64_t Leaf(int64_t number) { return -1 - number; }
  // A node with these children, which are leaves or nodes that have been added: as many trees may
  // share one.
  int64_t Add(const Condition& condition, int64_t if_true, int64_t if_false);
  // The nodes on the longest way from `child` to a leaf.
  int64_t Depth(int64_t child) const { return child < 0 ? 0 : depths_[static_cast<size_t>(child)]; }

  // The number of the leaf that each sample of `data`, (samples, features), reaches from each of
  // the roots: int32, (samples, roots).
  absl::StatusOr<ValueId> Walk(Converter& c, ValueId data, const std::vector<int64_t>& roots) const;

 private:
  // x <= value ? first : second.
  int64_t AddNode(int64_t feature, double value, bool missing_is_first, int64_t first,
                  int64_t second);
  int64_t AddEqual(int64_t feature, double value, bool missing_is_equal, int64_t equal,
                   int64_t other);
  // Whether the feature is one of members[begin], …, members[end - 1], which ascend.
  int64_t AddMember(const Condition& condition, size_t begin, size_t end, int64_t if_true,
                    int64_t if_false);
  // The greatest number of dtype_ below; NaN where there is none.
  double Below(double value) const;

  DType dtype_;
  std::vector<int64_t> features_, children_, depths_;
  std::vector<bool> missing_is_first_;
  std::vector<double> thresholds_;
};

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_FOREST_H_
