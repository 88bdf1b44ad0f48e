// SPDX-License-Identifier: Apache-2.0
// EvaluateConstants: constant folding runs what it folds through the compiler, unscheduled and for
// a machine without vectors, so that constants have the same bits wherever the compiler runs. By
// JIT where LLVM is linked and the work is worth it, else by the interpreter.
#include <map>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/call_specs.h"
#include "compiler/compile.h"
#include "compiler/executor/aot.h"
#include "compiler/loop/interpret.h"
#include "compiler/loop/passes.h"
#ifdef KILN_WITH_LLVM
#include "compiler/codegen/llvm/jit.h"
#endif

namespace kiln {
namespace {

#ifdef KILN_WITH_LLVM
constexpr int64_t kMinJitElements = 100'000;  // below, compiling takes longer than interpreting
#endif

absl::Status RunProgram(const loop::LoopProgram& program, const std::string& name, int64_t elements,
                        std::vector<void*>& args) {
#ifdef KILN_WITH_LLVM
  if (elements >= kMinJitElements && args.size() <= codegen::Jit::kMaxRunArgs) {
    KILN_ASSIGN_OR_RETURN(auto jit, codegen::Jit::Create(program, Target::Host()));
    return jit->Run(name, args);
  }
#endif
  (void)elements;
  return loop::Interpreter(program).Run(name, args);
}

}  // namespace

absl::StatusOr<std::vector<Tensor>> EvaluateConstants(const Graph& original) {
  KILN_ASSIGN_OR_RETURN(const Target target, Target::Parse("x86-64"));
  KILN_ASSIGN_OR_RETURN(const Graph graph,
                        CopyOutputs(original, {.target = target, .evaluate = EvaluateConstants}));
  KILN_ASSIGN_OR_RETURN(
      Lowered lowered,
      Lower(graph, target, {.module_name = "constants", .schedule = {.naive = true}}));
  KILN_ASSIGN_OR_RETURN(const Plan plan, MakePlan(graph, CallsOf(lowered)));
  const std::string name = "evaluate";
  KILN_ASSIGN_OR_RETURN(loop::Func main, RunModel(plan, lowered.program, name));
  lowered.program.funcs.push_back(std::move(main));
  loop::OutlineParallel(lowered.program, 1);
  int64_t elements = 0;
  std::vector<std::string> outputs;
  for (ValueId id : graph.outputs) {
    outputs.emplace_back(static_cast<size_t>(graph.type(id).num_bytes()), '\0');
    elements += graph.type(id).num_elements();
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
  KILN_RETURN_IF_ERROR(RunProgram(lowered.program, name, elements, args));
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < outputs.size(); ++i) {
    tensors.emplace_back(graph.type(graph.outputs[i]), std::move(outputs[i]));
  }
  return tensors;
}

}  // namespace kiln
