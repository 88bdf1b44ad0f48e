// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/global_functions.h"

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime_cpp/executor.h"
#include "runtime_cpp/executor_factory.h"
#include "runtime_cpp/graph_program.h"
#include "runtime_cpp/module.h"
#include "runtime_cpp/status/annotate.h"
#include "runtime_cpp/status/macros.h"

namespace kiln::runtime {
namespace {

absl::StatusOr<Value> SystemLib(const Args& args) {
  KILN_RETURN_IF_ERROR(args.CheckSize(0, 1));
  absl::string_view name;
  if (args.size() == 1) {
    KILN_ASSIGN_OR_RETURN(name, args.String(0));
  }
  KILN_ASSIGN_OR_RETURN(const Module module, Module::SystemLib(std::string(name)));
  return Value(module.node());
}

absl::StatusOr<Value> LoadFromFile(const Args& args) {
  KILN_RETURN_IF_ERROR(args.CheckSize(1, 2));
  KILN_ASSIGN_OR_RETURN(const absl::string_view path, args.String(0));
  if (args.size() == 2) {
    KILN_ASSIGN_OR_RETURN(const absl::string_view format, args.String(1));
    if (!format.empty() && format != "so") {
      return absl::UnimplementedError(
          absl::StrCat(path, ": cannot load format '", format, "', only 'so'"));
    }
  }
  KILN_ASSIGN_OR_RETURN(const Module module, Module::LoadFromFile(std::string(path)));
  return Value(module.node());
}

absl::StatusOr<Value> GetTypeKey(const Args& args) {
  KILN_RETURN_IF_ERROR(args.CheckSize(1, 1));
  KILN_ASSIGN_OR_RETURN(const ModulePtr module, args.Module(0));
  return Value(std::string(module->type_key()));
}

absl::StatusOr<Value> ImportsSize(const Args& args) {
  KILN_RETURN_IF_ERROR(args.CheckSize(1, 1));
  KILN_ASSIGN_OR_RETURN(const ModulePtr module, args.Module(0));
  return Value(static_cast<int64_t>(module->imports().size()));
}

absl::StatusOr<Value> GetImport(const Args& args) {
  KILN_RETURN_IF_ERROR(args.CheckSize(2, 2));
  KILN_ASSIGN_OR_RETURN(const ModulePtr module, args.Module(0));
  KILN_ASSIGN_OR_RETURN(const int64_t index, args.Int(1));
  if (index < 0 || static_cast<uint64_t>(index) >= module->imports().size()) {
    return absl::OutOfRangeError(
        absl::StrCat("import ", index, ": the module has ", module->imports().size(), " imports"));
  }
  return Value(module->imports()[static_cast<size_t>(index)]);
}

absl::StatusOr<DLDevice> DeviceAt(const Args& args, int i) {
  KILN_ASSIGN_OR_RETURN(const int64_t type, args.Int(i));
  KILN_ASSIGN_OR_RETURN(const int64_t id, args.Int(i + 1));
  if (type != static_cast<int32_t>(type) || id != static_cast<int32_t>(id)) {
    return absl::InvalidArgumentError(absl::StrCat("no device ", type, ":", id));
  }
  return DLDevice{static_cast<int32_t>(type), static_cast<int32_t>(id)};
}

absl::StatusOr<Value> CreateGraphExecutor(const Args& args) {
  // Further devices would be further pairs at the end. They are not supported.
  KILN_RETURN_IF_ERROR(args.CheckSize(4, 5));
  KILN_ASSIGN_OR_RETURN(const absl::string_view json, args.String(0));
  KILN_ASSIGN_OR_RETURN(ModulePtr library, args.Module(1));
  const int device_at = args.code(2) == kTVMPackedFuncHandle ? 3 : 2;
  KILN_RETURN_IF_ERROR(args.CheckSize(device_at + 2, device_at + 2));
  KILN_ASSIGN_OR_RETURN(const DLDevice device, DeviceAt(args, device_at));
  KILN_ASSIGN_OR_RETURN(std::shared_ptr<const Program> program,
                        GraphProgram::Create(json, Module(std::move(library)), device));
  KILN_ASSIGN_OR_RETURN(std::shared_ptr<Executor> executor,
                        Executor::Create(std::move(program), Params()));
  return Value(MakeExecutorModule(std::move(executor)).node());
}

// Makes a factory from the arguments from `begin` on: the library, the name of the model, and pairs
// of parameter name and array.
absl::StatusOr<Value> MakeFactory(ExecutorFactoryNode::Kind kind, std::string graph_json,
                                  const Args& args, int begin) {
  if (args.size() < begin + 2 || (args.size() - begin) % 2 != 0) {
    return absl::InvalidArgumentError(absl::StrCat("found ", args.size(), " arguments, wanted ",
                                                   begin + 2, " and pairs of name and array"));
  }
  KILN_ASSIGN_OR_RETURN(ModulePtr library, args.Module(begin));
  KILN_ASSIGN_OR_RETURN(const absl::string_view name, args.String(begin + 1));
  Params params;
  for (int i = begin + 2; i < args.size(); i += 2) {
    KILN_ASSIGN_OR_RETURN(const absl::string_view param, args.String(i));
    KILN_ASSIGN_OR_RETURN(NDArray array, args.Array(i + 1));
    params[std::string(param)] = std::move(array);
  }
  auto factory = std::make_shared<ExecutorFactoryNode>(kind, std::string(name),
                                                       std::move(graph_json), std::move(params));
  factory->Import(std::move(library));
  return Value(ModulePtr(std::move(factory)));
}

absl::StatusOr<Value> CreateAotFactory(const Args& args) {
  return MakeFactory(ExecutorFactoryNode::Kind::kAot, "", args, 0);
}

absl::StatusOr<Value> CreateGraphFactory(const Args& args) {
  KILN_ASSIGN_OR_RETURN(const absl::string_view json, args.String(0));
  return MakeFactory(ExecutorFactoryNode::Kind::kGraph, std::string(json), args, 1);
}

}  // namespace

std::map<std::string, PackedFunc, std::less<>> BuiltInFunctions() {
  std::map<std::string, PackedFunc, std::less<>> functions;
  const std::pair<const char*, absl::StatusOr<Value> (*)(const Args&)> kFunctions[] = {
      {"runtime.ModuleGetImport", GetImport},
      {"runtime.ModuleGetTypeKey", GetTypeKey},
      {"runtime.ModuleImportsSize", ImportsSize},
      {"runtime.ModuleLoadFromFile", LoadFromFile},
      {"runtime.SystemLib", SystemLib},
      {"runtime.module.loadfile_so", LoadFromFile},
      {"tvm.aot_executor_factory.create", CreateAotFactory},
      {"tvm.graph_executor.create", CreateGraphExecutor},
      {"tvm.graph_executor_factory.create", CreateGraphFactory},
  };
  for (const auto& [name, function] : kFunctions) {
    functions[name] = PackedFunc([name = name, function = function](const Args& args) {
      absl::StatusOr<Value> value = function(args);
      if (value.ok()) return value;
      return absl::StatusOr<Value>(Annotate(value.status(), absl::StrCat(name, ": ")));
    });
  }
  return functions;
}

}  // namespace kiln::runtime
