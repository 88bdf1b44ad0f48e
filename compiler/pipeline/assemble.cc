// SPDX-License-Identifier: Apache-2.0
#include "compiler/pipeline/assemble.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/executor/aot.h"
#include "compiler/executor/crt.h"
#include "compiler/executor/describe.h"
#include "compiler/executor/device_hooks.h"
#include "compiler/executor/external_functions.h"
#include "compiler/executor/graph.h"
#include "compiler/executor/module_blob.h"
#include "compiler/executor/state.h"
#include "compiler/loop/passes.h"
#include "compiler/plan/plan.h"
#include "compiler/variants/variants.h"
#include "metadata/header.h"

namespace kiln {
namespace {

// Most operators that one function of the model calls.
constexpr size_t kMaxCalls = 256;

// Sets how the operator functions are called. The graph executor calls them from outside.
void SetConvention(const ModuleInterface& interface, const CompileOptions& options,
                   loop::LoopProgram& program) {
  for (loop::Func& func : program.funcs) {
    func.convention = interface.operators;
    func.allocate_workspace = TakesScratchFromRuntime(options) && func.workspace != nullptr;
    func.exported = options.executor == Executor::kGraph;
  }
}

// Adds the functions that choose a CPU variant.
absl::Status AddVariantChoice(const ModuleInterface& interface, const CompileOptions& options,
                              loop::LoopProgram& program) {
  if (options.cpu_variants.empty()) return absl::OkStatus();
  return AddCpuChoice(options.cpu_variants, options.module_name,
                      LoaderSymbol(options, "cpu_variant"),
                      LoaderSymbol(options, "set_cpu_variant"), interface.is_packed(), program);
}

// Numbers of the operator functions in the metadata, for the profile hook.
std::map<std::string, int32_t> ProfileNumbers(const Plan& plan) {
  std::map<std::string, int32_t> numbers;
  int32_t number = 0;  // of the model's function
  for (const PlanCall* call : FirstCalls(plan)) numbers[call->function] = ++number;
  return numbers;
}

// Adds second names of the functions of the C interface that end with the version of the header.
// Callers with the header call these, so that a header of another version does not link.
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

// Adds the function that calls the operators in the order of the plan, and the entries of the
// module. Returns the C source of the function that calls it between the hooks of devices, if there
// are devices.
absl::StatusOr<std::string> AddRunModel(const Plan& plan, const ModuleInterface& interface,
                                        const CompileOptions& options, loop::LoopProgram& program) {
  const std::vector<DeviceUse>& devices = interface.devices;
  KILN_RETURN_IF_ERROR(DeclareDeviceFunctions(devices, program));
  KILN_ASSIGN_OR_RETURN(
      loop::Func model,
      RunModel(plan, program,
               devices.empty() ? interface.model_function : interface.prefix + "_run_operators",
               options.profile ? ProfileNumbers(plan) : std::map<std::string, int32_t>(), devices));
  model.exported = !interface.is_packed();
  for (loop::Func& part : loop::SplitCalls(program, kMaxCalls, model)) {
    program.funcs.push_back(std::move(part));
  }
  program.funcs.push_back(model);
  if (!plan.states.empty()) AddStateBlock(plan, interface.prefix, program);
  std::string device_hooks;
  if (!devices.empty()) {
    const std::string activated = interface.prefix + "_run_on_devices";
    device_hooks = DeviceHooksSource(devices, program, model, activated);
    model.name = activated;
    loop::Func declared = model;
    declared.kind = loop::Func::Kind::kExternal;
    declared.body = {};
    declared.exported = false;
    program.funcs.push_back(declared);
    program.funcs.push_back(
        ModelEntry(model, interface.model_function, loop::Convention::kUnpacked));
  }
  if (interface.is_packed() || interface.has_static_workspace) {
    program.funcs.push_back(ModelEntry(model, interface.main_function, interface.entry,
                                       interface.has_static_workspace ? 1 : 0));
  }
  return device_hooks;
}

void AddModuleBlob(const std::string& name, const std::string& blob, loop::LoopProgram& program) {
  loop::DataDef def;
  def.name = name;
  def.c_type = "unsigned char";
  def.value = loop::DataValue::Raw(blob);
  def.exported = true;
  program.data.push_back(std::move(def));
}

// Adds the data that a runtime finds in a module with packed functions.
absl::Status AddRuntimeData(const Plan& plan, const proto::Metadata& metadata,
                            const std::vector<ExternalModule>& modules,
                            const CompileOptions& options, Assembled& assembled) {
  loop::LoopProgram& program = assembled.program;
  const bool is_cpp = options.runtime == Runtime::kCpp;
  const bool is_aot = options.executor == Executor::kAot;
  const auto symbol = [&](const char* name) { return LoaderSymbol(options, name); };
  AddModelMetadata(metadata, symbol("get_model_metadata"), is_cpp, program);
  if (is_aot) AddTvmMetadata(metadata, symbol("get_c_metadata"), program);
  if (!is_cpp) {
    if (!is_aot) KILN_RETURN_IF_ERROR(AddGraphTable(options.module_name, plan, program));
    AddFunctionRegistry(options.module_name, /*system_lib=*/true,
                        RegisteredExternals(modules, program), program);
    return absl::OkStatus();
  }
  AddModuleBlob(symbol("__tvm_dev_mblob"),
                is_aot ? AotModuleBlob(options.module_name, modules)
                       : GraphModuleBlob(options.module_name, assembled.graph_json, modules),
                program);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Assembled> Assemble(const Planned& planned, const ModuleInterface& interface,
                                   const proto::Metadata& metadata,
                                   const std::vector<ExternalModule>& modules,
                                   const CompileOptions& options) {
  const Plan& plan = planned.plan;
  Assembled assembled;
  loop::LoopProgram& program = assembled.program;
  program = planned.program();
  SetConvention(interface, options, program);
  SetExternalConvention(modules, program);
  KILN_RETURN_IF_ERROR(AddVariantChoice(interface, options, program));
  if (options.profile) program.profile_hook = LoaderSymbol(options, "__kiln_profile_hook");
  if (options.executor == Executor::kAot) {
    KILN_ASSIGN_OR_RETURN(assembled.device_hooks, AddRunModel(plan, interface, options, program));
  } else {
    assembled.graph_json = GraphJson(plan);
  }
  if (interface.is_packed()) {
    KILN_RETURN_IF_ERROR(AddRuntimeData(plan, metadata, modules, options, assembled));
  } else {
    KILN_RETURN_IF_ERROR(AddVersionedNames(metadata, program));
  }
  if (program.cpu_choice) SplitByVariant(planned.variants, program);
  return assembled;
}

}  // namespace kiln
