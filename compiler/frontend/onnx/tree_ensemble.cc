// SPDX-License-Identifier: Apache-2.0
// The trees of the operator TreeEnsemble. Its nodes and leaves are numbered across all trees.
#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/onnx/tree_source.h"

namespace kiln::onnx_frontend {
namespace {

constexpr Condition::Mode kModes[] = {Condition::Mode::kLessEqual,    Condition::Mode::kLess,
                                      Condition::Mode::kGreaterEqual, Condition::Mode::kGreater,
                                      Condition::Mode::kEqual,        Condition::Mode::kNotEqual,
                                      Condition::Mode::kMember};
constexpr int64_t kNumModes = std::size(kModes);

absl::StatusOr<std::vector<double>> TensorValues(const Converter& c, absl::string_view name) {
  KILN_ASSIGN_OR_RETURN(const Tensor tensor, c.TensorAttr(name));
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.type().num_elements(); ++i) values.push_back(tensor.AsDouble(i));
  return values;
}

absl::Status CheckRange(absl::string_view what, int64_t found, int64_t count) {
  if (found >= 0 && found < count) return absl::OkStatus();
  return Wrong(absl::StrCat("a value of ", what), absl::StrCat(found),
               absl::StrCat("0 to ", count - 1));
}

// Returns the member sets of the nodes, which the attribute lists in order, separated by NaN.
absl::StatusOr<std::vector<std::vector<double>>> MemberSets(const Converter& c) {
  std::vector<std::vector<double>> sets(1);
  if (!c.HasAttr("membership_values")) return sets;
  KILN_ASSIGN_OR_RETURN(const std::vector<double> values, TensorValues(c, "membership_values"));
  for (double value : values) {
    if (value == value) {
      sets.back().push_back(value);
    } else {
      sets.emplace_back();
    }
  }
  return sets;
}

absl::Status AddConditions(const Converter& c, int64_t features, TreeSource& source) {
  const std::vector<int64_t> ids = c.Ints("nodes_featureids");
  std::vector<int64_t> missing = c.Ints("nodes_missing_value_tracks_true");
  KILN_ASSIGN_OR_RETURN(const std::vector<double> modes, TensorValues(c, "nodes_modes"));
  KILN_ASSIGN_OR_RETURN(const std::vector<double> splits, TensorValues(c, "nodes_splits"));
  KILN_ASSIGN_OR_RETURN(const auto sets, MemberSets(c));
  if (missing.empty()) missing.resize(ids.size());
  if (modes.size() != ids.size() || splits.size() != ids.size() || missing.size() != ids.size()) {
    return Wrong("the attributes of nodes",
                 absl::StrCat(modes.size(), " modes, ", splits.size(), " splits and ",
                              missing.size(), " ways of missing values"),
                 absl::StrCat(ids.size(), ", one for each value of nodes_featureids"));
  }
  size_t set = 0;
  for (size_t n = 0; n < ids.size(); ++n) {
    KILN_RETURN_IF_ERROR(CheckRange("nodes_featureids", ids[n], features));
    const auto mode = static_cast<int64_t>(modes[n]);
    KILN_RETURN_IF_ERROR(CheckRange("nodes_modes", mode, kNumModes));
    Condition condition = {.mode = kModes[mode],
                           .feature = ids[n],
                           .value = splits[n],
                           .missing_is_true = missing[n] != 0};
    if (condition.mode == Condition::Mode::kMember) {
      if (set == sets.size()) {
        return Wrong("membership_values", absl::StrCat(sets.size(), " sets"),
                     "one for each node of the mode MEMBER");
      }
      condition.members = sets[set++];
    }
    source.conditions.push_back(std::move(condition));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TreeSource> ReadTreeEnsemble(const Converter& c, int64_t features, int64_t targets) {
  TreeSource source;
  KILN_RETURN_IF_ERROR(AddConditions(c, features, source));
  const auto nodes = static_cast<int64_t>(source.conditions.size());
  const std::vector<int64_t> ids = c.Ints("leaf_targetids");
  KILN_ASSIGN_OR_RETURN(const std::vector<double> weights, TensorValues(c, "leaf_weights"));
  source.leaves = static_cast<int64_t>(ids.size());
  if (weights.size() != ids.size()) {
    return Wrong("leaf_weights", absl::StrCat(weights.size(), " values"),
                 absl::StrCat(ids.size(), ", one for each value of leaf_targetids"));
  }
  for (int64_t leaf = 0; leaf < source.leaves; ++leaf) {
    const auto at = static_cast<size_t>(leaf);
    KILN_RETURN_IF_ERROR(CheckRange("leaf_targetids", ids[at], targets));
    source.votes.push_back({leaf, ids[at], weights[at]});
  }
  source.children.resize(source.conditions.size());
  for (size_t k : {0, 1}) {
    const char* const ids_name = k == 0 ? "nodes_truenodeids" : "nodes_falsenodeids";
    const char* const leafs_name = k == 0 ? "nodes_trueleafs" : "nodes_falseleafs";
    const std::vector<int64_t> children = c.Ints(ids_name), is_leaf = c.Ints(leafs_name);
    if (children.size() != source.children.size() || is_leaf.size() != children.size()) {
      return Wrong(absl::StrCat(ids_name, " and ", leafs_name),
                   absl::StrCat(children.size(), " and ", is_leaf.size(), " values"),
                   absl::StrCat(nodes, ", one for each value of nodes_featureids"));
    }
    for (size_t n = 0; n < children.size(); ++n) {
      const bool leaf = is_leaf[n] != 0;
      KILN_RETURN_IF_ERROR(CheckRange(ids_name, children[n], leaf ? source.leaves : nodes));
      source.children[n][k] = leaf ? ForestBuilder::Leaf(children[n]) : children[n];
    }
  }
  source.roots = c.Ints("tree_roots");
  if (source.roots.empty()) return Wrong("tree_roots", "no values", "at least one tree");
  for (int64_t root : source.roots) KILN_RETURN_IF_ERROR(CheckRange("tree_roots", root, nodes));
  return source;
}

}  // namespace kiln::onnx_frontend
