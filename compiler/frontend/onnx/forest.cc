// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/onnx/forest.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/base/status.h"

namespace kiln::onnx_frontend {

double ForestBuilder::Below(double value) const {
  const double infinity = std::numeric_limits<double>::infinity();
  if (value == -infinity) return std::numeric_limits<double>::quiet_NaN();
  if (dtype_.bits == 64) return std::nextafter(value, -infinity);
  return std::nextafter(static_cast<float>(value), -std::numeric_limits<float>::infinity());
}

int64_t ForestBuilder::AddNode(int64_t feature, double value, bool missing_is_first, int64_t first,
                               int64_t second) {
  features_.push_back(feature);
  thresholds_.push_back(value);
  missing_is_first_.push_back(missing_is_first);
  children_.push_back(first);
  children_.push_back(second);
  depths_.push_back(1 + std::max(Depth(first), Depth(second)));
  return static_cast<int64_t>(features_.size()) - 1;
}

int64_t ForestBuilder::AddEqual(int64_t feature, double value, bool missing_is_equal, int64_t equal,
                                int64_t other) {
  const int64_t least = AddNode(feature, Below(value), false, other, equal);
  return AddNode(feature, value, missing_is_equal, least, other);
}

int64_t ForestBuilder::AddMember(const Condition& condition, size_t begin, size_t end,
                                 int64_t if_true, int64_t if_false) {
  if (begin == end) return if_false;
  const size_t middle = begin + (end - begin) / 2;
  if (middle == begin) {
    return AddEqual(condition.feature, condition.members[begin], false, if_true, if_false);
  }
  const int64_t low = AddMember(condition, begin, middle, if_true, if_false);
  const int64_t high = AddMember(condition, middle, end, if_true, if_false);
  return AddNode(condition.feature, condition.members[middle - 1], false, low, high);
}

int64_t ForestBuilder::Add(const Condition& condition, int64_t if_true, int64_t if_false) {
  const int64_t feature = condition.feature;
  const double value = condition.value;
  const bool missing = condition.missing_is_true;
  switch (condition.mode) {
    case Condition::Mode::kLessEqual:
      return AddNode(feature, value, missing, if_true, if_false);
    case Condition::Mode::kLess:
      return AddNode(feature, Below(value), missing, if_true, if_false);
    case Condition::Mode::kGreaterEqual:
      return AddNode(feature, Below(value), !missing, if_false, if_true);
    case Condition::Mode::kGreater:
      return AddNode(feature, value, !missing, if_false, if_true);
    case Condition::Mode::kEqual:
      return AddEqual(feature, value, missing, if_true, if_false);
    case Condition::Mode::kNotEqual:  // NaN differs from every number
      return AddEqual(feature, value, false, if_false, if_true);
    case Condition::Mode::kMember:
      break;
  }
  Condition ascending = condition;
  std::sort(ascending.members.begin(), ascending.members.end());
  const int64_t tree = AddMember(ascending, 0, ascending.members.size(), if_true, if_false);
  if (!missing) return tree;
  return AddNode(feature, std::numeric_limits<double>::infinity(), false, tree, if_true);
}

absl::StatusOr<ValueId> ForestBuilder::Walk(Converter& c, ValueId data,
                                            const std::vector<int64_t>& roots) const {
  ForestBuilder tables = *this;
  // The operator decision_trees needs at least one node.
  if (features_.empty()) tables.AddNode(0, 0, false, Leaf(0), Leaf(0));
  int64_t depth = 0;
  for (int64_t root : roots) depth = std::max(depth, tables.Depth(root));
  const auto nodes = static_cast<int64_t>(tables.features_.size());
  Tensor thresholds;
  if (dtype_.bits == 64) {
    thresholds = Tensor::From<double>({nodes}, dtype_, tables.thresholds_);
  } else {
    const std::vector<float> values(tables.thresholds_.begin(), tables.thresholds_.end());
    thresholds = Tensor::From<float>({nodes}, dtype_, values);
  }
  bool missing = false;
  for (size_t n = 0; n < tables.features_.size(); ++n) {
    if (!tables.missing_is_first_[n]) continue;
    missing = true;
    tables.features_[n] = -1 - tables.features_[n];
  }
  return c.Op("decision_trees",
              {data, c.Constant(Tensor::Narrow({nodes}, tables.features_)), c.Constant(thresholds),
               c.Constant(Tensor::Narrow({nodes, 2}, tables.children_)),
               c.Constant(Tensor::Narrow({static_cast<int64_t>(roots.size())}, roots))},
              {{"depth", depth}, {"missing", missing}});
}

}  // namespace kiln::onnx_frontend
