// SPDX-License-Identifier: Apache-2.0
#include "compiler/executor/aot.h"

#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/identifier.h"
#include "compiler/loop/func_index.h"

namespace kiln {
namespace {

// Returns an identifier for a tensor of the model. It need not be unique: code generators rename
// parameters with names that are taken or not allowed.
std::string ParameterIdentifier(absl::string_view name, absl::string_view otherwise) {
  std::string id = WithIdentifierCharacters(name);
  return IsIdentifier(id) ? id : absl::StrCat(otherwise, "_", id);
}

// True if the call copies a value to the memory that it is already in, because the plan aliases the
// two buffers.
bool IsSelfCopy(const Plan& plan, const PlanCall& call, const loop::Func& callee) {
  return callee.is_copy && plan.Root(call.args[0]) == plan.Root(call.args[1]);
}

}  // namespace

absl::StatusOr<loop::Func> RunModel(const Plan& plan, const loop::LoopProgram& program,
                                    std::string name,
                                    const std::map<std::string, int32_t>& profile_indices,
                                    const std::vector<DeviceUse>& devices) {
  loop::Func func;
  func.name = std::move(name);
  func.kind = loop::Func::Kind::kMain;
  func.num_inputs = plan.workspace_io ? 0 : static_cast<int>(plan.inputs.size());
  std::map<int, loop::Buffer> params;
  for (const auto* ids : {&plan.inputs, &plan.outputs}) {
    if (plan.workspace_io) break;
    for (int id : *ids) {
      const PlanBuffer& buffer = plan.buffers[static_cast<size_t>(id)];
      params[id] = loop::MakeBuffer(
          ParameterIdentifier(buffer.name, ids == &plan.inputs ? "input" : "output"),
          buffer.type.dtype, buffer.type.shape, loop::BufferScope::kParam);
      func.params.push_back(params[id]);
    }
  }
  std::vector<loop::Buffer> pools;
  for (const PlanPool& pool : plan.pools) {
    pools.push_back(loop::MakeBuffer(pool.name, DType::UInt(8), {pool.size_bytes},
                                     loop::BufferScope::kParam,
                                     static_cast<int>(pool.alignment_bytes)));
    if (!pool.is_parameter()) continue;
    func.params.push_back(pools.back());
    ++func.num_pools;
  }
  std::map<std::string, loop::Buffer> contexts;  // keyed by the function that takes the context
  for (const DeviceUse& device : devices) {
    func.params.push_back(loop::MakeBuffer(absl::StrCat("device_context_", device.name),
                                           DType::UInt(8), {0}, loop::BufferScope::kParam));
    ++func.num_contexts;
    for (const std::string& name : device.functions) contexts[name] = func.params.back();
  }
  const auto address = [&](int id) -> loop::Argument {
    const int root = plan.Root(id);
    const auto param = params.find(root);
    if (param != params.end()) return {param->second, loop::Expr(0)};
    const PlanBuffer& buffer = plan.buffers[static_cast<size_t>(root)];
    // A tensor without elements may be in no pool, and any writable address will do. This parameter
    // is the first output or, if outputs are in pools, the first pool.
    if (buffer.bytes() == 0) {
      return {func.params[static_cast<size_t>(func.num_inputs)], loop::Expr(0)};
    }
    return {pools[static_cast<size_t>(buffer.pool)], loop::Expr(buffer.offset_bytes)};
  };
  const loop::FuncIndex functions(program);
  std::vector<loop::Stmt> calls;
  for (const PlanCall& call : plan.calls) {
    if (call.function.empty()) continue;
    const auto context = contexts.find(call.function);
    const std::string callee = context == contexts.end() ? call.function : OnDevice(call.function);
    const loop::Func* const function = functions.Find(callee);
    if (function == nullptr) {
      return absl::InternalError(absl::StrCat("the plan calls ", callee, ", which is not there"));
    }
    if (IsSelfCopy(plan, call, *function)) continue;
    std::vector<loop::Argument> args;
    for (int id : call.args) args.push_back(address(id));
    if (call.scratch >= 0) args.push_back(address(call.scratch));
    if (context != contexts.end()) args.push_back({context->second, loop::Expr(0)});
    const auto index = profile_indices.find(call.function);
    calls.push_back(loop::MakeCall(callee, std::move(args),
                                   index == profile_indices.end() ? -1 : index->second));
  }
  func.body = loop::MakeBlock(std::move(calls));
  return func;
}

void MarkOverlaps(const Plan& plan, loop::LoopProgram& program) {
  std::set<absl::string_view> names;
  for (const PlanOverlap& overlap : plan.overlaps) {
    names.insert(plan.calls[static_cast<size_t>(overlap.call)].function);
  }
  for (loop::Func& func : program.funcs) func.in_place |= names.contains(func.name);
}

loop::Func ModelEntry(const loop::Func& model, std::string name, loop::Convention convention,
                      int num_static_pools) {
  loop::Func func = model;
  func.name = std::move(name);
  func.convention = convention;
  func.exported = true;
  std::vector<loop::Argument> args;
  for (const loop::Buffer& param : model.params) args.push_back({param, loop::Expr(0)});
  std::vector<loop::Buffer> memory;
  const auto first_pool =
      static_cast<std::ptrdiff_t>(model.params.size()) - model.num_contexts - model.num_pools;
  for (int i = 0; i < num_static_pools; ++i) {
    const size_t param = static_cast<size_t>(first_pool + i);
    const loop::BufferNode& pool = *model.params[param];
    memory.push_back(loop::MakeBuffer(pool.name, pool.dtype, pool.shape, loop::BufferScope::kStatic,
                                      pool.alignment_bytes));
    args[param].buffer = memory.back();
  }
  func.params.erase(func.params.begin() + first_pool,
                    func.params.begin() + first_pool + num_static_pools);
  func.num_pools -= num_static_pools;
  func.body = loop::MakeCall(model.name, std::move(args));
  for (const loop::Buffer& buffer : memory) func.body = loop::MakeAllocate(buffer, func.body);
  return func;
}

}  // namespace kiln
