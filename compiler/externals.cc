// SPDX-License-Identifier: Apache-2.0
#include "compiler/externals.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/external/generate.h"
#include "compiler/external/partition.h"
#include "compiler/lower/lower.h"

namespace kiln {
namespace {

// Which module holds a function, by the function's name.
std::map<std::string, const ExternalModule*> ModulesByFunction(
    const std::vector<ExternalModule>& modules) {
  std::map<std::string, const ExternalModule*> by_function;
  for (const ExternalModule& module : modules) {
    for (const ExternalFunction& function : module.functions) by_function[function.name] = &module;
  }
  return by_function;
}

// The device in the list of the model's devices, where it is put the first time.
proto::Device DeviceOf(const DeviceKey& key, const std::string& name, proto::Metadata& metadata) {
  for (const proto::Device& device : metadata.devices()) {
    if (device.device_type() == key.device_type && device.program() == key.program &&
        (name.empty() || device.name() == name)) {
      return device;
    }
  }
  proto::Device& device = *metadata.add_devices();
  device.set_device_type(key.device_type);
  device.set_program(key.program);
  device.set_name(name);
  return device;
}

// What cannot be linked asks for the convention that looks functions up by name.
absl::Status CheckConvention(const CompileOptions& options,
                             const std::vector<ExternalModule>& modules) {
  if (options.calling_convention == CallingConvention::kPacked) return absl::OkStatus();
  for (const ExternalModule& module : modules) {
    if (module.is_linkable()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("module '", module.name(), "' (", module.type_key,
                     ") and --calling-convention cpacked do not go together: its functions are no "
                     "symbols that a linker finds; use --calling-convention packed"));
  }
  return absl::OkStatus();
}

}  // namespace

PassContext PassContextOf(const CompileOptions& options, const Target& target) {
  std::vector<const ExternalCodegen*> codegens;
  for (const ExternalChoice& choice : options.externals) codegens.push_back(choice.codegen);
  return {.target = target,
          .evaluate = EvaluateAllConstants,
          .partition = [codegens, name = options.module_name](
                           const Graph& graph) { return Partition(graph, name, codegens); },
          .work = WorkOfNode,
          .check_indices = options.check_indices};
}

absl::StatusOr<std::vector<ExternalModule>> MakeExternalModules(const Graph& fused,
                                                                const CompileOptions& options) {
  KILN_ASSIGN_OR_RETURN(
      std::vector<ExternalModule> modules,
      GenerateExternalModules(
          fused, options.externals,
          {.module_name = options.module_name,
           .packed = options.calling_convention != CallingConvention::kUnpacked,
           .loader_pointers = options.runtime == Runtime::kCpp && !options.system_lib}));
  KILN_RETURN_IF_ERROR(options.runtime == Runtime::kCrt ? CheckModulesForCrt(modules)
                                                        : CheckConvention(options, modules));
  return modules;
}

void DescribeExternals(const std::vector<ExternalModule>& modules, proto::Metadata& metadata) {
  std::map<std::string, proto::Function*> by_name;
  for (proto::Function& function : *metadata.mutable_functions()) {
    by_name[function.name()] = &function;
  }
  proto::Function& main = *metadata.mutable_functions(0);
  for (const ExternalModule& module : modules) {
    for (const ExternalFunction& external : module.functions) {
      proto::Function& function = *by_name.at(external.name);
      function.set_module_type(module.type_key);
      function.set_constant_size_bytes(external.constant_size_bytes);
      main.set_constant_size_bytes(main.constant_size_bytes() + external.constant_size_bytes);
      if (module.device_key != DeviceKey()) {
        *function.mutable_device() = DeviceOf(module.device_key, module.device, metadata);
      }
    }
  }
}

void SetExternalConvention(const std::vector<ExternalModule>& modules, loop::LoopProgram& program) {
  const std::map<std::string, const ExternalModule*> by_function = ModulesByFunction(modules);
  for (loop::Func& func : program.funcs) {
    const auto it = by_function.find(func.name);
    if (it == by_function.end() || it->second->is_linkable()) continue;
    func.by_name = true;
    func.exported = false;
  }
}

std::vector<std::string> RegisteredExternals(const std::vector<ExternalModule>& modules,
                                             const loop::LoopProgram& program) {
  std::vector<std::string> names;
  for (const ExternalModule& module : modules) {
    for (const ExternalFunction& function : module.functions) {
      const loop::Func* func = program.FindFunc(function.name);
      const bool is_there = func != nullptr && func->exported;
      if (module.is_linkable() && !is_there) names.push_back(function.name);
    }
  }
  return names;
}

std::vector<DeviceUse> DeviceUses(const std::vector<ExternalModule>& modules) {
  std::vector<DeviceUse> devices;
  for (const ExternalModule& module : modules) {
    if (module.device.empty() || module.functions.empty()) continue;
    const auto same = [&](const DeviceUse& device) { return device.name == module.device; };
    auto device = std::find_if(devices.begin(), devices.end(), same);
    if (device == devices.end()) device = devices.insert(devices.end(), {.name = module.device});
    for (const ExternalFunction& function : module.functions) {
      device->functions.push_back(function.name);
    }
  }
  return devices;
}

bool HasExternalSource(const std::vector<ExternalModule>& modules) {
  for (const ExternalModule& module : modules) {
    if (module.is_linkable()) return true;
  }
  return false;
}

Artifacts ExternalSources(const CompileOptions& options, const Stages& stages) {
  Artifacts artifacts;
  // C has no empty files.
  const auto add_empty = [&](const std::string& suffix, absl::string_view why) {
    artifacts[absl::StrCat(options.module_name, "_", suffix, ".c")] = absl::StrCat(
        "/* ", why, " */\ntypedef int tvmgen_", options.module_name, "_", suffix, "_end;\n");
  };
  bool uses_devices = false;
  for (const ExternalChoice& choice : options.externals) {
    const std::string& name = choice.codegen->name;
    uses_devices = uses_devices || !choice.device.empty();
    add_empty(name, absl::StrCat("The external code generator ", name,
                                 " makes no C: its modules travel in the library."));
  }
  if (uses_devices) add_empty("devices", "Nothing runs on a device.");
  for (const ExternalModule& module : stages.modules) {
    if (!module.is_linkable()) continue;
    artifacts[absl::StrCat(options.module_name, "_", module.codegen, ".c")] = module.c_source;
  }
  if (!stages.device_hooks.empty()) {
    artifacts[options.module_name + "_devices.c"] = stages.device_hooks;
  }
  return artifacts;
}

std::string ToString(const std::vector<ExternalModule>& modules) {
  std::string text;
  for (const ExternalModule& module : modules) {
    absl::StrAppend(&text, "module of type ", module.type_key, " by ", module.codegen);
    if (!module.is_linkable()) absl::StrAppend(&text, ", ", module.payload.size(), " bytes");
    absl::StrAppend(&text, "\n");
    for (const ExternalFunction& function : module.functions) {
      absl::StrAppend(&text, "  function ", function.name, "\n");
      for (const ExternalConstant& constant : function.constants) {
        absl::StrAppend(&text, "    constant ", constant.name, ": ",
                        constant.tensor.type().ToString(), "\n");
      }
    }
    absl::StrAppend(&text, module.c_source);
  }
  return text;
}

}  // namespace kiln
