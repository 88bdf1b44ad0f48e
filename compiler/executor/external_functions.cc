// SPDX-License-Identifier: Apache-2.0
#include "compiler/executor/external_functions.h"

#include <algorithm>
#include <map>

namespace kiln {
namespace {

// Maps the name of each external function to its module.
std::map<std::string, const ExternalModule*> ModulesByFunction(
    const std::vector<ExternalModule>& modules) {
  std::map<std::string, const ExternalModule*> by_function;
  for (const ExternalModule& module : modules) {
    for (const ExternalFunction& function : module.functions) by_function[function.name] = &module;
  }
  return by_function;
}

// Returns the entry of the device in the model's list of devices, and adds it if it is missing.
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

}  // namespace

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

}  // namespace kiln
