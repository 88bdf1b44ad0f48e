// SPDX-License-Identifier: Apache-2.0
// FoldConstants: computes nodes whose inputs are all constants, all in one evaluation, and replaces
// them by constants. The work is limited in proportion to the constants that the model has and to
// the constants that result. Nodes beyond the limit, and nodes that depend on them, are left to run
// time. The pass runs several times, but the size of a result is limited in proportion to the
// constants of the first time.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <set>
#include <vector>

#include "compiler/base/status.h"
#include "compiler/graph/external_node.h"
#include "compiler/graph/fixed_nodes.h"
#include "compiler/graph/rewrite.h"
#include "compiler/ops/op_def.h"
#include "compiler/passes/pass.h"

namespace kiln {
namespace {

// A result that is larger than this and than twice its inputs stays a computation, such as
// broadcast_to of a scalar. Parts of weights are exempt: schedules pack constant weights, and read
// others much more slowly.
constexpr int64_t kMaxGrownBytes = 1 << 20;
// Operations that may be computed in any model, and per byte of constants. A product of square
// matrices of 4,096 rows is computed.
constexpr int64_t kWorkOfAnyModel = 1 << 28;
constexpr int64_t kWorkOfByte = 1 << 10;
// Limits on the bytes of the results of one node: for any node, for weights, and per byte of the
// model's constants. The last limit is on the bytes of all results that stay.
constexpr int64_t kMaxResultBytes = 1 << 26;
constexpr int64_t kMaxWeightBytes = 1 << 29;
constexpr int64_t kResultBytesOfByte = 4;
constexpr int64_t kMaxAllResultsBytes = int64_t{768} << 20;

bool MayGrow(const Graph& graph, const Node& node) {
  int64_t in = 0, out = 0;
  for (ValueId input : node.inputs) in += graph.type(input).num_bytes();
  for (ValueId output : node.outputs) out += graph.type(output).num_bytes();
  return out <= std::max(in * 2, kMaxGrownBytes);
}

bool IsWeight(const Node& node, size_t input) {
  return !node.is_group() && FindOp(node.op->name)->traits.weight == static_cast<int>(input);
}

// For each value: true if it is a weight of a convolution or product, or if
// such a weight depends on it.
std::vector<bool> PartsOfWeights(const Graph& graph) {
  std::vector<bool> is_part(graph.values.size(), false);
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const bool makes_part =
        std::any_of(node->outputs.begin(), node->outputs.end(),
                    [&](ValueId output) { return is_part[static_cast<size_t>(output)]; });
    for (size_t i = 0; i < node->inputs.size(); ++i) {
      if (makes_part || IsWeight(*node, i)) is_part[static_cast<size_t>(node->inputs[i])] = true;
    }
  }
  return is_part;
}

// Bytes of the constants that the nodes in `folds` read, and of the results that others read.
struct Sizes {
  double constants = 0;
  double results = 0;
};

Sizes SizesOf(const Graph& graph, FixedNodes& folds) {
  Sizes sizes;
  std::vector<bool> counted(graph.values.size(), false);
  std::set<const char*> tensors;  // several values may be one tensor of the model
  const auto is_new = [&](ValueId value) {
    if (counted[static_cast<size_t>(value)]) return false;
    return static_cast<bool>(counted[static_cast<size_t>(value)] = true);
  };
  const auto add_result = [&](ValueId value) {
    if (graph.is_constant(value) || !folds.Contains(value) || !is_new(value)) return;
    sizes.results += static_cast<double>(graph.type(value).num_bytes());
  };
  for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
    const bool is_folded = folds.ContainsNode(id);
    for (ValueId input : graph.node(id).inputs) {
      if (!is_folded) {
        add_result(input);
      } else if (graph.is_constant(input) && is_new(input) &&
                 tensors.insert(graph.value(input).constant.bytes().data()).second) {
        sizes.constants += static_cast<double>(graph.type(input).num_bytes());
      }
    }
  }
  for (ValueId output : graph.outputs) add_result(output);
  return sizes;
}

class Budget {
 public:
  // `sizes` are the sizes of all nodes that may be folded.
  Budget(const Graph& graph, const Sizes& sizes, const std::vector<bool>& is_part_of_weight,
         const PassContext& context)
      : graph_(graph),
        is_part_of_weight_(is_part_of_weight),
        context_(context),
        work_left_(static_cast<double>(kWorkOfAnyModel) +
                   static_cast<double>(kWorkOfByte) * (sizes.constants + sizes.results)),
        proportion_(static_cast<double>(kResultBytesOfByte) *
                    std::min(sizes.constants, context.constant_bytes.has_value()
                                                  ? static_cast<double>(*context.constant_bytes)
                                                  : sizes.constants)) {}

  // Deducts the work of the node. Returns false if the remaining work does not suffice, or if the
  // node's results exceed their limit or `most_bytes`.
  bool Take(const Node& node, double most_bytes) {
    if (context_.work == nullptr) return true;
    double result_bytes = 0;
    for (ValueId output : node.outputs) {
      result_bytes += static_cast<double>(graph_.type(output).num_bytes());
    }
    const bool is_part_of_weight = is_part_of_weight_[static_cast<size_t>(node.outputs[0])];
    const auto own = static_cast<double>(is_part_of_weight ? kMaxWeightBytes : kMaxResultBytes);
    const auto work = static_cast<double>(context_.work(graph_, node));
    if (result_bytes > std::min(std::max(own, proportion_), most_bytes) || work > work_left_) {
      return false;
    }
    work_left_ -= work;
    return true;
  }

  bool MayStay(double results) const {
    return context_.work == nullptr ||
           results <= static_cast<double>(kMaxAllResultsBytes) + proportion_;
  }

 private:
  const Graph& graph_;
  const std::vector<bool>& is_part_of_weight_;
  const PassContext& context_;
  double work_left_;
  double proportion_;  // result bytes that the model's constants allow
};

// For each node: true if it is folded, which takes `may_fold` and enough budget. If too many bytes
// would stay, the largest results are not computed.
std::vector<bool> NodesToFold(const Graph& graph, const std::function<bool(const Node&)>& may_fold,
                              const std::vector<bool>& is_part_of_weight,
                              const PassContext& context) {
  FixedNodes all(graph, may_fold);
  const Sizes sizes = SizesOf(graph, all);
  for (double most_bytes = std::numeric_limits<double>::max();;) {
    Budget budget(graph, sizes, is_part_of_weight, context);
    FixedNodes folds(
        graph, [&](const Node& node) { return may_fold(node) && budget.Take(node, most_bytes); });
    const double results = SizesOf(graph, folds).results;
    if (budget.MayStay(results)) {
      std::vector<bool> nodes;
      for (size_t i = 0; i < graph.nodes.size(); ++i) {
        nodes.push_back(folds.ContainsNode(static_cast<NodeId>(i)));
      }
      return nodes;
    }
    most_bytes = std::min(most_bytes, results) / 2;
  }
}

}  // namespace

absl::StatusOr<Graph> FoldConstants(const Graph& graph, const PassContext& context) {
  const std::vector<bool> is_part_of_weight = PartsOfWeights(graph);
  const auto may_fold = [&](const Node& node) {
    // An external generator's module runs only on the target.
    return ExternalCompiler(node).empty() &&
           (MayGrow(graph, node) || is_part_of_weight[static_cast<size_t>(node.outputs[0])]);
  };
  const std::vector<bool> folds = NodesToFold(graph, may_fold, is_part_of_weight, context);

  // The folded nodes as a separate graph. Its outputs are the values that the
  // rest of the graph reads.
  GraphRewriter fixed(graph);
  std::vector<ValueId> wanted;
  std::vector<bool> is_wanted(graph.values.size(), false);
  const auto want = [&](ValueId id) {
    const Value& value = graph.value(id);
    if (value.kind != ValueKind::kNodeOutput || !folds[static_cast<size_t>(value.node)]) return;
    if (!is_wanted[static_cast<size_t>(id)]) wanted.push_back(id);
    is_wanted[static_cast<size_t>(id)] = true;
  };
  for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
    if (folds[static_cast<size_t>(id)]) {
      fixed.Copy(id);
    } else {
      for (ValueId input : graph.node(id).inputs) want(input);
    }
  }
  for (ValueId output : graph.outputs) want(output);
  if (wanted.empty()) return RemoveDeadNodes(graph);
  Graph constants = fixed.graph();
  constants.outputs.clear();
  for (ValueId id : wanted) constants.outputs.push_back(fixed.Map(id));
  constants.inputs.clear();
  KILN_ASSIGN_OR_RETURN(const std::vector<Tensor> tensors,
                        context.evaluate(RemoveDeadNodes(constants)));

  GraphRewriter rest(graph);
  for (size_t i = 0; i < wanted.size(); ++i) {
    rest.Replace(wanted[i], rest.graph().AddConstant(tensors[i], graph.value(wanted[i]).name));
  }
  for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
    if (!folds[static_cast<size_t>(id)]) rest.Copy(id);
  }
  return std::move(rest).Finish();
}

}  // namespace kiln
