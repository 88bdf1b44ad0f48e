// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/cost.h"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_set>
#include <vector>

#include "compiler/loop/expr_node.h"

namespace kiln::loop {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

int64_t Add(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? kMost : sum;
}

int64_t Multiply(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kMost : product;
}

int64_t Points(const std::vector<Axis>& axes) {
  // An extent of 0 means no points, even if the product of the extents before it does not fit.
  if (std::any_of(axes.begin(), axes.end(), [](const Axis& axis) { return axis.extent == 0; })) {
    return 0;
  }
  int64_t points = 1;
  for (const Axis& axis : axes) points = Multiply(points, axis.extent);
  return points;
}

// Number of operations of a node that computes values from elements of tensors.
int64_t OperationsOf(const ExprNode& node) {
  return std::visit(
      Overloaded{[](const Unary& n) { return SaturationOf(n.op).has_value() ? 2 : 1; },
                 [](const Binary&) { return 1; }, [](const Fma&) { return 2; },
                 [](const Dot& n) { return 2 * n.kind.group * n.kind.steps; },
                 [](const Compare&) { return 1; },
                 // All other nodes move or name values.
                 [](const auto&) { return 0; }},
      node.value);
}

// Counts the operations and loads of one evaluation of a stage's value.
class ValueCost {
 public:
  explicit ValueCost(const Expr& value) {
    std::unordered_set<const ExprNode*> visited;
    WalkPostOrder(value, visited, [this](const Expr& e) { See(*e); });
    // Stops at loads, because their operands are indices.
    std::unordered_set<const ExprNode*> counted;
    for (std::vector<const ExprNode*> open = {value.get()}; !open.empty();) {
      const ExprNode* node = open.back();
      open.pop_back();
      if (!of_elements_.contains(node) || !counted.insert(node).second) continue;
      operations_ += OperationsOf(*node);
      if (std::holds_alternative<Load>(node->value)) continue;
      ForEachOperand(*node, [&](const Expr& operand) { open.push_back(operand.get()); });
    }
  }

  int64_t operations() const { return operations_; }
  const std::map<Buffer, int64_t>& loads() const { return loads_; }

 private:
  void See(const ExprNode& node) {
    bool of_elements = false;
    if (const auto* load = std::get_if<Load>(&node.value)) {
      of_elements = true;
      ++loads_[load->buffer];
    }
    ForEachOperand(node, [&](const Expr& operand) {
      of_elements = of_elements || of_elements_.contains(operand.get());
    });
    if (of_elements) of_elements_.insert(&node);
  }

  std::unordered_set<const ExprNode*> of_elements_;  // loads, and nodes that use loaded values
  std::map<Buffer, int64_t> loads_;
  int64_t operations_ = 0;
};

}  // namespace

Cost Cost::operator+(const Cost& other) const {
  return {Add(operations, other.operations), Add(accessed_bytes, other.accessed_bytes)};
}

Cost CostOf(const Kernel& kernel) {
  Cost cost;
  std::map<Buffer, int64_t> loads;
  for (const Stage& stage : kernel.stages) {
    const ValueCost value(stage.value);
    // A stage with ranks computes the key of each place once. Each of these counts one comparison.
    const int64_t ranks = stage.rank_axis.has_value() ? stage.axes[*stage.rank_axis].extent : 1;
    const int64_t points =
        ranks == 0 ? 0 : Multiply(Points(stage.axes) / ranks, Points(stage.reduce));
    const int64_t combine = stage.reduce.empty() ? 0 : 1;
    cost.operations = Add(cost.operations, Multiply(points, value.operations() + combine));
    for (const auto& [buffer, count] : value.loads()) {
      loads[buffer] = Add(loads[buffer], Multiply(points, count));
    }
  }
  const auto read = [&](const Buffer& buffer) {
    const int64_t bytes =
        std::min(buffer->num_bytes(), Multiply(loads[buffer], buffer->dtype.bytes()));
    cost.accessed_bytes = Add(cost.accessed_bytes, bytes);
  };
  for (const Buffer& input : kernel.inputs) read(input);
  for (const Constant& constant : kernel.constants) read(constant.buffer);
  for (const Buffer& output : kernel.outputs) {
    cost.accessed_bytes = Add(cost.accessed_bytes, output->num_bytes());
  }
  return cost;
}

}  // namespace kiln::loop
