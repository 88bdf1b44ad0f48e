// SPDX-License-Identifier: Apache-2.0
// Models for tests of plans.
#ifndef KILN_COMPILER_PLAN_TESTING_CALLS_H_
#define KILN_COMPILER_PLAN_TESTING_CALLS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/graph/graph.h"
#include "compiler/graph/test_ops.h"
#include "compiler/plan/plan.h"
#include "gtest/gtest.h"

namespace kiln {

// A model written call by call. Sizes are in floats.
class Calls {
 public:
  ValueId Input(int64_t floats) {
    return graph_.AddInput("in" + std::to_string(graph_.inputs.size()), Type(floats));
  }
  ValueId Call(std::vector<ValueId> inputs, int64_t floats, int64_t scratch_bytes = 0,
               std::vector<std::pair<int, int>> in_place = {}) {
    return Add("f" + std::to_string(calls_.size()), std::move(inputs), floats, scratch_bytes,
               std::move(in_place));
  }
  // A call whose output may be written over its first input.
  ValueId InPlace(std::vector<ValueId> inputs, int64_t floats) {
    return Call(std::move(inputs), floats, 0, {{0, 0}});
  }
  // A call that makes a part of a value. Earlier calls make its other parts.
  void Part(std::vector<ValueId> inputs, ValueId whole) {
    calls_.push_back({.function = "f" + std::to_string(calls_.size()),
                      .inputs = std::move(inputs),
                      .outputs = {whole},
                      .op_names = "",
                      .source = ""});
  }
  ValueId View(ValueId input) { return Add("", {input}, graph_.type(input).num_elements(), 0, {}); }

  absl::StatusOr<Plan> TryPlan(std::vector<ValueId> outputs) {
    graph_.outputs = std::move(outputs);
    return MakePlan(graph_, calls_, options);
  }
  Plan Make(std::vector<ValueId> outputs) {
    absl::StatusOr<Plan> plan = TryPlan(std::move(outputs));
    EXPECT_TRUE(plan.ok()) << plan.status();
    return plan.ok() ? *std::move(plan) : Plan();
  }

  PlanOptions options;

 private:
  static TensorType Type(int64_t floats) { return {{floats}, DType::Float(32)}; }

  ValueId Add(std::string function, std::vector<ValueId> inputs, int64_t floats, int64_t scratch,
              std::vector<std::pair<int, int>> in_place) {
    Node node;
    node.op = FindTestOp("concatenate");
    node.inputs = inputs;
    const TensorType type = Type(floats);
    const NodeId id = graph_.AddNode(std::move(node), absl::MakeConstSpan(&type, 1));
    const ValueId output = graph_.node(id).outputs[0];
    calls_.push_back({.function = std::move(function),
                      .inputs = std::move(inputs),
                      .outputs = {output},
                      .workspace_bytes = scratch,
                      .in_place = std::move(in_place),
                      .op_names = "concatenate",
                      .source = ""});
    return output;
  }

  Graph graph_;
  std::vector<kiln::Call> calls_;
};

// Returns the buffer that call `c` writes.
inline const PlanBuffer& OutputOf(const Plan& plan, size_t c) {
  return plan.buffers[static_cast<size_t>(plan.calls[c].args.back())];
}

}  // namespace kiln

#endif  // KILN_COMPILER_PLAN_TESTING_CALLS_H_
