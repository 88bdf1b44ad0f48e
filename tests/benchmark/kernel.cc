// SPDX-License-Identifier: Apache-2.0
#include "tests/benchmark/kernel.h"

#include <cstdlib>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/backend/backend.h"
#include "compiler/base/status.h"
#include "compiler/evaluate/evaluate.h"
#include "compiler/executor/aot.h"
#include "compiler/options/options.h"
#include "compiler/pipeline/compile.h"
#include "tvm/runtime/c_backend_api.h"

namespace kiln::benchmark {
namespace {

std::shared_ptr<char> Memory(int64_t bytes) {
  std::shared_ptr<char> memory(
      static_cast<char*>(std::aligned_alloc(64, static_cast<size_t>((bytes + 127) / 64 * 64))),
      std::free);
  float* values = reinterpret_cast<float*>(memory.get());
  for (int64_t i = 0; i < bytes / 4; ++i) values[i] = static_cast<float>(i % 17) / 16.0f - 0.5f;
  return memory;
}

void AddMemory(const Graph& graph, const Plan& plan, Kernel& kernel) {
  for (const Value& value : graph.values) {
    if (value.kind != ValueKind::kNodeOutput) kernel.bytes += value.type->num_bytes();
  }
  for (ValueId id : graph.outputs) kernel.bytes += graph.type(id).num_bytes();
  const auto add = [&](int64_t bytes) {
    kernel.memory.push_back(Memory(bytes));
    kernel.args.push_back(kernel.memory.back().get());
  };
  for (ValueId id : graph.inputs) add(graph.type(id).num_bytes());
  for (ValueId id : graph.outputs) add(graph.type(id).num_bytes());
  if (plan.workspace_bytes() > 0) add(plan.workspace_bytes());
}

absl::Status Compile(const Graph& model, const Target& target, const ScheduleOptions& schedule,
                     Kernel& kernel) {
  CompileOptions options;
  options.target = target;
  KILN_ASSIGN_OR_RETURN(
      const Graph graph,
      RunPasses(model, {.target = options.target, .evaluate = EvaluateAllConstants}, {}));
  KILN_ASSIGN_OR_RETURN(Lowered lowered, Lower(graph, options.target,
                                               {.module_name = "bench", .schedule = schedule}));
  for (const Call& call : lowered.calls) {
    absl::StrAppend(&kernel.schedule, kernel.schedule.empty() ? "" : "; ", call.schedule);
  }
  KILN_ASSIGN_OR_RETURN(const Plan plan, MakePlan(graph, lowered.calls));
  KILN_ASSIGN_OR_RETURN(loop::Func main, RunModel(plan, lowered.program, "run"));
  lowered.program.funcs.push_back(std::move(main));
  const codegen::Jit::Symbols symbols = {
      {"TVMBackendParallelLaunch", reinterpret_cast<void*>(&TVMBackendParallelLaunch)}};
  KILN_ASSIGN_OR_RETURN(const loop::LoopProgram program, VectorProgram(lowered.program, options));
  KILN_ASSIGN_OR_RETURN(kernel.jit, codegen::Jit::Create(program, options.target, symbols));
  AddMemory(graph, plan, kernel);
  return absl::OkStatus();
}

}  // namespace

void KernelList::Add(absl::string_view name, Roof roof, double operations,
                     absl::StatusOr<Graph> graph, const ScheduleOptions& schedule) {
  if (!status_.ok() || !absl::StrContains(name, filter_)) return;
  Kernel kernel{.name = std::string(name), .roof = roof, .operations = operations};
  const absl::Status status =
      graph.ok() ? Compile(*graph, target_, schedule, kernel) : graph.status();
  if (!status.ok()) {
    status_ = absl::Status(status.code(), absl::StrCat(name, ": ", status.message()));
    return;
  }
  kernels_.push_back(std::move(kernel));
}

absl::StatusOr<std::vector<Kernel>> KernelList::Take() && {
  KILN_RETURN_IF_ERROR(status_);
  return std::move(kernels_);
}

}  // namespace kiln::benchmark
