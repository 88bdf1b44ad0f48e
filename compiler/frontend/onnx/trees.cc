// SPDX-License-Identifier: Apache-2.0
// Decision trees, forests and boosted trees of the domain ai.onnx.ml.
#include <algorithm>
#include <limits>
#include <map>

#include "absl/strings/str_cat.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"
#include "compiler/frontend/onnx/class_scores.h"
#include "compiler/frontend/onnx/machine_learning.h"
#include "compiler/frontend/onnx/tree_source.h"

namespace kiln::onnx_frontend {
namespace {

// The aggregation of the leaves that a sample reaches.
struct Aggregate {
  const char* op;   // the reduction
  double neutral;   // neutral element of the reduction
  bool is_average;  // true: the sum is divided by the number of trees
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Aggregate kSum = {"sum", 0, false};

absl::StatusOr<Aggregate> AggregateOf(const std::string& name) {
  static const auto* const functions =
      new std::map<std::string, Aggregate>{{"AVERAGE", {"sum", 0, true}},
                                           {"SUM", kSum},
                                           {"MIN", {"min", kInfinity, false}},
                                           {"MAX", {"max", -kInfinity, false}}};
  const auto it = functions->find(name);
  if (it != functions->end()) return it->second;
  return Wrong("aggregate_function", name, "AVERAGE, SUM, MIN or MAX");
}

// The votes of the leaves.
class Ballot {
 public:
  Ballot(const TreeSource& source, int64_t targets, const Aggregate& aggregate)
      : source_(source),
        targets_(targets),
        aggregate_(aggregate),
        target_of_(source.conditions.size(), kUnknown) {
    for (const Vote& vote : source.votes) by_leaf_[vote.leaf].push_back(vote);
  }

  // Returns the roots grouped by target, if all leaves of each tree vote for the same target. Each
  // group is padded to the same size with the leaf source.leaves, which votes for nothing. Empty if
  // a tree has several targets, or if there would be too much padding.
  std::vector<int64_t> RootsByTarget(const std::vector<int64_t>& roots) {
    std::vector<std::vector<int64_t>> of_target(static_cast<size_t>(targets_));
    for (size_t tree = 0; tree < roots.size(); ++tree) {
      const int64_t target = TargetOf(source_.roots[tree]);
      if (target == kSeveral) return {};
      of_target[static_cast<size_t>(std::max<int64_t>(target, 0))].push_back(roots[tree]);
    }
    size_t most = 0;
    for (const auto& part : of_target) most = std::max(most, part.size());
    if (most * of_target.size() > 2 * roots.size()) return {};
    std::vector<int64_t> all;
    for (auto& part : of_target) {
      part.resize(most, ForestBuilder::Leaf(source_.leaves));
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }
  // Returns the weight of each leaf, and of an additional leaf that votes for nothing.
  std::vector<double> WeightOfLeaves() const {
    std::vector<double> weights(static_cast<size_t>(source_.leaves) + 1, aggregate_.neutral);
    for (const auto& [leaf, votes] : by_leaf_) {
      weights[static_cast<size_t>(leaf)] = 0;
      for (const Vote& vote : votes) weights[static_cast<size_t>(leaf)] += vote.weight;
    }
    return weights;
  }
  // Returns the weights of each leaf for all targets.
  std::vector<double> WeightsOfLeaves() const {
    std::vector<double> weights(static_cast<size_t>(source_.leaves * targets_), aggregate_.neutral);
    for (const auto& [leaf, votes] : by_leaf_) {
      std::map<int64_t, double> sums;
      for (const Vote& vote : votes) sums[vote.target] += vote.weight;
      for (const auto& [target, sum] : sums) {
        weights[static_cast<size_t>(leaf * targets_ + target)] = sum;
      }
    }
    return weights;
  }

 private:
  static constexpr int64_t kNone = -1, kSeveral = -2, kUnknown = -3;

  // Returns the target that all leaves below vote for. The trees have no cycles and are not deep.
  int64_t TargetOf(int64_t child) {
    if (child >= 0) {
      int64_t& target = target_of_[static_cast<size_t>(child)];
      if (target == kUnknown) {
        const auto& both = source_.children[static_cast<size_t>(child)];
        target = Common(TargetOf(both[0]), TargetOf(both[1]));
      }
      return target;
    }
    int64_t target = kNone;
    const auto votes = by_leaf_.find(-1 - child);
    if (votes == by_leaf_.end()) return target;
    for (const Vote& vote : votes->second) target = Common(target, vote.target);
    return target;
  }
  static int64_t Common(int64_t a, int64_t b) {
    if (a == kNone || a == b) return b;
    return b == kNone ? a : kSeveral;
  }

  const TreeSource& source_;
  const int64_t targets_;
  const Aggregate aggregate_;
  std::map<int64_t, std::vector<Vote>> by_leaf_;
  std::vector<int64_t> target_of_;  // one per node
};

// Returns the totals of all targets, (samples, targets), with the dtype of data.
absl::StatusOr<ValueId> Totals(Converter& c, ValueId data, const TreeSource& source,
                               int64_t targets, const Aggregate& aggregate) {
  const TensorType type = c.type(data);
  if (source.leaves * targets > kMaxTableElements) {
    return absl::UnimplementedError(absl::StrCat(source.leaves, " leaves with ", targets,
                                                 " targets; at most ", kMaxTableElements,
                                                 " weights"));
  }
  ForestBuilder builder(type.dtype);
  KILN_ASSIGN_OR_RETURN(std::vector<int64_t> roots, AddTrees(source, builder));
  const auto trees = static_cast<double>(roots.size());
  Ballot ballot(source, targets, aggregate);
  const std::vector<int64_t> by_target = ballot.RootsByTarget(roots);
  Formula f(c);
  ValueId total = kNoId;
  if (!by_target.empty()) {
    KILN_ASSIGN_OR_RETURN(const ValueId leaves, builder.Walk(c, data, by_target));
    const ValueId weights =
        FloatConstant(c, ballot.WeightOfLeaves(), {source.leaves + 1}, type.dtype);
    const auto each = static_cast<int64_t>(by_target.size()) / targets;
    ValueId votes = f("take", {weights, leaves}, {{"axis", 0}});
    votes = f.Reshape(votes, {type.shape[0], targets, each});
    total = f.Reduce(aggregate.op, votes, {2}, false);
  } else {
    KILN_ASSIGN_OR_RETURN(const ValueId leaves, builder.Walk(c, data, roots));
    const ValueId weights =
        FloatConstant(c, ballot.WeightsOfLeaves(), {source.leaves, targets}, type.dtype);
    total = f.Reduce(aggregate.op, f("take", {weights, leaves}, {{"axis", 0}}), {1}, false);
  }
  if (aggregate.is_average) total = f("divide", {total, f.Number(trees, total)});
  if (aggregate.neutral != 0) {
    // Without votes, the aggregate is 0, as for the sum.
    const ValueId has_none = f("equal", {total, f.Number(aggregate.neutral, total)});
    total = f("where", {has_none, f.Number(0, total), total});
  }
  if (!f.ok()) return f.status();
  return total;
}

absl::StatusOr<ValueId> WithBaseValues(Converter& c, ValueId total) {
  KILN_ASSIGN_OR_RETURN(const std::vector<double> base, FloatsOrTensor(c, "base_values"));
  if (base.empty()) return total;
  const TensorType type = c.type(total);
  const auto count = static_cast<int64_t>(base.size());
  if (count != type.shape[1]) {
    return Wrong("base_values", absl::StrCat(count, " values"),
                 absl::StrCat(type.shape[1], ", one for each target"));
  }
  return c.Op("add", {total, FloatConstant(c, base, {1, count}, type.dtype)});
}

absl::StatusOr<int64_t> TargetsOf(const Converter& c) {
  const int64_t targets = c.Int("n_targets", 1);
  if (targets >= 1 && targets <= kMaxTableElements) return targets;
  return Wrong("n_targets", absl::StrCat(targets), absl::StrCat("1 to ", kMaxTableElements));
}

absl::Status TreeEnsembleRegressor(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId data, Samples(c, /*keep_double=*/true));
  KILN_ASSIGN_OR_RETURN(const int64_t targets, TargetsOf(c));
  KILN_ASSIGN_OR_RETURN(const Aggregate aggregate,
                        AggregateOf(c.String("aggregate_function", "SUM")));
  KILN_ASSIGN_OR_RETURN(const TreeSource source, ReadTrees(c, c.type(data).shape[1], targets,
                                                           {"target_treeids", "target_nodeids",
                                                            "target_ids", "target_weights"}));
  KILN_ASSIGN_OR_RETURN(ValueId y, Totals(c, data, source, targets, aggregate));
  KILN_ASSIGN_OR_RETURN(y, WithBaseValues(c, y));
  KILN_ASSIGN_OR_RETURN(y, PostTransform(c, y, c.String("post_transform", "NONE")));
  Formula f(c);
  return f.Output(0, f.Cast(y, DType::Float(32)));
}

absl::Status TreeEnsembleClassifier(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId data, Samples(c, /*keep_double=*/true));
  KILN_ASSIGN_OR_RETURN(const ClassLabels labels, LabelsOf(c, "classlabels_int64s"));
  KILN_ASSIGN_OR_RETURN(TreeSource source, ReadTrees(c, c.type(data).shape[1], labels.count(),
                                                     {"class_treeids", "class_nodeids", "class_ids",
                                                      "class_weights"}));
  KILN_ASSIGN_OR_RETURN(const std::vector<double> base, FloatsOrTensor(c, "base_values"));
  const std::string transform = c.String("post_transform", "NONE");
  const std::vector<Vote>& votes = source.votes;
  const auto same_target = [&](const Vote& v) { return v.target == votes[0].target; };
  const bool one_score = labels.count() == 2 && base.size() < 2 && !votes.empty() &&
                         std::all_of(votes.begin(), votes.end(), same_target);
  if (!one_score) {
    KILN_ASSIGN_OR_RETURN(ValueId scores, Totals(c, data, source, labels.count(), kSum));
    KILN_ASSIGN_OR_RETURN(scores, WithBaseValues(c, scores));
    return SetClasses(c, labels, scores, transform);
  }
  // All leaves vote for one of two classes. The score of the other is 1 minus the sum, or the
  // negated sum.
  const bool is_share =
      transform == "NONE" &&
      std::all_of(votes.begin(), votes.end(), [](const Vote& vote) { return vote.weight >= 0; });
  for (Vote& vote : source.votes) vote.target = 0;
  KILN_ASSIGN_OR_RETURN(ValueId score, Totals(c, data, source, 1, kSum));
  KILN_ASSIGN_OR_RETURN(score, WithBaseValues(c, score));
  return SetTwoClasses(c, labels, score, is_share ? 0.5 : 0, is_share, transform);
}

absl::Status TreeEnsemble(Converter& c) {
  constexpr const char* kAggregates[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  constexpr const char* kTransforms[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  KILN_ASSIGN_OR_RETURN(const ValueId data, Samples(c, /*keep_double=*/true));
  KILN_ASSIGN_OR_RETURN(const int64_t targets, TargetsOf(c));
  const int64_t function = c.Int("aggregate_function", 1), transform = c.Int("post_transform", 0);
  if (function < 0 || function >= static_cast<int64_t>(std::size(kAggregates))) {
    return Wrong("aggregate_function", absl::StrCat(function), "0 to 3");
  }
  if (transform < 0 || transform >= static_cast<int64_t>(std::size(kTransforms))) {
    return Wrong("post_transform", absl::StrCat(transform), "0 to 4");
  }
  KILN_ASSIGN_OR_RETURN(const Aggregate aggregate, AggregateOf(kAggregates[function]));
  KILN_ASSIGN_OR_RETURN(const TreeSource source,
                        ReadTreeEnsemble(c, c.type(data).shape[1], targets));
  KILN_ASSIGN_OR_RETURN(ValueId y, Totals(c, data, source, targets, aggregate));
  KILN_ASSIGN_OR_RETURN(y, PostTransform(c, y, kTransforms[transform]));
  Formula f(c);
  return f.Output(0, y);
}

constexpr OnnxOperator kTreesRows[] = {
    {"TreeEnsemble", TreeEnsemble, nullptr, kMachineLearningDomain},
    {"TreeEnsembleClassifier", TreeEnsembleClassifier, nullptr, kMachineLearningDomain},
    {"TreeEnsembleRegressor", TreeEnsembleRegressor, nullptr, kMachineLearningDomain},
};

}  // namespace

absl::Span<const OnnxOperator> TreeOperators() { return kTreesRows; }

}  // namespace kiln::onnx_frontend
