// SPDX-License-Identifier: Apache-2.0
#include "compiler/executor/describe.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "compiler/base/align.h"
#include "compiler/base/identifier.h"
#include "compiler/loop/func_index.h"
#include "compiler/loop/mutate.h"
#include "metadata/version.h"

namespace kiln {
namespace {

void SetDevice(proto::Device* device) {
  device->set_device_type(kCpuDevice);
  device->set_name("cpu");
}

void SetParameter(const std::string& name, const TensorType& type, std::set<std::string>& taken,
                  proto::Parameter& parameter) {
  parameter.set_relay_name_hint(name);
  // The name of the tensor in runtimes and metadata; generated code may use another one.
  const std::string base = WithIdentifierCharacters(name);
  std::string id = base;
  for (int i = 1; !taken.insert(id).second; ++i) id = absl::StrCat(base, "_", i);
  parameter.set_tir_name_hint(id);
  for (int64_t extent : type.shape) parameter.add_shape(extent);
  parameter.set_dtype(type.dtype.ToString());
  parameter.set_size_bytes(type.num_bytes());
  SetDevice(parameter.mutable_target_device());
}

void AddParameter(const std::string& name, const TensorType& type, std::set<std::string>& taken,
                  proto::Function& function) {
  SetParameter(name, type, taken, *function.add_parameters());
  function.set_io_size_bytes(function.io_size_bytes() + type.num_bytes());
}

// Names of the functions that read each constant.
using Readers = std::map<const loop::BufferNode*, std::set<std::string>>;

Readers ReadersOf(const loop::LoopProgram& program,
                  const std::vector<std::vector<loop::Func>>& variants) {
  Readers readers;
  for (const loop::Constant& constant : program.constants) readers[constant.buffer.get()];
  const auto add = [&](const std::vector<loop::Func>& funcs) {
    for (const loop::Func& func : funcs) {
      if (!func.body) continue;
      loop::VisitStmt(func.body, [&](const loop::Expr& e) {
        const auto* load = e.As<loop::Load>();
        if (load == nullptr) return;
        const auto it = readers.find(load->buffer.get());
        if (it != readers.end()) it->second.insert(func.name);
      });
    }
  };
  add(program.funcs);
  for (const std::vector<loop::Func>& funcs : variants) add(funcs);
  return readers;
}

// Bytes of the constants that each function reads.
std::map<std::string, int64_t> ConstantBytes(const loop::LoopProgram& program,
                                             const Readers& readers) {
  std::map<std::string, int64_t> bytes;
  for (const loop::Constant& constant : program.constants) {
    for (const std::string& reader : readers.at(constant.buffer.get())) {
      bytes[reader] += constant.buffer->num_bytes();
    }
  }
  return bytes;
}

// Iterations of the outermost parallel loop; 1 if there is none.
int64_t ParallelIterations(const loop::Stmt& body) {
  int64_t iterations = 1;
  if (!body) return iterations;
  loop::VisitStmt(body, nullptr, [&](const loop::Stmt& stmt) {
    const auto* loop = stmt.As<loop::For>();
    int64_t extent = 0;
    if (loop != nullptr && loop->kind == loop::ForKind::kParallel && iterations == 1 &&
        loop::AsInt(loop->extent, &extent)) {
      iterations = extent;
    }
  });
  return iterations;
}

void SetCost(const std::optional<loop::Cost>& cost, proto::Function& function) {
  if (!cost.has_value()) return;
  function.mutable_cost()->set_operations(cost->operations);
  function.mutable_cost()->set_accessed_bytes(cost->accessed_bytes);
}

// Sum over all calls; nothing if the cost of one is unknown.
std::optional<loop::Cost> TotalCost(const Plan& plan) {
  loop::Cost total;
  for (const PlanCall& call : plan.calls) {
    if (call.function.empty()) continue;
    if (!call.cost.has_value()) return std::nullopt;
    total = total + *call.cost;
  }
  return total;
}

void SetPlace(const Plan& plan, int id, proto::Parameter& parameter) {
  if (!plan.workspace_io) return;
  const PlanBuffer& root = plan.buffers[static_cast<size_t>(plan.Root(id))];
  // A tensor without elements needs no memory, so any pool's beginning will do.
  parameter.mutable_place()->set_pool(std::max(0, root.pool));
  parameter.mutable_place()->set_offset_bytes(root.pool < 0 ? 0 : root.offset_bytes);
}

void DescribeMain(const Plan& plan, const ModuleInfo& info, int64_t constant_bytes,
                  proto::Function& main) {
  main.set_name(info.main_function);
  std::set<std::string> taken;
  for (const auto* ids : {&plan.inputs, &plan.outputs}) {
    for (int id : *ids) {
      const PlanBuffer& buffer = plan.buffers[static_cast<size_t>(id)];
      AddParameter(buffer.name, buffer.type, taken, main);
      SetPlace(plan, id, *main.mutable_parameters(main.parameters_size() - 1));
    }
  }
  main.set_num_inputs(static_cast<int32_t>(plan.inputs.size()));
  main.set_num_outputs(static_cast<int32_t>(plan.outputs.size()));
  main.set_workspace_size_bytes(plan.workspace_bytes());
  main.set_constant_size_bytes(constant_bytes);
  main.set_module_type("library");
  SetCost(TotalCost(plan), main);
  SetDevice(main.mutable_device());
}

void DescribeOperators(const Plan& plan, const loop::LoopProgram& program,
                       const std::map<std::string, int64_t>& constant_bytes,
                       proto::Metadata& metadata) {
  const loop::FuncIndex functions(program);
  for (const PlanCall* first : FirstCalls(plan)) {
    const PlanCall& call = *first;
    proto::Function& function = *metadata.add_functions();
    function.set_name(call.function);
    std::set<std::string> taken;
    for (int id : call.args) {
      const PlanBuffer& buffer = plan.buffers[static_cast<size_t>(id)];
      AddParameter(buffer.name, buffer.type, taken, function);
    }
    function.set_num_inputs(call.num_inputs());
    function.set_num_outputs(static_cast<int32_t>(call.args.size()) - call.num_inputs());
    const auto it = constant_bytes.find(call.function);
    if (it != constant_bytes.end()) function.set_constant_size_bytes(it->second);
    SetDevice(function.mutable_device());
    function.set_op_names(call.op_names);
    function.set_source(call.source);
    function.set_schedule(call.schedule);
    function.set_module_type("library");
    SetCost(call.cost, function);
    const loop::Func* func = functions.Find(call.function);
    if (func != nullptr && func->workspace != nullptr) {
      function.set_workspace_size_bytes(func->workspace->num_bytes());
    }
    const int64_t iterations = func == nullptr ? 1 : ParallelIterations(func->body);
    if (iterations <= 1) continue;
    proto::LaunchParameter& launch = *function.add_launch_parameters();
    launch.set_name("parallel_iterations");
    launch.set_value(iterations);
  }
}

void DescribePools(const Plan& plan, proto::Metadata& metadata) {
  // For every call of the plan, the index of its function. A view has none and gets the index of
  // the function before it.
  std::vector<int32_t> numbers;
  for (int32_t number = -1; const PlanCall& call : plan.calls) {
    if (!call.function.empty()) ++number;
    numbers.push_back(std::max(0, number));
  }
  // Clamps to the calls: inputs exist before the first one, outputs after the last.
  const auto number_of = [&numbers](int call) {
    const int last = static_cast<int>(numbers.size()) - 1;
    return last < 0 ? 0 : numbers[static_cast<size_t>(std::clamp(call, 0, last))];
  };
  for (size_t p = 0; p < plan.pools.size(); ++p) {
    proto::Pool& pool = *metadata.add_pools();
    pool.set_name(plan.pools[p].name);
    pool.set_kind(plan.pools[p].is_state ? proto::Pool::STATE : proto::Pool::WORKSPACE);
    pool.set_size_bytes(plan.pools[p].size_bytes);
    pool.set_alignment_bytes(plan.pools[p].alignment_bytes);
    pool.set_lower_bound_bytes(plan.pools[p].lower_bound_bytes);
    pool.set_external(plan.pools[p].external);
    pool.set_limit_bytes(plan.pools[p].limit_bytes);
    pool.set_speed(plan.pools[p].speed);
    for (const PlanBuffer& buffer : plan.buffers) {
      if (buffer.pool != static_cast<int>(p)) continue;
      proto::PoolBuffer& placed = *pool.add_buffers();
      placed.set_name(buffer.name);
      placed.set_offset_bytes(buffer.offset_bytes);
      placed.set_size_bytes(buffer.bytes());
      placed.set_first_call(number_of(buffer.first_call));
      placed.set_last_call(number_of(buffer.last_call));
    }
  }
}

void DescribeStates(const Plan& plan, proto::Metadata& metadata) {
  std::set<std::string> taken;
  for (const PlanState& state : plan.states) {
    const PlanBuffer& buffer = plan.buffers[static_cast<size_t>(state.input)];
    proto::State& added = *metadata.add_states();
    SetParameter(buffer.name, buffer.type, taken, *added.mutable_tensor());
    added.mutable_tensor()->mutable_place()->set_pool(buffer.pool);
    added.mutable_tensor()->mutable_place()->set_offset_bytes(buffer.offset_bytes);
    added.set_initial_value(state.initial);
    added.set_is_copied(state.is_copied);
  }
}

// Describes constants by pool. Constants without a pool are in the object's read-only data.
void DescribeConstants(const Plan& plan, const loop::LoopProgram& program, const Readers& readers,
                       proto::Metadata& metadata) {
  std::map<std::string, int32_t> calls;
  for (int32_t i = 1; i < metadata.functions_size(); ++i)
    calls[metadata.functions(i).name()] = i - 1;
  std::map<std::string, proto::Pool*> pools;
  const auto add = [&](const PlanPool& pool) {
    proto::Pool& added = *metadata.add_pools();
    added.set_name(pool.name);
    added.set_kind(proto::Pool::CONSTANT);
    added.set_alignment_bytes(pool.alignment_bytes);
    added.set_external(pool.external);
    added.set_limit_bytes(pool.limit_bytes);
    added.set_speed(pool.speed);
    pools[pool.external ? pool.name : ""] = &added;
  };
  for (const PlanPool& pool : plan.constant_pools) add(pool);
  for (const loop::Constant& constant : program.constants) {
    if (pools.find(constant.pool) == pools.end()) add({.name = "constants"});
    proto::Pool& pool = *pools.at(constant.pool);
    const int64_t alignment = std::max<int64_t>(1, constant.buffer->alignment_bytes);
    const int64_t offset = AlignUp(pool.size_bytes(), alignment);
    proto::PoolBuffer& placed = *pool.add_buffers();
    placed.set_name(constant.buffer->name);
    placed.set_offset_bytes(offset);
    placed.set_size_bytes(constant.buffer->num_bytes());
    pool.set_size_bytes(offset + constant.buffer->num_bytes());
    pool.set_lower_bound_bytes(pool.size_bytes());
    pool.set_alignment_bytes(std::max(pool.alignment_bytes(), alignment));
    // Live from the first to the last call that reads it, or always if no call does.
    const int32_t last = std::max(0, metadata.functions_size() - 2);
    int32_t begin = last, end = 0;
    for (const std::string& reader : readers.at(constant.buffer.get())) {
      const auto call = calls.find(reader);
      if (call == calls.end()) continue;
      begin = std::min(begin, call->second);
      end = std::max(end, call->second);
    }
    placed.set_first_call(begin <= end ? begin : 0);
    placed.set_last_call(begin <= end ? end : last);
  }
}

// True if an input and an output of the AOT program may share memory. Either all reads of the input
// precede the first write of the output, or that write copies the input, and the copy is omitted.
bool MayBeOneMemory(const Plan& plan, const loop::LoopProgram& program, int input, int output) {
  const int root = plan.Root(output);
  const auto buffer = [&](int id) { return plan.buffers[static_cast<size_t>(id)]; };
  if (buffer(root).kind != PlanBufferKind::kOutput) return false;
  const int last_read = buffer(input).last_call, first_write = buffer(root).first_call;
  if (last_read != first_write) return last_read < first_write;
  const PlanCall& call = plan.calls[static_cast<size_t>(first_write)];
  const loop::Func* const function = program.FindFunc(call.function);
  return function != nullptr && function->is_copy && plan.Root(call.args[0]) == input &&
         plan.Root(call.args[1]) == root;
}

}  // namespace

std::vector<const PlanCall*> FirstCalls(const Plan& plan) {
  std::vector<const PlanCall*> calls;
  std::set<std::string> functions;
  for (const PlanCall& call : plan.calls) {
    if (!call.function.empty() && functions.insert(call.function).second) calls.push_back(&call);
  }
  return calls;
}

void DescribeStatePairs(const std::vector<StatePair>& states, const Plan& plan,
                        const loop::LoopProgram& program, proto::Metadata& metadata) {
  const proto::Function& main = metadata.functions(0);
  for (const StatePair& state : states) {
    proto::State& added = *metadata.add_states();
    added.set_is_in_place(metadata.executor() == "aot" &&
                          MayBeOneMemory(plan, program,
                                         plan.inputs[static_cast<size_t>(state.input)],
                                         plan.outputs[static_cast<size_t>(state.output)]));
    *added.mutable_tensor() = main.parameters(state.input);
    added.set_initial_value(state.initial);
    added.set_output(main.parameters(main.num_inputs() + state.output).relay_name_hint());
  }
}

proto::Metadata Describe(const Plan& plan, const loop::LoopProgram& program, const ModuleInfo& info,
                         const std::vector<std::vector<loop::Func>>& variants) {
  proto::Metadata metadata;
  metadata.set_version(kMetadataVersion);
  metadata.set_module_name(info.module_name);
  metadata.set_executor(info.executor);
  metadata.set_runtime(info.runtime);
  metadata.set_interface_api(info.interface_api);
  metadata.set_calling_convention(info.calling_convention);
  metadata.set_target(info.target);
  metadata.set_cpu(info.cpu);
  for (const std::string& feature : info.cpu_features) metadata.add_cpu_features(feature);
  for (const std::string& variant : info.cpu_variants) metadata.add_cpu_variants(variant);
  *metadata.mutable_origin() = info.origin;
  SetDevice(metadata.add_devices());
  const Readers readers = ReadersOf(program, variants);
  const std::map<std::string, int64_t> constant_bytes = ConstantBytes(program, readers);
  int64_t total = 0;
  for (const loop::Constant& constant : program.constants) total += constant.buffer->num_bytes();
  DescribeMain(plan, info, total, *metadata.add_functions());
  DescribeOperators(plan, program, constant_bytes, metadata);
  DescribePools(plan, metadata);
  DescribeStates(plan, metadata);
  DescribeConstants(plan, program, readers, metadata);
  return metadata;
}

}  // namespace kiln
