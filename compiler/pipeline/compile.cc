// SPDX-License-Identifier: Apache-2.0
#include "compiler/pipeline/compile.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/backend/backend.h"
#include "compiler/base/kiln_version.h"
#include "compiler/base/module_prefix.h"
#include "compiler/base/sha256.h"
#include "compiler/base/status.h"
#include "compiler/executor/aot.h"
#include "compiler/executor/crt.h"
#include "compiler/executor/describe.h"
#include "compiler/executor/describe_quantization.h"
#include "compiler/executor/external_functions.h"
#include "compiler/executor/graph.h"
#include "compiler/executor/module_blob.h"
#include "compiler/executor/state.h"
#include "compiler/executor/system_lib.h"
#include "compiler/graph/state.h"
#include "compiler/loop/overlap.h"
#include "compiler/loop/passes.h"
#include "compiler/loop/pipeline.h"
#include "compiler/passes/pass.h"
#include "compiler/pipeline/byte_constants.h"
#include "compiler/pipeline/externals.h"
#include "compiler/plan/place_constants.h"
#include "compiler/target/cpu_variants.h"
#include "compiler/variants/variants.h"
#include "metadata/header.h"
#include "metadata/json.h"
#include "metadata/library_notes.h"
#include "metadata/model_source.h"

namespace kiln {
namespace {

// Maximum number of operators that one function of the model calls.
constexpr size_t kMaxCalls = 256;
// Strips of rows take more code and instructions, so they have to save 1 / kMinSplitSaving of the
// workspace. With a fifth, a MobileNet takes 4 % more instructions and a quarter more code on a
// Cortex-M4.
constexpr int64_t kMinSplitSaving = 4;

proto::Origin OriginOf(const CompileOptions& options) {
  proto::Origin origin;
  origin.set_compiler(absl::StrCat("kiln ", kKilnVersion));
  origin.set_model_sha256(options.origin.sha256);
  origin.set_options_sha256(Sha256(OptionsText(options)));
  for (const auto& [key, value] : options.origin.properties) {
    proto::Property& property = *origin.add_properties();
    property.set_key(key);
    property.set_value(value);
  }
  return origin;
}

ModuleInfo InfoOf(const CompileOptions& options) {
  const std::string prefix = ModulePrefix(options.module_name);
  std::vector<std::string> variants;
  for (const Target& variant : options.cpu_variants) variants.push_back(variant.name);
  return {.module_name = options.module_name,
          .executor = SpellingOf(options.executor),
          .runtime = SpellingOf(options.runtime),
          .interface_api = SpellingOf(options.interface),
          .calling_convention = SpellingOf(options.calling_convention),
          .target = options.target.name,
          .cpu = options.target.cpu,
          .cpu_features = RequiredFeatures(options.target),
          .main_function =
              options.executor == Executor::kGraph
                  ? ""
                  : absl::StrCat(prefix, options.interface == Interface::kC ? "_run_model"
                                                                            : "___tvm_main__"),
          .cpu_variants = std::move(variants),
          .origin = OriginOf(options)};
}

// True if operator functions allocate scratch memory from the runtime. The graph of the ABI has no
// argument for it.
bool TakesScratchFromRuntime(const CompileOptions& options) {
  return options.executor == Executor::kGraph;
}

// Pools of the application. It writes inputs and reads outputs in memory of its own, so with
// workspace_io there is at least the pool "workspace".
std::vector<PoolSpec> PoolsOf(const CompileOptions& options) {
  if (!options.workspace_io || !options.pools.empty()) return options.pools;
  return {{.name = "workspace"}};
}

// The states that the model keeps itself. With the C interface these are all states, since the
// module has functions and memory of its own. Packed functions take and return states as inputs and
// outputs.
absl::StatusOr<std::vector<StatePair>> KeptStates(const std::vector<StatePair>& states,
                                                  const CompileOptions& options) {
  if (states.empty() || options.interface == Interface::kPacked) return std::vector<StatePair>();
  KILN_RETURN_IF_ERROR(CheckKeepsState(options));
  return states;
}

// Returns the function that finds how far outputs may overlap inputs. Null except on bare metal,
// and for the graph executor, which gives every tensor its own storage.
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

// Sets the calling convention of the operator functions. Exports them for the graph executor.
void SetConvention(const CompileOptions& options, loop::LoopProgram& program) {
  const bool packed = options.calling_convention != CallingConvention::kUnpacked;
  const bool graph = options.executor == Executor::kGraph;
  for (loop::Func& func : program.funcs) {
    func.convention = packed ? loop::Convention::kPacked : loop::Convention::kUnpacked;
    func.allocate_workspace = TakesScratchFromRuntime(options) && func.workspace != nullptr;
    func.exported = graph;
  }
}

// Index of each operator function in metadata.functions, by name.
std::map<std::string, int32_t> FunctionIndices(const proto::Metadata& metadata) {
  std::map<std::string, int32_t> indices;
  for (int32_t i = 0; i < metadata.functions_size(); ++i) {
    indices[metadata.functions(i).name()] = i;
  }
  return indices;
}

// Adds the functions that choose a CPU variant, if there are variants.
absl::Status AddVariantChoice(const CompileOptions& options, loop::LoopProgram& program) {
  if (options.cpu_variants.empty()) return absl::OkStatus();
  return AddCpuChoice(
      options.cpu_variants, options.module_name, LoaderSymbol(options, "cpu_variant"),
      LoaderSymbol(options, "set_cpu_variant"), options.interface == Interface::kPacked, program);
}

// Adds entry points to the functions of the C interface under the versioned names that callers with
// the header use.
absl::Status AddVersionedNames(const proto::Metadata& metadata, loop::LoopProgram& program) {
  KILN_ASSIGN_OR_RETURN(const std::string version, InterfaceVersion(metadata));
  for (const std::string& name : InterfaceFunctions(metadata)) {
    const loop::Func* func = program.FindFunc(name);
    if (func == nullptr) {
      return absl::InternalError(absl::StrCat("the program has no ", name));
    }
    program.funcs.push_back(ModelEntry(*func, VersionedName(name, version), func->convention));
  }
  return absl::OkStatus();
}

// Adds the model's function, which calls the operators, and its entry points. A model for the C
// runtime has a static workspace unless the application describes pools. With the C interface it
// then also has a function that takes the workspace as a parameter.
absl::Status AddRunModel(const CompileOptions& options, const ModuleInfo& info, Stages& stages) {
  loop::LoopProgram& program = stages.program;
  const std::string prefix = ModulePrefix(options.module_name);
  const bool packed = options.interface == Interface::kPacked;
  const bool is_static = HasStaticWorkspace(stages.metadata);
  const std::vector<DeviceUse> devices = DeviceUses(stages.modules);
  const std::string name = !devices.empty() ? prefix + "_run_operators"
                           : packed         ? prefix + "_run_model"
                           : is_static      ? prefix + "_run_with_workspace"
                                            : info.main_function;
  const std::map<std::string, int32_t> profile_indices =
      options.profile ? FunctionIndices(stages.metadata) : std::map<std::string, int32_t>();
  KILN_RETURN_IF_ERROR(DeclareDeviceFunctions(devices, program));
  KILN_ASSIGN_OR_RETURN(loop::Func model,
                        RunModel(stages.plan, program, name, profile_indices, devices));
  model.exported = !packed;
  for (loop::Func& part : loop::SplitCalls(program, kMaxCalls, model)) {
    program.funcs.push_back(std::move(part));
  }
  program.funcs.push_back(model);
  if (!stages.plan.states.empty()) AddStateBlock(stages.plan, prefix, program);
  if (!devices.empty()) {
    // The entry points call C code, linked with the model, that calls the model between the hooks.
    const std::string activated = prefix + "_run_on_devices";
    stages.device_hooks = DeviceHooksSource(devices, program, model, activated);
    model.name = activated;
    loop::Func declared = model;
    declared.kind = loop::Func::Kind::kExternal;
    declared.body = {};
    declared.exported = false;
    program.funcs.push_back(declared);
    program.funcs.push_back(
        ModelEntry(model, is_static ? prefix + "_run_with_workspace" : info.main_function,
                   loop::Convention::kUnpacked));
  }
  if (packed || is_static) {
    program.funcs.push_back(ModelEntry(
        model, info.main_function, packed ? loop::Convention::kPacked : loop::Convention::kUnpacked,
        is_static ? 1 : 0));
  }
  return packed ? absl::OkStatus() : AddVersionedNames(stages.metadata, program);
}

void AddModuleBlob(const std::string& name, const std::string& blob, loop::LoopProgram& program) {
  loop::DataDef def;
  def.name = name;
  def.c_type = "unsigned char";
  def.value = loop::DataValue::Raw(blob);
  def.exported = true;
  program.data.push_back(std::move(def));
}

// Adds the executor's part of the program, and the metadata that its runtime reads.
absl::Status AddExecutor(const CompileOptions& options, const ModuleInfo& info, Stages& stages) {
  loop::LoopProgram& program = stages.program;
  const bool cpp = options.runtime == Runtime::kCpp;
  const bool aot = options.executor == Executor::kAot;
  const auto symbol = [&](const char* name) { return LoaderSymbol(options, name); };
  if (options.profile) program.profile_hook = symbol("__kiln_profile_hook");
  if (aot) KILN_RETURN_IF_ERROR(AddRunModel(options, info, stages));
  if (!aot) stages.graph_json = GraphJson(stages.plan);
  if (options.interface == Interface::kC) return absl::OkStatus();
  AddModelMetadata(stages.metadata, symbol("get_model_metadata"), cpp, program);
  if (aot) AddTvmMetadata(stages.metadata, symbol("get_c_metadata"), program);
  if (!cpp) {
    if (!aot) KILN_RETURN_IF_ERROR(AddGraphTable(info.module_name, stages.plan, program));
    AddFunctionRegistry(info.module_name, /*system_lib=*/true,
                        RegisteredExternals(stages.modules, program), program);
    return absl::OkStatus();
  }
  AddModuleBlob(symbol("__tvm_dev_mblob"),
                aot ? AotModuleBlob(info.module_name, stages.modules)
                    : GraphModuleBlob(info.module_name, stages.graph_json, stages.modules),
                program);
  return absl::OkStatus();
}

// A graph with its functions and its plan.
struct Planned {
  Graph fused;
  LoweredVariants variants;
  Plan plan;
};

absl::StatusOr<Planned> LowerAndPlan(Graph fused, const CompileOptions& options,
                                     const std::vector<Target>& targets,
                                     const std::vector<StatePair>& kept) {
  Planned planned;
  KILN_ASSIGN_OR_RETURN(planned.variants, LowerVariants(fused, targets,
                                                        {.module_name = options.module_name,
                                                         .schedule = options.schedule,
                                                         .states = kept,
                                                         .workspace_io = options.workspace_io}));
  const Lowered& lowered = planned.variants.common;
  const Target& target = targets.front();
  const PlanOptions plan = {.alignment_bytes = target.buffer_alignment(),
                            .pools = PoolsOf(options),
                            .workspace_io = options.workspace_io,
                            .states = kept,
                            .copy_function = ModulePrefix(options.module_name) + "_copy_state",
                            .scratch_from_runtime = TakesScratchFromRuntime(options),
                            .find_overlap = OverlapFinderOf(options, target, lowered.program),
                            .find_smallest = options.schedule.optimize == Optimize::kRam};
  KILN_ASSIGN_OR_RETURN(planned.plan, MakePlan(fused, lowered.calls, plan));
  planned.fused = std::move(fused);
  return planned;
}

// Bytes that strips of rows have to save if the whole graph needs a workspace of `bytes`. Nothing
// if strips are used only when the whole graph does not fit into the pools.
std::optional<int64_t> LeastSplitSaving(int64_t bytes, Optimize optimize) {
  if (optimize == Optimize::kSize) return std::nullopt;
  return optimize == Optimize::kRam ? 1 : bytes / kMinSplitSaving;
}

// Returns the plan of the strips of rows if it saves enough memory to be worth the code, or if only
// it fits. Otherwise returns the plan of the whole graph. If neither fits, returns the error that
// names the smaller size.
absl::StatusOr<Planned> SmallerOf(absl::StatusOr<Planned> whole, absl::StatusOr<Planned> strips,
                                  Optimize optimize, int64_t& saves_bytes) {
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
  saves_bytes += saved;
  return strips;
}

// The fused graph before and after rows were split.
struct FusedGraphs {
  Graph whole, strips;
  bool is_split = false;  // the split pass ran, though it may have changed nothing
};

// Returns the best plan of the whole graph and the graph in strips. It also tries strips made for
// the other goal (RAM instead of speed, or the reverse) in two cases: no plan fits into the pools,
// or RAM counts most and strips changed the graph.
absl::StatusOr<Planned> BestPlan(FusedGraphs graphs, PassContext context,
                                 const CompileOptions& options, const std::vector<Target>& targets,
                                 const std::vector<StatePair>& kept, int64_t& saves_bytes) {
  const Optimize optimize = options.schedule.optimize;
  const bool is_changed = graphs.strips.nodes.size() != graphs.whole.nodes.size();
  absl::StatusOr<Planned> best = LowerAndPlan(graphs.whole, options, targets, kept);
  const auto consider = [&](Graph strips) {
    best = SmallerOf(std::move(best), LowerAndPlan(std::move(strips), options, targets, kept),
                     optimize, saves_bytes);
  };
  if (is_changed) consider(std::move(graphs.strips));
  const bool is_too_small = best.status().code() == absl::StatusCode::kResourceExhausted;
  if (!graphs.is_split || (!is_too_small && !(is_changed && context.for_ram))) return best;
  // Strips are chosen by an estimate, so strips for speed may have the smaller plan.
  context.for_ram = !context.for_ram;
  KILN_ASSIGN_OR_RETURN(Graph others, SplitRows(graphs.whole, context));
  if (others.nodes.size() != graphs.whole.nodes.size()) consider(std::move(others));
  return best;
}

}  // namespace

absl::StatusOr<Stages> RunStages(Graph graph, const CompileOptions& options) {
  KILN_RETURN_IF_ERROR(CheckOptions(options));
  const std::vector<Target> targets = EffectiveTargets(options);
  const Target& target = targets.front();
  const ModuleInfo info = InfoOf(options);
  Stages stages;
  FusedGraphs graphs;
  PassOptions passes = options.passes;
  passes.after = [&](absl::string_view name, const Graph& result) {
    if (name != "split") graphs.whole = result;
    graphs.is_split |= name == "split";
    if (options.passes.after) options.passes.after(name, result);
  };
  const PassContext context = PassContextOf(options, target);
  KILN_ASSIGN_OR_RETURN(graphs.strips, RunPasses(graph, context, passes));
  const Attrs attrs = graph.attrs;
  KILN_ASSIGN_OR_RETURN(const std::vector<StatePair> states, StatesOf(graphs.strips));
  KILN_ASSIGN_OR_RETURN(const std::vector<StatePair> kept, KeptStates(states, options));
  graph = {};  // frees weights that the passes have replaced
  KILN_ASSIGN_OR_RETURN(stages.modules, MakeExternalModules(graphs.strips, options));
  KILN_ASSIGN_OR_RETURN(Planned planned, BestPlan(std::move(graphs), context, options, targets,
                                                  kept, stages.split_saves_bytes));
  const LoweredVariants variants = std::move(planned.variants);
  stages.fused = std::move(planned.fused);
  stages.plan = std::move(planned.plan);
  stages.lowered = variants.common;
  MarkOverlaps(stages.plan, stages.lowered.program);
  AddStateCopies(stages.plan, stages.lowered.program);
  KILN_RETURN_IF_ERROR(PlaceConstants(options.constant_pools, stages.lowered.program, stages.plan));
  stages.metadata = Describe(stages.plan, stages.lowered.program, info, variants.funcs);
  KILN_RETURN_IF_ERROR(DescribeQuantization(attrs, stages.plan, stages.metadata));
  if (kept.empty()) {
    DescribeStatePairs(states, stages.plan, stages.lowered.program, stages.metadata);
  }
  DescribeExternals(stages.modules, stages.metadata);
  stages.program = stages.lowered.program;
  SetConvention(options, stages.program);
  SetExternalConvention(stages.modules, stages.program);
  KILN_RETURN_IF_ERROR(AddVariantChoice(options, stages.program));
  KILN_RETURN_IF_ERROR(AddExecutor(options, info, stages));
  if (stages.program.cpu_choice) SplitByVariant(variants, stages.program);
  const bool is_firmware = options.target.is_baremetal();
  const bool small = CodeShapeOf(options.target, options.schedule.optimize).small;
  KILN_RETURN_IF_ERROR(loop::RunLoopPasses(
      loop::LoopPhase::kProgram, options.schedule.passes,
      {.shares_numbers = true,
       .shares_parts = is_firmware,
       // Vector accesses of neighboring elements need constant strides.
       .shares_extents = is_firmware && small && options.target.vector_bits == 0,
       .keeps_operators = is_firmware},
      stages.program));
  return stages;
}

absl::StatusOr<Compiled> Compile(Graph graph, const CompileOptions& options) {
  Compiled compiled;
  KILN_ASSIGN_OR_RETURN(compiled.stages, RunStages(std::move(graph), options));
  // The program has the weights in the layout of its loops, so the sizes come from the graph.
  compiled.byte_constants = ByteConstantsOf(compiled.stages.fused);
  compiled.stages.fused = {};
  const Stages& stages = compiled.stages;
  const std::string& name = options.module_name;
  KILN_ASSIGN_OR_RETURN(compiled.artifacts,
                        EmitCode(stages.program, options,
                                 {.notes = LibraryNotes(stages.metadata),
                                  .more_code = HasExternalSource(stages.modules)}));
  compiled.artifacts.merge(ExternalSources(options, stages.modules, stages.device_hooks));
  KILN_ASSIGN_OR_RETURN(compiled.artifacts[name + ".h"], ModelHeader(stages.metadata));
  compiled.artifacts[name + ".metadata.json"] = MetadataJson(stages.metadata);
  if (options.executor == Executor::kGraph) {
    compiled.artifacts[name + ".graph.json"] = stages.graph_json;
  }
  if (options.interface == Interface::kC) {
    compiled.artifacts[name + "_model.c"] = ModelSource(stages.metadata);
  }
  if (options.system_lib)
    compiled.artifacts[name + "_system_lib.c"] = SystemLibSource(stages.program, name);
  return compiled;
}

}  // namespace kiln
