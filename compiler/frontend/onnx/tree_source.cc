// SPDX-License-Identifier: Apache-2.0
// The trees of TreeEnsembleRegressor and TreeEnsembleClassifier, whose nodes and leaves are
// numbered within their tree. Also adds trees to a forest.
#include "compiler/frontend/onnx/tree_source.h"

#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"

namespace kiln::onnx_frontend {
namespace {

using Id = std::pair<int64_t, int64_t>;  // tree, node

std::string Text(const Id& id) { return absl::StrCat("node ", id.second, " of tree ", id.first); }

absl::Status CheckCount(absl::string_view name, size_t found, size_t wanted, absl::string_view of) {
  if (found == wanted) return absl::OkStatus();
  return Wrong(name, absl::StrCat(found, " values"),
               absl::StrCat(wanted, ", one for each value of ", of));
}

absl::StatusOr<Condition::Mode> ModeOf(const std::string& name) {
  using Mode = Condition::Mode;
  static const auto* const modes = new std::map<std::string, Mode>{
      {"BRANCH_LEQ", Mode::kLessEqual},    {"BRANCH_LT", Mode::kLess},
      {"BRANCH_GTE", Mode::kGreaterEqual}, {"BRANCH_GT", Mode::kGreater},
      {"BRANCH_EQ", Mode::kEqual},         {"BRANCH_NEQ", Mode::kNotEqual}};
  const auto it = modes->find(name);
  if (it != modes->end()) return it->second;
  return Wrong("a value of nodes_modes", name, "BRANCH_LEQ, LT, GTE, GT, EQ or NEQ, or LEAF");
}

// The nodes of all trees, as lists of the same length.
struct Nodes {
  std::vector<Id> ids;
  std::vector<int64_t> features, if_true, if_false, missing;
  std::vector<double> values;
  std::vector<std::string> modes;

  bool IsLeaf(size_t n) const { return modes[n] == "LEAF"; }
};

absl::StatusOr<Nodes> ReadNodes(const Converter& c, int64_t features) {
  Nodes nodes;
  const std::vector<int64_t> trees = c.Ints("nodes_treeids"), numbers = c.Ints("nodes_nodeids");
  if (trees.empty()) return Wrong("nodes_treeids", "no values", "at least one node");
  nodes.features = c.Ints("nodes_featureids");
  nodes.if_true = c.Ints("nodes_truenodeids");
  nodes.if_false = c.Ints("nodes_falsenodeids");
  nodes.missing = c.Ints("nodes_missing_value_tracks_true");
  nodes.modes = c.Strings("nodes_modes");
  KILN_ASSIGN_OR_RETURN(nodes.values, FloatsOrTensor(c, "nodes_values"));
  if (nodes.missing.empty()) nodes.missing.resize(trees.size());
  const std::vector<std::pair<const char*, size_t>> counts = {
      {"nodes_nodeids", numbers.size()},
      {"nodes_featureids", nodes.features.size()},
      {"nodes_truenodeids", nodes.if_true.size()},
      {"nodes_falsenodeids", nodes.if_false.size()},
      {"nodes_missing_value_tracks_true", nodes.missing.size()},
      {"nodes_modes", nodes.modes.size()},
      {"nodes_values", nodes.values.size()}};
  for (const auto& [name, count] : counts) {
    KILN_RETURN_IF_ERROR(CheckCount(name, count, trees.size(), "nodes_treeids"));
  }
  for (size_t n = 0; n < trees.size(); ++n) nodes.ids.emplace_back(trees[n], numbers[n]);
  for (size_t n = 0; n < trees.size(); ++n) {
    if (nodes.IsLeaf(n) || (nodes.features[n] >= 0 && nodes.features[n] < features)) continue;
    return Wrong(absl::StrCat("the feature of ", Text(nodes.ids[n])),
                 absl::StrCat(nodes.features[n]), absl::StrCat("0 to ", features - 1));
  }
  return nodes;
}

// Returns the child number of each node and leaf, keyed by its number in the file.
absl::StatusOr<std::map<Id, int64_t>> NumberNodes(const Nodes& nodes, TreeSource& source) {
  std::map<Id, int64_t> children;
  int64_t branches = 0;
  for (size_t n = 0; n < nodes.ids.size(); ++n) {
    const int64_t child = nodes.IsLeaf(n) ? ForestBuilder::Leaf(source.leaves++) : branches++;
    if (children.emplace(nodes.ids[n], child).second) continue;
    return absl::InvalidArgumentError(absl::StrCat(Text(nodes.ids[n]), " is defined twice"));
  }
  return children;
}

// Adds one root per tree, in the order of the first nodes of the trees.
absl::Status AddRoots(const Nodes& nodes, const std::map<Id, int64_t>& children,
                      TreeSource& source) {
  std::set<Id> below;
  for (size_t n = 0; n < nodes.ids.size(); ++n) {
    if (nodes.IsLeaf(n)) continue;
    below.emplace(nodes.ids[n].first, nodes.if_true[n]);
    below.emplace(nodes.ids[n].first, nodes.if_false[n]);
  }
  std::vector<int64_t> order;
  std::map<int64_t, std::vector<int64_t>> roots;
  for (const Id& id : nodes.ids) {
    if (roots.try_emplace(id.first).second) order.push_back(id.first);
    if (!below.contains(id)) roots[id.first].push_back(children.at(id));
  }
  for (int64_t tree : order) {
    if (roots[tree].size() != 1) {
      return Wrong(absl::StrCat("tree ", tree), absl::StrCat(roots[tree].size(), " roots"),
                   "one node that is no child");
    }
    source.roots.push_back(roots[tree][0]);
  }
  return absl::OkStatus();
}

absl::Status AddVotes(const Converter& c, const std::map<Id, int64_t>& children, int64_t targets,
                      const VoteAttributes& names, TreeSource& source) {
  const std::vector<int64_t> trees = c.Ints(names.trees), nodes = c.Ints(names.nodes),
                             ids = c.Ints(names.targets);
  KILN_ASSIGN_OR_RETURN(const std::vector<double> weights, FloatsOrTensor(c, names.weights));
  KILN_RETURN_IF_ERROR(CheckCount(names.nodes, nodes.size(), trees.size(), names.trees));
  KILN_RETURN_IF_ERROR(CheckCount(names.targets, ids.size(), trees.size(), names.trees));
  KILN_RETURN_IF_ERROR(CheckCount(names.weights, weights.size(), trees.size(), names.trees));
  for (size_t v = 0; v < trees.size(); ++v) {
    const Id id = {trees[v], nodes[v]};
    const auto leaf = children.find(id);
    if (leaf == children.end() || leaf->second >= 0) {
      return Wrong(absl::StrCat("a value of ", names.nodes), Text(id), "a leaf");
    }
    if (ids[v] < 0 || ids[v] >= targets) {
      return Wrong(absl::StrCat("a value of ", names.targets), absl::StrCat(ids[v]),
                   absl::StrCat("0 to ", targets - 1));
    }
    source.votes.push_back({-1 - leaf->second, ids[v], weights[v]});
  }
  return absl::OkStatus();
}

// Adds each node of a source after the nodes below it.
class Adder {
 public:
  Adder(const TreeSource& source, ForestBuilder& builder)
      : source_(source), builder_(builder), added_(source.conditions.size(), kNew) {}

  absl::StatusOr<int64_t> Add(int64_t child, int64_t level = 0) {
    if (child < 0) return child;
    const auto n = static_cast<size_t>(child);
    if (added_[n] == kOpen) {
      return absl::InvalidArgumentError("a node of a tree is below itself: a circle");
    }
    if (added_[n] != kNew) return added_[n];
    added_[n] = kOpen;
    if (level < ForestBuilder::kMaxDepth) {
      KILN_ASSIGN_OR_RETURN(const int64_t yes, Add(source_.children[n][0], level + 1));
      KILN_ASSIGN_OR_RETURN(const int64_t no, Add(source_.children[n][1], level + 1));
      added_[n] = builder_.Add(source_.conditions[n], yes, no);
      if (builder_.Depth(added_[n]) <= ForestBuilder::kMaxDepth) return added_[n];
    }
    return absl::UnimplementedError(
        absl::StrCat("a tree asks more than ", ForestBuilder::kMaxDepth,
                     " questions of a sample; train it with a smaller depth (max_depth)"));
  }

 private:
  static constexpr int64_t kNew = INT64_MIN, kOpen = INT64_MIN + 1;

  const TreeSource& source_;
  ForestBuilder& builder_;
  std::vector<int64_t> added_;  // number of each node in the builder
};

}  // namespace

absl::StatusOr<std::vector<double>> FloatsOrTensor(const Converter& c, const std::string& name) {
  const std::string tensor_name = name + "_as_tensor";
  if (!c.HasAttr(tensor_name)) return c.Floats(name);
  KILN_ASSIGN_OR_RETURN(const Tensor tensor, c.TensorAttr(tensor_name));
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.type().num_elements(); ++i) values.push_back(tensor.AsDouble(i));
  return values;
}

absl::StatusOr<TreeSource> ReadTrees(const Converter& c, int64_t features, int64_t targets,
                                     const VoteAttributes& votes) {
  TreeSource source;
  KILN_ASSIGN_OR_RETURN(const Nodes nodes, ReadNodes(c, features));
  KILN_ASSIGN_OR_RETURN(const auto children, NumberNodes(nodes, source));
  for (size_t n = 0; n < nodes.ids.size(); ++n) {
    if (nodes.IsLeaf(n)) continue;
    std::array<int64_t, 2> both;
    for (size_t k : {0, 1}) {
      const Id id = {nodes.ids[n].first, k == 0 ? nodes.if_true[n] : nodes.if_false[n]};
      const auto it = children.find(id);
      if (it == children.end()) {
        return Wrong(absl::StrCat("a child of ", Text(nodes.ids[n])), absl::StrCat(id.second),
                     "a node of the tree");
      }
      both[k] = it->second;
    }
    KILN_ASSIGN_OR_RETURN(const Condition::Mode mode, ModeOf(nodes.modes[n]));
    source.children.push_back(both);
    source.conditions.push_back({.mode = mode,
                                 .feature = nodes.features[n],
                                 .value = nodes.values[n],
                                 .missing_is_true = nodes.missing[n] != 0});
  }
  KILN_RETURN_IF_ERROR(AddRoots(nodes, children, source));
  KILN_RETURN_IF_ERROR(AddVotes(c, children, targets, votes, source));
  return source;
}

absl::StatusOr<std::vector<int64_t>> AddTrees(const TreeSource& source, ForestBuilder& builder) {
  Adder adder(source, builder);
  std::vector<int64_t> roots;
  for (int64_t root : source.roots) {
    KILN_ASSIGN_OR_RETURN(roots.emplace_back(), adder.Add(root));
  }
  return roots;
}

}  // namespace kiln::onnx_frontend
