// SPDX-License-Identifier: Apache-2.0
// Constants are compiled for one fictitious machine and run by the interpreter, so that they have
// the same bits wherever the compiler runs (docs/decisions/0005).
#include "compiler/evaluate/evaluate.h"

#include <limits>
#include <map>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/executor/aot.h"
#include "compiler/loop/interpret.h"
#include "compiler/loop/pipeline.h"
#include "compiler/lower/lower.h"
#include "compiler/passes/pass.h"
#include "compiler/plan/plan.h"
#include "compiler/target/target.h"

namespace kiln {
namespace {

// Long vectors, as the interpreter takes less time per lane of them.
constexpr int kVectorBits = 4096;
// Bytes of workspace that count as one operation.
constexpr int64_t kBytesPerOperation = 8;

}  // namespace

absl::StatusOr<std::vector<Tensor>> EvaluateConstants(const Graph& original, int64_t* work) {
  KILN_ASSIGN_OR_RETURN(Target target, Target::Parse("x86-64"));
  target.vector_bits = kVectorBits;
  const Evaluator evaluate = [work](const Graph& constants) {
    return EvaluateConstants(constants, work);
  };
  KILN_ASSIGN_OR_RETURN(const Graph graph,
                        CopyOutputs(original, {.target = target, .evaluate = evaluate}));
  KILN_ASSIGN_OR_RETURN(
      Lowered lowered,
      Lower(graph, target, {.module_name = "constants", .schedule = {.winograd = false}}));
  KILN_ASSIGN_OR_RETURN(const Plan plan, MakePlan(graph, lowered.calls));
  *work -= plan.workspace_bytes() / kBytesPerOperation;
  if (*work < 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("a constant that needs ", plan.workspace_bytes(), " bytes of memory"));
  }
  const std::string name = "evaluate";
  KILN_ASSIGN_OR_RETURN(loop::Func main, RunModel(plan, lowered.program, name));
  lowered.program.funcs.push_back(std::move(main));
  KILN_RETURN_IF_ERROR(loop::RunLoopPasses(loop::LoopPhase::kCode, {},
                                           {.vector_bits = loop::AllOf(kVectorBits), .threads = 1},
                                           lowered.program));
  std::vector<std::string> outputs;
  for (ValueId id : graph.outputs) {
    outputs.emplace_back(static_cast<size_t>(graph.type(id).num_bytes()), '\0');
  }
  std::vector<void*> args;
  for (std::string& output : outputs) args.push_back(output.data());
  const int64_t alignment = PlanOptions().alignment_bytes;
  std::string workspace(static_cast<size_t>(plan.workspace_bytes() + alignment), '\0');
  if (plan.workspace_bytes() > 0) {
    const uintptr_t begin = reinterpret_cast<uintptr_t>(workspace.data());
    const uintptr_t mask = static_cast<uintptr_t>(alignment) - 1;
    args.push_back(reinterpret_cast<void*>((begin + mask) & ~mask));
  }
  loop::Interpreter interpreter(lowered.program);
  interpreter.SetMaxWork(*work);
  const absl::Status status = interpreter.Run(name, args);
  *work = interpreter.work_left();
  KILN_RETURN_IF_ERROR(status);
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < outputs.size(); ++i) {
    tensors.emplace_back(graph.type(graph.outputs[i]), std::move(outputs[i]));
  }
  return tensors;
}

absl::StatusOr<std::vector<Tensor>> EvaluateAllConstants(const Graph& graph) {
  int64_t unlimited = std::numeric_limits<int64_t>::max();
  return EvaluateConstants(graph, &unlimited);
}

}  // namespace kiln
