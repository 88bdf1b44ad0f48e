// SPDX-License-Identifier: Apache-2.0
#include "compiler/pipeline/planned.h"

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "compiler/base/module_prefix.h"
#include "compiler/base/status.h"
#include "compiler/executor/aot.h"
#include "compiler/executor/state.h"
#include "compiler/loop/overlap.h"
#include "compiler/lower/known_kernels.h"

namespace kiln {
namespace {

// With --optimize speed or balanced, strips of rows have to save this part of the workspace: 1 / 4.
// They take more code and instructions. For a fifth, a MobileNet takes 4 % more instructions and a
// quarter more code on a Cortex-M4.
constexpr int64_t kMinSplitSaving = 4;

// The application's pools. If inputs and outputs lie in the workspace, it is the application's too:
// the application writes and reads there.
std::vector<PoolSpec> PoolsOf(const CompileOptions& options) {
  if (!options.workspace_io || !options.pools.empty()) return options.pools;
  return {{.name = "workspace"}};
}

// Finds how far outputs may reach into inputs, for firmware only. The graph executor gives every
// tensor a storage of its own.
OverlapFinder OverlapFinderOf(const CompileOptions& options, const Target& target,
                              const loop::LoopProgram& program) {
  if (!options.overlap || !target.is_baremetal() || options.executor == Executor::kGraph) {
    return nullptr;
  }
  return [&](const Call& call, int input, int output) {
    return loop::FindOverlap(*program.FindFunc(call.function), input, output,
                             target.buffer_alignment());
  };
}

// Makes the plans that are compared. Kernels that two of them share are scheduled once.
class Planner {
 public:
  Planner(const std::vector<Target>& targets, const Ports& ports, const CompileOptions& options)
      : targets_(targets), ports_(ports), options_(options), kernels_(targets.size()) {}

  absl::StatusOr<Planned> PlanOf(const Graph& graph) {
    Planned planned;
    KILN_ASSIGN_OR_RETURN(planned.variants, LowerVariants(graph, targets_,
                                                          {.module_name = options_.module_name,
                                                           .schedule = options_.schedule,
                                                           .states = ports_.kept,
                                                           .workspace_io = options_.workspace_io},
                                                          kernels_));
    const Target& target = targets_.front();
    const PlanOptions plan = {.alignment_bytes = target.buffer_alignment(),
                              .pools = PoolsOf(options_),
                              .workspace_io = options_.workspace_io,
                              .states = ports_.kept,
                              .copy_function = ModulePrefix(options_.module_name) + "_copy_state",
                              .scratch_from_runtime = TakesScratchFromRuntime(options_),
                              .find_overlap = OverlapFinderOf(options_, target, planned.program()),
                              .find_smallest = options_.schedule.optimize == Optimize::kRam};
    KILN_ASSIGN_OR_RETURN(planned.plan, MakePlan(graph, planned.variants.common.calls, plan));
    planned.graph = graph;
    return planned;
  }

 private:
  const std::vector<Target>& targets_;
  const Ports& ports_;
  const CompileOptions& options_;
  std::vector<KnownKernels> kernels_;  // by target
};

// The number of bytes that strips of rows have to save of a workspace of `bytes`; nullopt if they
// are taken only for a graph that does not fit otherwise.
std::optional<int64_t> LeastSplitSaving(int64_t bytes, Optimize optimize) {
  if (optimize == Optimize::kSize) return std::nullopt;
  return optimize == Optimize::kRam ? 1 : bytes / kMinSplitSaving;
}

// The plan by strips if it saves enough beside `whole`, otherwise `whole`. Of two plans that do not
// fit the pools, the error that names the smaller need.
absl::StatusOr<Planned> SmallerOf(absl::StatusOr<Planned> whole, absl::StatusOr<Planned> strips,
                                  Optimize optimize) {
  if (!whole.ok() && !strips.ok()) {
    const int64_t bytes = EnoughBytes(whole.status());
    return bytes >= 0 && bytes <= EnoughBytes(strips.status()) ? whole : strips;
  }
  if (!strips.ok()) return whole;
  if (!whole.ok()) return strips;
  const int64_t bytes = whole->plan.workspace_bytes();
  const int64_t saved = bytes - strips->plan.workspace_bytes();
  const std::optional<int64_t> least = LeastSplitSaving(bytes, optimize);
  if (!least.has_value() || saved < *least) return whole;
  strips->strips_save_bytes = whole->strips_save_bytes + saved;
  return strips;
}

}  // namespace

absl::StatusOr<Planned> SmallestPlan(const GraphForms& forms, const std::vector<Target>& targets,
                                     const Ports& ports, const CompileOptions& options) {
  const Optimize optimize = options.schedule.optimize;
  const bool for_ram = optimize == Optimize::kRam;
  Planner planner(targets, ports, options);
  absl::StatusOr<Planned> best = planner.PlanOf(forms.whole());
  KILN_ASSIGN_OR_RETURN(const std::optional<Graph> strips, forms.ByStrips(for_ram));
  if (strips.has_value()) best = SmallerOf(std::move(best), planner.PlanOf(*strips), optimize);
  // The choice of strips is an estimate: strips chosen for speed may have the smaller plan.
  const bool is_too_small = best.status().code() == absl::StatusCode::kResourceExhausted;
  if (is_too_small || (for_ram && strips.has_value())) {
    KILN_ASSIGN_OR_RETURN(const std::optional<Graph> others, forms.ByStrips(!for_ram));
    if (others.has_value()) best = SmallerOf(std::move(best), planner.PlanOf(*others), optimize);
  }
  if (!best.ok()) return best;
  MarkOverlaps(best->plan, best->program());
  AddStateCopies(best->plan, best->program());
  return best;
}

}  // namespace kiln
