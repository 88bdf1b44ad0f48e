// SPDX-License-Identifier: Apache-2.0
#include "compiler/external/regions.h"

#include <algorithm>
#include <map>
#include <utility>

namespace kiln {
namespace {

class Merger {
 public:
  Merger(const Graph& graph, const std::vector<Mark>& marks)
      : graph_(graph), consumers_(graph.Consumers()), marks_(marks), unit_(graph.nodes.size()) {
    // Units are the marks, followed by the nodes without a mark.
    members_.resize(marks.size());
    std::vector<bool> taken(graph.nodes.size(), false);
    for (size_t m = 0; m < marks.size(); ++m) {
      for (NodeId id : marks[m].nodes) {
        unit_[static_cast<size_t>(id)] = static_cast<int>(m);
        taken[static_cast<size_t>(id)] = true;
      }
      members_[m] = marks[m].nodes;
    }
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      if (taken[i]) continue;
      unit_[i] = static_cast<int>(members_.size());
      members_.push_back({static_cast<NodeId>(i)});
    }
  }

  std::vector<std::vector<int>> Run() && {
    // Merging can turn a detour around another pair of units into a path inside of one, so that the
    // pair can be merged, too.
    while (MergeOnce()) {
    }
    std::map<NodeId, std::vector<int>> by_first_node;
    for (size_t m = 0; m < marks_.size(); ++m) {
      const std::vector<NodeId>& nodes = members_[static_cast<size_t>(UnitOf(marks_[m].nodes[0]))];
      by_first_node[*std::min_element(nodes.begin(), nodes.end())].push_back(static_cast<int>(m));
    }
    std::vector<std::vector<int>> regions;
    for (auto& [node, region] : by_first_node) regions.push_back(std::move(region));
    return regions;
  }

 private:
  int UnitOf(NodeId id) const { return unit_[static_cast<size_t>(id)]; }
  // A merged unit has the number of one of its marks. Returns -1 for a node without a mark.
  int CodegenOf(int unit) const {
    return static_cast<size_t>(unit) < marks_.size() ? marks_[static_cast<size_t>(unit)].codegen
                                                     : -1;
  }

  bool MergeOnce() {
    bool merged = false;
    for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id) {
      for (ValueId input : graph_.node(id).inputs) {
        const NodeId producer = graph_.value(input).node;
        if (producer == kNoId) continue;
        const int from = UnitOf(producer), to = UnitOf(id);
        if (from == to || CodegenOf(from) < 0 || CodegenOf(from) != CodegenOf(to) ||
            HasWayAround(from, to)) {
          continue;
        }
        Merge(from, to);
        merged = true;
      }
    }
    return merged;
  }

  void Merge(int from, int to) {
    std::vector<NodeId>& nodes = members_[static_cast<size_t>(to)];
    for (NodeId id : members_[static_cast<size_t>(from)]) {
      unit_[static_cast<size_t>(id)] = to;
      nodes.push_back(id);
    }
    members_[static_cast<size_t>(from)].clear();
  }

  // True if a path leads from one unit to the other through a third.
  bool HasWayAround(int from, int to) const {
    std::vector<bool> seen(members_.size(), false);
    std::vector<int> work;
    const auto visit_readers = [&](int unit) {
      for (NodeId id : members_[static_cast<size_t>(unit)]) {
        for (ValueId output : graph_.node(id).outputs) {
          for (NodeId reader : consumers_[static_cast<size_t>(output)]) {
            const int next = UnitOf(reader);
            if (next == from || (next == to && unit == from) || seen[static_cast<size_t>(next)]) {
              continue;
            }
            seen[static_cast<size_t>(next)] = true;
            work.push_back(next);
          }
        }
      }
    };
    visit_readers(from);
    while (!work.empty()) {
      const int unit = work.back();
      work.pop_back();
      if (unit == to) return true;
      visit_readers(unit);
    }
    return false;
  }

  const Graph& graph_;
  const std::vector<std::vector<NodeId>> consumers_;
  const std::vector<Mark>& marks_;
  std::vector<int> unit_;                     // by node
  std::vector<std::vector<NodeId>> members_;  // by unit; empty if it was merged into another
};

}  // namespace

std::vector<std::vector<int>> MergeMarks(const Graph& graph, const std::vector<Mark>& marks) {
  return Merger(graph, marks).Run();
}

}  // namespace kiln
