// SPDX-License-Identifier: Apache-2.0
#include "compiler/pipeline/compile.h"

#include <string>
#include <utility>
#include <vector>

#include "compiler/backend/backend.h"
#include "compiler/base/status.h"
#include "compiler/executor/system_lib.h"
#include "compiler/loop/pipeline.h"
#include "compiler/passes/pass.h"
#include "compiler/pipeline/assemble.h"
#include "compiler/pipeline/byte_constants.h"
#include "compiler/pipeline/describe_module.h"
#include "compiler/pipeline/externals.h"
#include "compiler/pipeline/graph_forms.h"
#include "compiler/pipeline/module_interface.h"
#include "compiler/pipeline/planned.h"
#include "compiler/pipeline/ports.h"
#include "compiler/plan/place_constants.h"
#include "metadata/header.h"
#include "metadata/json.h"
#include "metadata/library_notes.h"
#include "metadata/model_source.h"

namespace kiln {
namespace {

// Firmware shares code for its size. Vectors read neighboring elements, whose distance has to be a
// number in the code.
loop::LoopPassContext ProgramPassContext(const CompileOptions& options) {
  const bool is_firmware = options.target.is_baremetal();
  const bool is_small = CodeShapeOf(options.target, options.schedule.optimize).small;
  return {.shares_numbers = true,
          .shares_parts = is_firmware,
          .shares_extents = is_firmware && is_small && options.target.vector_bits == 0,
          .keeps_operators = is_firmware};
}

}  // namespace

absl::StatusOr<Compilation> RunStages(Graph model, const CompileOptions& options) {
  KILN_RETURN_IF_ERROR(CheckOptions(options));
  const std::vector<Target> targets = EffectiveTargets(options);
  const PassContext context = PassContextOf(options, targets.front());
  KILN_ASSIGN_OR_RETURN(Graph fused, RunPasses(std::move(model), context, options.passes));
  KILN_ASSIGN_OR_RETURN(const Ports ports, PortsOf(fused, options));
  KILN_ASSIGN_OR_RETURN(std::vector<ExternalModule> externals, MakeExternalModules(fused, options));
  const GraphForms forms(std::move(fused), context, options.passes);
  KILN_ASSIGN_OR_RETURN(Planned planned, SmallestPlan(forms, targets, ports, options));
  KILN_RETURN_IF_ERROR(PlaceConstants(options.constant_pools, planned.program(), planned.plan));
  const ModuleInterface interface = InterfaceOf(planned.plan, externals, options);
  KILN_ASSIGN_OR_RETURN(proto::Metadata metadata,
                        DescribeModule(planned, ports, interface, externals, options));
  KILN_ASSIGN_OR_RETURN(Assembled assembled,
                        Assemble(planned, interface, metadata, externals, options));
  KILN_RETURN_IF_ERROR(loop::RunLoopPasses(loop::LoopPhase::kProgram, options.schedule.passes,
                                           ProgramPassContext(options), assembled.program));
  return Compilation{.fused = std::move(planned.graph),
                     .lowered = std::move(planned.variants.common),
                     .plan = std::move(planned.plan),
                     .strips_save_bytes = planned.strips_save_bytes,
                     .externals = std::move(externals),
                     .metadata = std::move(metadata),
                     .device_hooks = std::move(assembled.device_hooks),
                     .graph_json = std::move(assembled.graph_json),
                     .program = std::move(assembled.program)};
}

absl::StatusOr<Compiled> Compile(Graph model, const CompileOptions& options) {
  Compiled compiled;
  KILN_ASSIGN_OR_RETURN(compiled.compilation, RunStages(std::move(model), options));
  // The program has the weights in the layout that its loops want.
  compiled.byte_constants = ByteConstantsOf(compiled.compilation.fused);
  compiled.compilation.fused = {};
  const Compilation& made = compiled.compilation;
  const std::string& name = options.module_name;
  KILN_ASSIGN_OR_RETURN(compiled.artifacts,
                        EmitCode(made.program, options,
                                 {.notes = LibraryNotes(made.metadata),
                                  .more_code = HasExternalSource(made.externals)}));
  compiled.artifacts.merge(ExternalSources(options, made.externals, made.device_hooks));
  KILN_ASSIGN_OR_RETURN(compiled.artifacts[name + ".h"], ModelHeader(made.metadata));
  compiled.artifacts[name + ".metadata.json"] = MetadataJson(made.metadata);
  if (options.executor == Executor::kGraph) {
    compiled.artifacts[name + ".graph.json"] = made.graph_json;
  }
  if (options.interface == Interface::kC) {
    compiled.artifacts[name + "_model.c"] = ModelSource(made.metadata);
  }
  if (options.system_lib)
    compiled.artifacts[name + "_system_lib.c"] = SystemLibSource(made.program, name);
  return compiled;
}

}  // namespace kiln
