// SPDX-License-Identifier: Apache-2.0
#include "compiler/executor/crt.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/base/module_prefix.h"
#include "compiler/executor/data_adder.h"
#include "compiler/loop/func_index.h"

namespace kiln {
namespace {

using loop::DataValue;

constexpr char kModuleHeader[] = "tvm/runtime/crt/module.h";
constexpr char kGraphHeader[] = "kiln/graph_table.h";
constexpr int kGraphTableVersion = 1;

// The fields of struct GraphTensor that locate the memory of a buffer.
struct Place {
  int io = -1;
  int64_t offset_bytes = 0;
};

Place PlaceOf(const Plan& plan, int id) {
  const PlanBuffer& root = plan.buffers[static_cast<size_t>(plan.Root(id))];
  if (root.kind == PlanBufferKind::kInput) return {.io = root.io_index};
  if (root.kind == PlanBufferKind::kOutput)
    return {.io = static_cast<int>(plan.inputs.size()) + root.io_index};
  return {.offset_bytes = root.offset_bytes};
}

std::vector<DataValue> Ports(const Plan& plan) {
  std::vector<DataValue> ports;
  for (const auto* ids : {&plan.inputs, &plan.outputs}) {
    for (int id : *ids) {
      const PlanBuffer& buffer = plan.buffers[static_cast<size_t>(id)];
      ports.push_back(DataValue::Struct({DataValue::String(buffer.name), DataValue::Int(32, id),
                                         DataValue::Int(64, buffer.bytes())}));
    }
  }
  return ports;
}

}  // namespace

void AddFunctionRegistry(const std::string& module_name, bool system_lib,
                         const std::vector<std::string>& external_functions,
                         loop::LoopProgram& program) {
  std::vector<std::string> names = external_functions;
  for (const loop::Func& func : program.funcs) {
    if (func.exported && func.convention == loop::Convention::kPacked) names.push_back(func.name);
  }
  for (const loop::HandleGetter& getter : program.getters) {
    if (getter.packed) names.push_back(getter.name);
  }
  if (const auto& choice = program.cpu_choice; choice && choice->packed) {
    names.insert(names.end(), {choice->get, choice->set});
  }
  // Number of names (two bytes, little-endian like the targets), each name with its NUL, and a NUL.
  std::string text = {static_cast<char>(names.size() & 0xff),
                      static_cast<char>(names.size() >> 8 & 0xff)};
  std::vector<DataValue> addresses;
  for (const std::string& name : names) {
    absl::StrAppend(&text, name, absl::string_view("\0", 1));
    addresses.push_back(DataValue::Function(name));
  }
  text.push_back('\0');

  const std::string prefix = ModulePrefix(module_name);
  DataAdder add(prefix, kModuleHeader, program);
  const DataValue name_bytes =
      add.Define("function_names", "char", DataValue::Raw(std::move(text)));
  const DataValue functions = add.Array("functions", "TVMBackendPackedCFunc", std::move(addresses));
  const DataValue registry =
      add.Define("registry", "TVMFuncRegistry", DataValue::Struct({name_bytes, functions}));
  add.Define("module", "TVMModule", DataValue::Struct({registry}), /*exported=*/true);
  if (!system_lib) return;
  program.getters.push_back({.name = "TVMSystemLibEntryPoint",
                             .data_symbol = prefix + "_module",
                             .packed = false,
                             .weak = true});
}

absl::Status AddGraphTable(const std::string& module_name, const Plan& plan,
                           loop::LoopProgram& program) {
  DataAdder add(ModulePrefix(module_name) + "_graph", kGraphHeader, program);
  std::vector<DataValue> tensors, calls;
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const TensorType& type = plan.buffers[i].type;
    const Place place = PlaceOf(plan, static_cast<int>(i));
    tensors.push_back(
        DataValue::Struct({add.IntArray(absl::StrCat("shape", i), 64, type.shape),
                           DataValue::Int(32, type.rank()), DlDataType(type.dtype),
                           DataValue::Int(32, place.io), DataValue::Int(64, place.offset_bytes)}));
  }
  const loop::FuncIndex functions(program);
  size_t max_args = 0;
  for (size_t i = 0; i < plan.calls.size(); ++i) {
    const PlanCall& call = plan.calls[i];
    if (call.function.empty()) continue;  // a view needs no call
    const loop::Func* func = functions.Find(call.function);
    if (func == nullptr || func->convention != loop::Convention::kPacked) {
      return absl::InternalError(absl::StrCat("the graph executor cannot call ", call.function,
                                              ": it is no packed function"));
    }
    max_args = std::max(max_args, call.args.size());
    calls.push_back(
        DataValue::Struct({DataValue::Function(call.function), DataValue::String(call.function),
                           add.IntArray(absl::StrCat("args", i), 32, call.args),
                           DataValue::Int(32, static_cast<int64_t>(call.args.size()))}));
  }
  const int64_t num_tensors = static_cast<int64_t>(tensors.size()),
                num_calls = static_cast<int64_t>(calls.size());
  const DataValue tensor_array = add.Array("tensors", "struct GraphTensor", std::move(tensors));
  const DataValue call_array = add.Array("calls", "struct GraphCall", std::move(calls));
  const DataValue port_array = add.Array("ports", "struct GraphPort", Ports(plan));
  DataAdder top(ModulePrefix(module_name), kGraphHeader, program);
  top.Define(
      "graph", "struct GraphTable",
      DataValue::Struct({DataValue::Int(32, kGraphTableVersion), DataValue::String(module_name),
                         tensor_array, DataValue::Int(32, num_tensors), call_array,
                         DataValue::Int(32, num_calls), port_array,
                         DataValue::Int(32, static_cast<int64_t>(plan.inputs.size())),
                         DataValue::Int(32, static_cast<int64_t>(plan.outputs.size())),
                         DataValue::Int(32, static_cast<int64_t>(max_args)),
                         DataValue::Int(64, plan.workspace_bytes())}),
      /*exported=*/true);
  return absl::OkStatus();
}

}  // namespace kiln
