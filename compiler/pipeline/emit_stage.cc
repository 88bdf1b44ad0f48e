// SPDX-License-Identifier: Apache-2.0
#include "compiler/pipeline/emit_stage.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "compiler/backend/backend.h"
#include "compiler/base/status.h"
#include "compiler/graph/relay_text.h"
#include "compiler/loop/pipeline.h"
#include "compiler/lower/lower.h"
#include "compiler/pipeline/compile.h"
#include "compiler/pipeline/externals.h"
#include "metadata/header.h"
#include "metadata/json.h"

namespace kiln {
namespace {

constexpr char kKnown[] =
    "graph, after:<pass>, fused, stages, plans, loops, scheduled, plan, c, llvm, asm, "
    "graph-json, metadata, header, external";

// The program that a loop pass over kernels leaves.
absl::StatusOr<std::string> AfterKernelPass(const Compilation& compilation,
                                            const CompileOptions& options,
                                            absl::string_view wanted) {
  LowerOptions lower = {.module_name = options.module_name,
                        .schedule = options.schedule,
                        .workspace_io = options.workspace_io};
  lower.schedule.passes.disabled = loop::PassesBehind(loop::LoopPhase::kKernel, wanted);
  KILN_ASSIGN_OR_RETURN(const Lowered lowered,
                        Lower(compilation.fused, EffectiveTargets(options).front(), lower));
  return loop::ToString(lowered.program);
}

// Prints the program after the program pass `wanted`.
absl::StatusOr<std::string> AfterProgramPass(const Graph& graph, CompileOptions options,
                                             absl::string_view wanted) {
  std::vector<std::string>& disabled = options.schedule.passes.disabled;
  for (std::string& name : loop::PassesBehind(loop::LoopPhase::kProgram, wanted)) {
    disabled.push_back(std::move(name));
  }
  KILN_ASSIGN_OR_RETURN(const Compilation compilation, RunStages(graph, options));
  return loop::ToString(compilation.program);
}

absl::StatusOr<std::string> AfterPass(const Graph& graph, const CompileOptions& options,
                                      absl::string_view wanted) {
  std::string text, names;
  PassOptions passes = options.passes;
  passes.after = [&](absl::string_view name, const Graph& result) {
    absl::StrAppend(&names, names.empty() ? "" : ", ", name);
    if (name == wanted) text = PrintRelay(result);
  };
  const PassContext context = PassContextOf(options, options.target);
  KILN_ASSIGN_OR_RETURN(Graph fused, RunPasses(graph, context, passes));
  KILN_RETURN_IF_ERROR(RunStripPasses(std::move(fused), context, passes).status());
  if (!text.empty()) return text;
  KILN_ASSIGN_OR_RETURN(const Compilation compilation, RunStages(graph, options));
  for (const loop::LoopPass& pass : loop::PassesOf(loop::LoopPhase::kKernel)) {
    absl::StrAppend(&names, ", ", pass.name);
    if (pass.name == wanted) return AfterKernelPass(compilation, options, wanted);
  }
  for (const loop::LoopPass& pass : loop::PassesOf(loop::LoopPhase::kProgram)) {
    absl::StrAppend(&names, ", ", pass.name);
    if (pass.name == wanted) return AfterProgramPass(graph, options, wanted);
  }
  CompileOptions code = options;
  code.schedule.passes.after = [&](absl::string_view name, const loop::LoopProgram& result) {
    absl::StrAppend(&names, ", ", name);
    if (name == wanted) text = loop::ToString(result);
  };
  KILN_RETURN_IF_ERROR(CodeProgram(compilation.program, code).status());
  if (!text.empty()) return text;
  return absl::InvalidArgumentError(
      absl::StrCat("--emit=after:", wanted, ": no such pass has run; these have: ", names));
}

}  // namespace

absl::StatusOr<std::string> EmitStage(const Graph& graph, const CompileOptions& options,
                                      absl::string_view stage) {
  if (stage == "graph") return PrintRelay(graph);
  if (absl::StartsWith(stage, "after:")) {
    return AfterPass(graph, options, absl::StripPrefix(stage, "after:"));
  }
  KILN_ASSIGN_OR_RETURN(const Compilation compilation, RunStages(graph, options));
  if (stage == "fused") return PrintRelay(compilation.fused);
  if (stage == "stages") {
    return PrintStages(compilation.fused, options.target,
                       {.module_name = options.module_name, .schedule = options.schedule});
  }
  if (stage == "plans") return PrintPlans(compilation.lowered);
  if (stage == "loops") {
    KILN_ASSIGN_OR_RETURN(const Lowered naive,
                          Lower(compilation.fused, options.target,
                                {.module_name = options.module_name, .schedule = {.naive = true}}));
    return loop::ToString(naive.program);
  }
  if (stage == "scheduled") return loop::ToString(compilation.program);
  if (stage == "plan") {
    const int64_t saved = compilation.strips_save_bytes;
    return absl::StrCat(ToString(compilation.plan),
                        saved == 0 ? "" : absl::StrCat("strips of rows save ", saved, " bytes\n"));
  }
  if (stage == "c" || stage == "llvm" || stage == "asm")
    return EmitCodeText(compilation.program, options, stage);
  if (stage == "metadata") return MetadataJson(compilation.metadata);
  if (stage == "header") return ModelHeader(compilation.metadata);
  if (stage == "external") return ToString(compilation.externals);
  if (stage == "graph-json") {
    if (options.executor == Executor::kGraph) return compilation.graph_json;
    return absl::InvalidArgumentError(
        "--emit=graph-json: the AOT executor has none; use --executor graph");
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--emit: found '", stage, "', wanted one of ", kKnown));
}

}  // namespace kiln
