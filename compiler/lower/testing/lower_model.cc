// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/testing/lower_model.h"

#include <map>
#include <string>
#include <utility>

#include "compiler/loop/interpret.h"
#include "compiler/loop/passes.h"
#include "compiler/passes/testing/run_pass.h"
#include "gtest/gtest.h"

namespace kiln {

Lowered LowerGraph(const Graph& graph, const LowerOptions& options) {
  Target target;
  target.vector_bits = 256;
  absl::StatusOr<Lowered> lowered = Lower(graph, target, options);
  EXPECT_TRUE(lowered.ok()) << lowered.status();
  if (!lowered.ok()) return {};
  EXPECT_EQ(loop::VerifyProgram(lowered->program), absl::OkStatus());
  return *std::move(lowered);
}

Lowered LowerModel(absl::string_view model) { return LowerGraph(ParseModel(model)); }

std::vector<Tensor> RunLowered(const Graph& graph, const Lowered& lowered,
                               const std::vector<Tensor>& inputs) {
  std::map<ValueId, std::string> memory;
  for (size_t i = 0; i < inputs.size(); ++i) memory[graph.inputs[i]] = inputs[i].bytes();
  loop::Interpreter interpreter(lowered.program);
  for (const Call& call : lowered.calls) {
    if (call.function.empty()) {
      memory[call.outputs[0]] = memory.at(call.inputs[0]);
      continue;
    }
    std::vector<void*> args;
    for (ValueId output : call.outputs) {
      // Other calls may have written parts of the output.
      memory.try_emplace(output, static_cast<size_t>(graph.type(output).num_bytes()), '\0');
    }
    for (const auto* ids : {&call.inputs, &call.outputs}) {
      for (ValueId id : *ids) args.push_back(memory.at(id).data());
    }
    EXPECT_EQ(interpreter.Run(call.function, args), absl::OkStatus());
  }
  std::vector<Tensor> outputs;
  for (ValueId output : graph.outputs) outputs.emplace_back(graph.type(output), memory.at(output));
  return outputs;
}

}  // namespace kiln
