// SPDX-License-Identifier: Apache-2.0
#include "compiler/external/mark.h"

#include <algorithm>

namespace kiln {
namespace {

class Marker {
 public:
  Marker(const Graph& graph, const std::vector<const ExternalCodegen*>& codegens)
      : graph_(graph),
        codegens_(codegens),
        consumers_(graph.Consumers()),
        free_(graph.nodes.size(), false) {
    std::vector<bool> varies(graph.values.size(), false);
    for (ValueId input : graph.inputs) varies[static_cast<size_t>(input)] = true;
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const Node& node = graph.nodes[i];
      const bool any = std::any_of(node.inputs.begin(), node.inputs.end(),
                                   [&](ValueId v) { return varies[static_cast<size_t>(v)]; });
      for (ValueId output : node.outputs) varies[static_cast<size_t>(output)] = any;
      free_[i] = any && !node.is_group();
    }
  }

  std::vector<Mark> Run() && {
    for (size_t c = 0; c < codegens_.size(); ++c) {
      for (const ExternalPattern& pattern : codegens_[c]->patterns) {
        for (NodeId id = 0; id < NumNodes(); ++id) {
          std::vector<NodeId> nodes = Match(pattern, id);
          if (!nodes.empty()) Take({static_cast<int>(c), pattern.name, std::move(nodes)});
        }
      }
      for (NodeId id = 0; id < NumNodes(); ++id) {
        if (IsFree(id) && CheckOp(*codegens_[c], graph_, graph_.node(id)).ok()) {
          Take({static_cast<int>(c), "", {id}});
        }
      }
    }
    return std::move(marks_);
  }

 private:
  NodeId NumNodes() const { return static_cast<NodeId>(graph_.nodes.size()); }
  bool IsFree(NodeId id) const { return free_[static_cast<size_t>(id)]; }

  void Take(Mark mark) {
    for (NodeId id : mark.nodes) free_[static_cast<size_t>(id)] = false;
    marks_.push_back(std::move(mark));
  }

  bool Fits(const PatternStep& step, NodeId id) const {
    return id != kNoId && IsFree(id) &&
           std::find(step.ops.begin(), step.ops.end(), graph_.node(id).op_name()) != step.ops.end();
  }

  // The only node that reads the only result of `id`, or kNoId. The result must not be an output.
  NodeId SoleReader(NodeId id) const {
    const Node& node = graph_.node(id);
    if (node.outputs.size() != 1) return kNoId;
    const ValueId value = node.outputs[0];
    const std::vector<NodeId>& readers = consumers_[static_cast<size_t>(value)];
    const bool leaves =
        std::find(graph_.outputs.begin(), graph_.outputs.end(), value) != graph_.outputs.end();
    return readers.size() == 1 && !leaves ? readers[0] : kNoId;
  }

  // The nodes of a match that begins with `first`; empty if there is no match.
  std::vector<NodeId> Match(const ExternalPattern& pattern, NodeId first) const {
    if (!Fits(pattern.steps[0], first)) return {};
    std::vector<NodeId> nodes = {first};
    std::vector<bool> optional = {false};
    for (size_t s = 1; s < pattern.steps.size(); ++s) {
      const NodeId next = SoleReader(nodes.back());
      if (Fits(pattern.steps[s], next)) {
        nodes.push_back(next);
        optional.push_back(pattern.steps[s].optional);
      } else if (!pattern.steps[s].optional) {
        return {};
      }
    }
    while (!Accepts(pattern, nodes)) {
      if (!optional.back()) return {};
      nodes.pop_back();
      optional.pop_back();
    }
    return nodes;
  }

  bool Accepts(const ExternalPattern& pattern, const std::vector<NodeId>& ids) const {
    if (pattern.check == nullptr) return true;
    std::vector<const Node*> nodes;
    for (NodeId id : ids) nodes.push_back(&graph_.node(id));
    return pattern.check(graph_, nodes).ok();
  }

  const Graph& graph_;
  const std::vector<const ExternalCodegen*>& codegens_;
  const std::vector<std::vector<NodeId>> consumers_;
  std::vector<bool> free_;  // by node: true if a generator may take it
  std::vector<Mark> marks_;
};

}  // namespace

std::vector<Mark> MarkNodes(const Graph& graph,
                            const std::vector<const ExternalCodegen*>& codegens) {
  return Marker(graph, codegens).Run();
}

}  // namespace kiln
