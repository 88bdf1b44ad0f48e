// SPDX-License-Identifier: Apache-2.0
#include "compiler/external/contract.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/graph/rewrite.h"

namespace kiln {
namespace {

// A part of a graph as a graph of its own. Node k of `body` is a copy of the k-th node of the part.
struct Part {
  Graph body;
  std::vector<ValueId> inputs;   // values of the whole graph that correspond to the body's inputs
  std::vector<ValueId> outputs;  // … and to the body's outputs
};

class Extractor {
 public:
  Extractor(const Graph& graph, const std::vector<NodeId>& nodes) : graph_(graph), nodes_(nodes) {}

  Part Run(const std::vector<std::vector<NodeId>>& consumers) && {
    for (NodeId id : nodes_) AddNode(graph_.node(id));
    for (NodeId id : nodes_) {
      for (ValueId output : graph_.node(id).outputs) {
        if (!IsReadOutside(output, consumers[static_cast<size_t>(output)])) continue;
        part_.outputs.push_back(output);
        part_.body.outputs.push_back(inside_.at(output));
      }
    }
    return std::move(part_);
  }

 private:
  ValueId Inside(ValueId outer) {
    const auto it = inside_.find(outer);
    if (it != inside_.end()) return it->second;
    if (graph_.is_constant(outer)) {
      return inside_[outer] =
                 part_.body.AddConstant(graph_.value(outer).constant, graph_.value(outer).name);
    }
    part_.inputs.push_back(outer);
    return inside_[outer] =
               part_.body.AddInput(absl::StrCat("p", part_.body.inputs.size()), graph_.type(outer));
  }

  void AddNode(const Node& node) {
    Node copy = node;
    for (ValueId& input : copy.inputs) input = Inside(input);
    std::vector<TensorType> types;
    for (ValueId output : node.outputs) types.push_back(graph_.type(output));
    const NodeId added = part_.body.AddNode(std::move(copy), types);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      inside_[node.outputs[i]] = part_.body.node(added).outputs[i];
    }
  }

  bool IsReadOutside(ValueId value, const std::vector<NodeId>& readers) const {
    const auto is_outside = [&](NodeId reader) {
      return !std::binary_search(nodes_.begin(), nodes_.end(), reader);
    };
    return std::any_of(readers.begin(), readers.end(), is_outside) ||
           std::find(graph_.outputs.begin(), graph_.outputs.end(), value) != graph_.outputs.end();
  }

  const Graph& graph_;
  const std::vector<NodeId>& nodes_;
  Part part_;
  std::map<ValueId, ValueId> inside_;
};

// Joins the names of the nodes' sources, each name once.
SourceLocation JoinedSource(const Graph& graph, const std::vector<NodeId>& nodes) {
  SourceLocation source = graph.node(nodes.back()).source;
  std::set<std::string> seen;
  source.node.clear();
  for (NodeId id : nodes) {
    const std::string& name = graph.node(id).source.node;
    if (name.empty() || !seen.insert(name).second) continue;
    absl::StrAppend(&source.node, source.node.empty() ? "" : " ", name);
  }
  return source;
}

class Contractor {
 public:
  Contractor(const Graph& graph, const std::vector<Cluster>& clusters)
      : graph_(graph),
        clusters_(clusters),
        consumers_(graph.Consumers()),
        rewriter_(graph),
        first_(graph.nodes.size()) {
    for (size_t i = 0; i < first_.size(); ++i) first_[i] = static_cast<NodeId>(i);
    for (const Cluster& cluster : clusters_) {
      clusters_by_first_[cluster.nodes.front()] = &cluster;
      for (NodeId id : cluster.nodes) first_[static_cast<size_t>(id)] = cluster.nodes.front();
    }
  }

  // Adds clusters and single nodes in topological order. If several are ready, the one
  // whose first node comes first is next.
  Graph Run() && {
    std::map<NodeId, std::set<NodeId>> readers;
    std::map<NodeId, int> missing;
    for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id) {
      const NodeId unit = UnitOf(id);
      missing.try_emplace(unit, 0);
      for (ValueId output : graph_.node(id).outputs) {
        for (NodeId reader : consumers_[static_cast<size_t>(output)]) {
          if (UnitOf(reader) != unit && readers[unit].insert(UnitOf(reader)).second) {
            ++missing[UnitOf(reader)];
          }
        }
      }
    }
    std::set<NodeId> ready;
    for (const auto& [unit, count] : missing) {
      if (count == 0) ready.insert(unit);
    }
    while (!ready.empty()) {
      const NodeId unit = *ready.begin();
      ready.erase(ready.begin());
      Add(unit);
      for (NodeId reader : readers[unit]) {
        if (--missing[reader] == 0) ready.insert(reader);
      }
    }
    return std::move(rewriter_).Finish();
  }

 private:
  NodeId UnitOf(NodeId id) const { return first_[static_cast<size_t>(id)]; }

  void Add(NodeId unit) {
    const auto it = clusters_by_first_.find(unit);
    if (it == clusters_by_first_.end()) {
      rewriter_.Copy(unit);
      return;
    }
    const Cluster& cluster = *it->second;
    Part part = Extractor(graph_, cluster.nodes).Run(consumers_);
    if (!cluster.inner.empty()) part.body = Contract(part.body, Renumbered(cluster));
    Node node;
    node.attrs = cluster.attrs;
    for (ValueId input : part.inputs) node.inputs.push_back(rewriter_.Map(input));
    std::vector<TensorType> types;
    for (ValueId output : part.outputs) types.push_back(graph_.type(output));
    node.source = JoinedSource(graph_, cluster.nodes);
    node.body = std::make_shared<const Graph>(std::move(part.body));
    const NodeId added = rewriter_.graph().AddNode(std::move(node), types);
    for (size_t i = 0; i < part.outputs.size(); ++i) {
      rewriter_.Replace(part.outputs[i], rewriter_.graph().node(added).outputs[i]);
    }
  }

  // Returns the inner clusters with node numbers of the body.
  static std::vector<Cluster> Renumbered(const Cluster& cluster) {
    std::vector<Cluster> inner = cluster.inner;
    for (Cluster& c : inner) {
      for (NodeId& id : c.nodes) {
        const auto at = std::lower_bound(cluster.nodes.begin(), cluster.nodes.end(), id);
        id = static_cast<NodeId>(at - cluster.nodes.begin());
      }
    }
    return inner;
  }

  const Graph& graph_;
  const std::vector<Cluster>& clusters_;
  const std::vector<std::vector<NodeId>> consumers_;
  GraphRewriter rewriter_;
  std::vector<NodeId> first_;  // by node: the first node of its cluster, or itself
  std::map<NodeId, const Cluster*> clusters_by_first_;
};

}  // namespace

Graph Contract(const Graph& graph, const std::vector<Cluster>& clusters) {
  return Contractor(graph, clusters).Run();
}

}  // namespace kiln
