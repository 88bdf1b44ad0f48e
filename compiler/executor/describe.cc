// SPDX-License-Identifier: Apache-2.0
#include "compiler/executor/describe.h"

#include <cctype>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"

namespace kiln {
namespace {

constexpr int kMetadataVersion = 2;
constexpr int kCpu = 1;  // DLDeviceType

std::string Identifier(const std::string& name) {
  std::string id;
  for (char c : name) id.push_back(std::isalnum(static_cast<unsigned char>(c)) ? c : '_');
  return id;
}

void SetDevice(proto::Device* device) { device->set_device_type(kCpu); }

void AddParameter(const std::string& name, const TensorType& type, std::set<std::string>& taken,
                  proto::Function& function) {
  proto::Parameter& parameter = *function.add_parameters();
  parameter.set_relay_name_hint(name);
  std::string id = Identifier(name);
  for (int i = 1; !taken.insert(id).second; ++i) id = absl::StrCat(Identifier(name), "_", i);
  parameter.set_tir_name_hint(id);
  for (int64_t extent : type.shape) parameter.add_shape(extent);
  parameter.set_dtype(type.dtype.ToString());
  parameter.set_size_bytes(type.num_bytes());
  SetDevice(parameter.mutable_target_device());
  function.set_io_size_bytes(function.io_size_bytes() + type.num_bytes());
}

// Bytes of the constants that a function reads.
std::map<std::string, int64_t> ConstantBytes(const loop::LoopProgram& program) {
  std::map<std::string, int64_t> bytes;
  for (const loop::Func& func : program.funcs) {
    const std::string prefix = func.name + "_";
    // Constants carry their function's name, and function names may be prefixes of each other: the
    // longest one owns it.
    for (const loop::Constant& constant : program.constants) {
      if (constant.buffer->name.rfind(prefix, 0) != 0) continue;
      const loop::Func* owner = &func;
      for (const loop::Func& other : program.funcs) {
        if (other.name.size() > owner->name.size() &&
            constant.buffer->name.rfind(other.name + "_", 0) == 0) {
          owner = &other;
        }
      }
      if (owner == &func) bytes[func.name] += constant.buffer->num_bytes();
    }
  }
  return bytes;
}

void DescribeMain(const Plan& plan, const ModuleInfo& info, int64_t constant_bytes,
                  proto::Function& main) {
  main.set_name(info.main_function);
  std::set<std::string> taken;
  for (const auto* ids : {&plan.inputs, &plan.outputs}) {
    for (int id : *ids) {
      const PlanBuffer& buffer = plan.buffers[static_cast<size_t>(id)];
      AddParameter(buffer.name, buffer.type, taken, main);
    }
  }
  main.set_num_inputs(static_cast<int32_t>(plan.inputs.size()));
  main.set_num_outputs(static_cast<int32_t>(plan.outputs.size()));
  main.set_workspace_size_bytes(plan.workspace_bytes());
  main.set_constant_size_bytes(constant_bytes);
  SetDevice(main.mutable_device());
}

void DescribeOperators(const Plan& plan, const std::map<std::string, int64_t>& constant_bytes,
                       proto::Metadata& metadata) {
  std::set<std::string> described;
  for (const PlanCall& call : plan.calls) {
    if (call.function.empty() || !described.insert(call.function).second) continue;
    proto::Function& function = *metadata.add_functions();
    function.set_name(call.function);
    std::set<std::string> taken;
    for (int id : call.args) {
      const PlanBuffer& buffer = plan.buffers[static_cast<size_t>(id)];
      AddParameter(buffer.name, buffer.type, taken, function);
    }
    function.set_num_inputs(call.num_inputs);
    function.set_num_outputs(static_cast<int32_t>(call.args.size()) - call.num_inputs);
    if (call.scratch >= 0) {
      function.set_workspace_size_bytes(plan.buffers[static_cast<size_t>(call.scratch)].bytes());
    }
    const auto it = constant_bytes.find(call.function);
    if (it != constant_bytes.end()) function.set_constant_size_bytes(it->second);
    SetDevice(function.mutable_device());
    function.set_op_names(call.op_names);
    function.set_source(call.source);
    function.set_schedule(call.schedule);
  }
}

void DescribePools(const Plan& plan, proto::Metadata& metadata) {
  // Of every call of the plan the number of its function, which views do not have; a view's is that
  // of the function before it.
  std::vector<int32_t> numbers;
  for (int32_t number = -1; const PlanCall& call : plan.calls) {
    if (!call.function.empty()) ++number;
    numbers.push_back(number);
  }
  for (size_t p = 0; p < plan.pools.size(); ++p) {
    proto::Pool& pool = *metadata.add_pools();
    pool.set_name(plan.pools[p].name);
    pool.set_kind(proto::Pool::WORKSPACE);
    pool.set_size_bytes(plan.pools[p].size_bytes);
    pool.set_alignment_bytes(plan.pools[p].alignment_bytes);
    pool.set_lower_bound_bytes(plan.lower_bound_bytes);
    for (const PlanBuffer& buffer : plan.buffers) {
      if (buffer.pool != static_cast<int>(p)) continue;
      proto::PoolBuffer& placed = *pool.add_buffers();
      placed.set_name(buffer.name);
      placed.set_offset_bytes(buffer.offset_bytes);
      placed.set_size_bytes(buffer.bytes());
      placed.set_first_call(numbers[static_cast<size_t>(buffer.first_call)]);
      placed.set_last_call(numbers[static_cast<size_t>(buffer.last_call)]);
    }
  }
}

}  // namespace

std::string ModulePrefix(const std::string& module_name) {
  return module_name.empty() ? "tvmgen" : absl::StrCat("tvmgen_", module_name);
}

proto::Metadata Describe(const Plan& plan, const loop::LoopProgram& program,
                         const ModuleInfo& info) {
  proto::Metadata metadata;
  metadata.set_version(kMetadataVersion);
  metadata.set_module_name(info.module_name);
  metadata.set_executor(info.executor);
  metadata.set_runtime(info.runtime);
  metadata.set_interface_api(info.interface_api);
  metadata.set_calling_convention(info.calling_convention);
  metadata.set_target(info.target);
  SetDevice(metadata.add_devices());
  const std::map<std::string, int64_t> constant_bytes = ConstantBytes(program);
  int64_t total = 0;
  for (const loop::Constant& constant : program.constants) total += constant.buffer->num_bytes();
  DescribeMain(plan, info, total, *metadata.add_functions());
  DescribeOperators(plan, constant_bytes, metadata);
  DescribePools(plan, metadata);
  return metadata;
}

}  // namespace kiln
