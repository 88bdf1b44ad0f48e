// SPDX-License-Identifier: Apache-2.0
// Fuse: groups operators; each group becomes one function. A group grows from its last node towards
// its producers. A producer may join if nothing outside of the group reads it, so that only one
// node has outputs that leave the group. The operators' Fusion kind determines what may join:
// - An element-wise operator after anything that has one output of the same shape (epilogue).
// - An element-wise or injective operator before an element-wise one, an injective one or a
//   reduction (prologue). The epilogue of a reduction or contraction stays with that operator
//   instead. If two epilogues meet in a sum, that of the later operator goes on.
// - An injective operator before the data of a contraction, so that a change of layout or padding
//   is read in place, and a transpose before its other factor.
// - A transpose that leaves rows whole after a contraction, which then stores its rows in order.
// - Two contractions with a reduction of rows between them (attention), so that the intermediate
//   tensors are never stored as a whole.
// A reshape of a computed value is a view instead of a function, and joins no group.
#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/graph/rewrite.h"
#include "compiler/ops/op_queries.h"
#include "compiler/passes/pass.h"

namespace kiln {
namespace {

constexpr size_t kMaxGroupNodes = 32;

Fusion KindOf(const Node& node) {
  if (node.is_group()) return Fusion::kOpaque;
  // Operators with several results or with a tuple of tensors have separate loops for each.
  if (node.outputs.size() != 1 || node.op->tuple_input) return Fusion::kOpaque;
  if (Reshapes(node)) return Fusion::kOpaque;
  return FindOp(node.op->name)->traits.fusion;
}

bool IsHeavy(Fusion kind) { return kind == Fusion::kReduction || kind == Fusion::kContraction; }

class Fuser {
 public:
  explicit Fuser(const Graph& graph)
      : graph_(graph), consumers_(graph.Consumers()), group_(graph.nodes.size(), kNoId) {
    for (const Node& node : graph.nodes) heavy_of_.push_back(HeavyOf(node));
  }

  Graph Run() {
    // From the last node backwards: a node that is in no group yet ends a new one.
    for (NodeId id = static_cast<NodeId>(graph_.nodes.size()) - 1; id >= 0; --id) {
      if (group_[static_cast<size_t>(id)] == kNoId) Grow(id);
    }
    return Rebuild();
  }

 private:
  struct Group {
    std::set<NodeId> nodes;
    NodeId heavy = kNoId;     // the last reduction or contraction in the group
    NodeId scores = kNoId;    // the contraction whose rows are reduced before `heavy` reads them
    NodeId heavy_of = kNoId;  // the reduction or contraction whose epilogue the group has
  };

  bool LeavesGraph(ValueId value) const {
    return std::find(graph_.outputs.begin(), graph_.outputs.end(), value) != graph_.outputs.end();
  }

  bool OnlyReadBy(const Node& producer, const Group& group) const {
    for (ValueId output : producer.outputs) {
      if (LeavesGraph(output)) return false;
      for (NodeId reader : consumers_[static_cast<size_t>(output)]) {
        if (!group.nodes.contains(reader)) return false;
      }
    }
    return true;
  }

  // True if every path from `producer` to the end of the group keeps one value per place. The nodes
  // must be element-wise and of the same shape. After a contraction, the last one may be a
  // transpose that moves whole rows.
  bool EndsElementwise(NodeId producer, NodeId heavy, const Group& group) const {
    const Shape& shape = graph_.type(graph_.node(producer).outputs[0]).shape;
    for (NodeId id : group.nodes) {
      if (id <= producer) continue;
      const Node& node = graph_.node(id);
      if (!Reaches(producer, id, group)) continue;
      const bool moves_rows = id == *group.nodes.rbegin() && MovesRows(graph_, node) &&
                              KindOf(graph_.node(heavy)) == Fusion::kContraction &&
                              graph_.type(node.inputs[0]).shape == shape;
      if (!moves_rows &&
          (KindOf(node) != Fusion::kElementwise || graph_.type(node.outputs[0]).shape != shape)) {
        return false;
      }
    }
    return true;
  }

  bool Reaches(NodeId from, NodeId to, const Group& group) const {
    std::vector<NodeId> work = {from};
    std::set<NodeId> seen;
    while (!work.empty()) {
      const NodeId id = work.back();
      work.pop_back();
      if (id == to) return true;
      for (ValueId output : graph_.node(id).outputs) {
        for (NodeId reader : consumers_[static_cast<size_t>(output)]) {
          if (group.nodes.contains(reader) && seen.insert(reader).second) work.push_back(reader);
        }
      }
    }
    return false;
  }

  // True if the heavy node of the group reads the output of `producer`, directly or through others.
  bool FeedsHeavy(NodeId producer, const Group& group) const {
    return group.heavy != kNoId && producer < group.heavy && Reaches(producer, group.heavy, group);
  }

  // The reduction or contraction whose epilogue the node can be, the latest of several; kNoId if
  // there is none. heavy_of_ must have the entries of earlier nodes. An epilogue stays with that
  // operator; it does not become the prologue of a later one.
  NodeId HeavyOf(const Node& node) const {
    NodeId latest = kNoId;
    if (KindOf(node) != Fusion::kElementwise) return latest;
    for (ValueId input : node.inputs) {
      const Value& value = graph_.value(input);
      if (value.kind != ValueKind::kNodeOutput || LeavesGraph(input) ||
          consumers_[static_cast<size_t>(input)].size() != 1 ||
          graph_.type(input).shape != graph_.type(node.outputs[0]).shape) {
        continue;
      }
      const bool is_heavy = IsHeavy(KindOf(graph_.node(value.node)));
      latest = std::max(latest, is_heavy ? value.node : heavy_of_[static_cast<size_t>(value.node)]);
    }
    return latest;
  }

  bool MayJoin(NodeId id, const Group& group) const {
    const Node& producer = graph_.node(id);
    const Fusion kind = KindOf(producer);
    if (kind == Fusion::kOpaque || !OnlyReadBy(producer, group)) return false;
    if (IsHeavy(kind)) {
      return group.heavy == kNoId && (group.heavy_of == kNoId || group.heavy_of == id) &&
             EndsElementwise(id, id, group);
    }
    const NodeId heavy_of = heavy_of_[static_cast<size_t>(id)];
    const bool is_epilogue = heavy_of != kNoId;
    if (!FeedsHeavy(id, group)) {
      return !is_epilogue || ((group.heavy_of == kNoId || group.heavy_of == heavy_of) &&
                              EndsElementwise(id, heavy_of, group));
    }
    const Node& heavy = graph_.node(group.heavy);
    if (KindOf(heavy) == Fusion::kReduction) return !is_epilogue;
    return kind == Fusion::kInjective &&
           (IsReadInPlace(producer, group.heavy) || IsReadInPlace(producer, group.scores));
  }

  // A contraction can read in place only a pure move of its data, or a
  // transpose of its other factor.
  bool IsReadInPlace(const Node& producer, NodeId contraction) const {
    if (contraction == kNoId) return false;
    const OpTraits& traits = *TraitsOf(producer);
    const std::vector<ValueId>& factors = graph_.node(contraction).inputs;
    return (traits.is_read_in_place && producer.outputs[0] == factors[0]) ||
           (traits.layout.rule == LayoutRule::kTranspose && factors.size() == 2 &&
            producer.outputs[0] == factors[1]);
  }

  // The node that makes the value if nothing else reads it; null otherwise.
  const Node* OnlyFor(ValueId value) const {
    const bool alone = graph_.value(value).kind == ValueKind::kNodeOutput && !LeavesGraph(value) &&
                       consumers_[static_cast<size_t>(value)].size() == 1;
    return alone ? &graph_.node(graph_.value(value).node) : nullptr;
  }

  // Adds the operators that are computed row by row before the group's contraction: a reduction of
  // the rows of another contraction, that contraction, and the epilogue between the two.
  void TakeScores(Group& group) const {
    const Node& product = graph_.node(group.heavy);
    if (KindOf(product) != Fusion::kContraction || !IsByRows(graph_, product)) return;
    const Node* reduction = OnlyFor(product.inputs[0]);
    if (reduction == nullptr || KindOf(*reduction) != Fusion::kReduction ||
        !IsByRows(graph_, *reduction)) {
      return;
    }
    const Node* last = OnlyFor(reduction->inputs[0]);
    if (last == nullptr) return;
    const auto id_of = [&](const Node* node) { return graph_.value(node->outputs[0]).node; };
    const NodeId scores =
        IsHeavy(KindOf(*last)) ? id_of(last) : heavy_of_[static_cast<size_t>(id_of(last))];
    if (scores == kNoId || KindOf(graph_.node(scores)) != Fusion::kContraction ||
        !IsByRows(graph_, graph_.node(scores))) {
      return;
    }
    group.scores = scores;
    group.nodes.insert(id_of(reduction));
    for (std::vector<NodeId> work = {id_of(last)}; !work.empty();) {
      const NodeId id = work.back();
      work.pop_back();
      group.nodes.insert(id);
      if (id == scores) continue;
      for (ValueId input : graph_.node(id).inputs) {
        const Node* before = OnlyFor(input);
        if (before == nullptr) continue;
        const NodeId before_id = id_of(before);
        if (before_id == scores || heavy_of_[static_cast<size_t>(before_id)] == scores) {
          work.push_back(before_id);
        }
      }
    }
  }

  void Grow(NodeId last) {
    Group group;
    group.nodes.insert(last);
    const Fusion kind = KindOf(graph_.node(last));
    group.heavy_of = heavy_of_[static_cast<size_t>(last)];
    if (IsHeavy(kind)) {
      group.heavy = group.heavy_of = last;
      TakeScores(group);
    }
    if (kind != Fusion::kOpaque) {
      for (bool grown = true; grown && group.nodes.size() < kMaxGroupNodes;) {
        grown = false;
        // The latest candidate comes first, so that the nearer one of two convolutions joins.
        std::set<NodeId, std::greater<>> candidates;
        for (NodeId id : group.nodes) {
          for (ValueId input : graph_.node(id).inputs) {
            const Value& value = graph_.value(input);
            if (value.kind == ValueKind::kNodeOutput && !group.nodes.contains(value.node)) {
              candidates.insert(value.node);
            }
          }
        }
        for (NodeId id : candidates) {
          if (group_[static_cast<size_t>(id)] != kNoId || !MayJoin(id, group)) continue;
          group.nodes.insert(id);
          if (IsHeavy(KindOf(graph_.node(id)))) {
            group.heavy = group.heavy_of = id;
            TakeScores(group);
          }
          if (group.heavy_of == kNoId) group.heavy_of = heavy_of_[static_cast<size_t>(id)];
          grown = true;
          break;
        }
      }
    }
    for (NodeId id : group.nodes) group_[static_cast<size_t>(id)] = last;
    groups_[last] = std::move(group);
  }

  Graph Rebuild() {
    GraphRewriter rewriter(graph_);
    for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id) {
      const auto it = groups_.find(id);
      if (it == groups_.end()) continue;
      if (it->second.nodes.size() == 1) {
        rewriter.Copy(id);
      } else {
        AddGroup(it->second, id, rewriter);
      }
    }
    return std::move(rewriter).Finish();
  }

  void AddGroup(const Group& group, NodeId last, GraphRewriter& rewriter) {
    Graph body;
    std::map<ValueId, ValueId> inside;
    Node node;
    const auto map = [&](ValueId outer) {
      const auto it = inside.find(outer);
      if (it != inside.end()) return it->second;
      ValueId id;
      if (graph_.is_constant(outer)) {
        id = body.AddConstant(graph_.value(outer).constant, graph_.value(outer).name);
      } else {
        id = body.AddInput(absl::StrCat("p", body.inputs.size()), graph_.type(outer));
        node.inputs.push_back(rewriter.Map(outer));
      }
      return inside[outer] = id;
    };
    std::vector<std::string> sources;
    for (NodeId id : group.nodes) {
      Node copy = graph_.node(id);
      // Several operators may come from one node of the model.
      const std::string& source = copy.source.node;
      if (!source.empty() && std::find(sources.begin(), sources.end(), source) == sources.end()) {
        sources.push_back(source);
      }
      for (ValueId& input : copy.inputs) input = map(input);
      const std::vector<ValueId> outputs = copy.outputs;
      copy.outputs.clear();
      std::vector<TensorType> types;
      for (ValueId output : outputs) types.push_back(graph_.type(output));
      const NodeId added = body.AddNode(std::move(copy), types);
      for (size_t i = 0; i < outputs.size(); ++i) {
        inside[outputs[i]] = body.node(added).outputs[i];
      }
    }
    const Node& end = graph_.node(last);
    std::vector<TensorType> types;
    for (ValueId output : end.outputs) {
      body.outputs.push_back(inside[output]);
      types.push_back(graph_.type(output));
    }
    node.attrs.Set("Primitive", 1);
    node.source = end.source;
    if (!sources.empty()) {
      node.source.node.clear();
      for (const std::string& s : sources)
        absl::StrAppend(&node.source.node, node.source.node.empty() ? "" : " ", s);
    }
    node.body = std::make_shared<const Graph>(std::move(body));
    const NodeId added = rewriter.graph().AddNode(std::move(node), types);
    for (size_t i = 0; i < end.outputs.size(); ++i) {
      rewriter.Replace(end.outputs[i], rewriter.graph().node(added).outputs[i]);
    }
  }

  const Graph& graph_;
  std::vector<std::vector<NodeId>> consumers_;
  std::vector<NodeId> heavy_of_;  // by node
  std::vector<NodeId> group_;     // by node: the last node of its group
  std::map<NodeId, Group> groups_;
};

}  // namespace

absl::StatusOr<Graph> Fuse(const Graph& graph, const PassContext&) { return Fuser(graph).Run(); }

}  // namespace kiln
