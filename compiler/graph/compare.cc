// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "compiler/graph/graph.h"

namespace kiln {
namespace {

// Walks two graphs in parallel and pairs their values.
class Comparison {
 public:
  Comparison(const Graph& a, const Graph& b) : a_(a), b_(b), partner_(a.values.size(), kNoId) {}

  bool Equal() {
    if (a_.inputs.size() != b_.inputs.size() || a_.nodes.size() != b_.nodes.size() ||
        a_.output_names != b_.output_names || !(a_.attrs == b_.attrs)) {
      return false;
    }
    for (size_t i = 0; i < a_.inputs.size(); ++i) {
      if (a_.value(a_.inputs[i]).name != b_.value(b_.inputs[i]).name) return false;
    }
    if (!Pair(a_.inputs, b_.inputs)) return false;
    for (size_t i = 0; i < a_.nodes.size(); ++i) {
      if (!SameNode(a_.nodes[i], b_.nodes[i])) return false;
    }
    return Reads(a_.outputs, b_.outputs);
  }

 private:
  bool SameNode(const Node& x, const Node& y) {
    if (x.is_group() != y.is_group() || x.op_name() != y.op_name() || !(x.attrs == y.attrs)) {
      return false;
    }
    if ((x.body == nullptr) != (y.body == nullptr)) return false;
    if (x.body != y.body && !(*x.body == *y.body)) return false;
    return Reads(x.inputs, y.inputs) && Pair(x.outputs, y.outputs);
  }

  // Pairs values that are defined at the same place. Returns false if their types differ.
  bool Pair(const std::vector<ValueId>& xs, const std::vector<ValueId>& ys) {
    if (xs.size() != ys.size()) return false;
    for (size_t i = 0; i < xs.size(); ++i) {
      if (a_.value(xs[i]).type != b_.value(ys[i]).type) return false;
      partner_[static_cast<size_t>(xs[i])] = ys[i];
    }
    return true;
  }

  // True if values that are read at the same place are paired, or are equal constants.
  bool Reads(const std::vector<ValueId>& xs, const std::vector<ValueId>& ys) const {
    if (xs.size() != ys.size()) return false;
    for (size_t i = 0; i < xs.size(); ++i) {
      if (a_.is_constant(xs[i]) != b_.is_constant(ys[i])) return false;
      if (a_.is_constant(xs[i])) {
        if (!(a_.value(xs[i]).constant == b_.value(ys[i]).constant)) return false;
      } else if (partner_[static_cast<size_t>(xs[i])] != ys[i]) {
        return false;
      }
    }
    return true;
  }

  const Graph& a_;
  const Graph& b_;
  std::vector<ValueId> partner_;  // the paired value of b, for each value of a
};

}  // namespace

bool operator==(const Graph& a, const Graph& b) { return Comparison(a, b).Equal(); }

}  // namespace kiln
