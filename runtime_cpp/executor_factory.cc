// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/executor_factory.h"

#include "absl/strings/str_cat.h"
#include "runtime_cpp/aot_program.h"
#include "runtime_cpp/device_api.h"
#include "runtime_cpp/graph_program.h"
#include "runtime_cpp/status/macros.h"

namespace kiln::runtime {
namespace {

absl::StatusOr<ModulePtr> LoadFactory(ExecutorFactoryNode::Kind kind, std::string graph_json,
                                      ByteReader& reader) {
  KILN_ASSIGN_OR_RETURN(const uint64_t count, reader.U64());
  KILN_ASSIGN_OR_RETURN(const std::vector<std::string> names, reader.Strings());
  if (count != names.size()) {
    return reader.Error(absl::StrCat(count, " parameters with ", names.size(), " names"));
  }
  KILN_ASSIGN_OR_RETURN(Params params, LoadArrays(names, reader));
  KILN_ASSIGN_OR_RETURN(std::string module_name, reader.String());
  return std::make_shared<ExecutorFactoryNode>(kind, std::move(module_name), std::move(graph_json),
                                               std::move(params));
}

}  // namespace

absl::StatusOr<ModulePtr> LoadAotExecutorFactory(ByteReader& reader) {
  return LoadFactory(ExecutorFactoryNode::Kind::kAot, "", reader);
}

absl::StatusOr<ModulePtr> LoadGraphExecutorFactory(ByteReader& reader) {
  KILN_ASSIGN_OR_RETURN(std::string graph_json, reader.String());
  return LoadFactory(ExecutorFactoryNode::Kind::kGraph, std::move(graph_json), reader);
}

absl::StatusOr<std::shared_ptr<const Program>> ExecutorFactoryNode::MakeProgram(DLDevice device) {
  // Checked first, so that nothing else is tried for a device that does not exist.
  KILN_RETURN_IF_ERROR(GetDeviceApi(device).status());
  const Module self(shared_from_this());
  std::unique_ptr<Program> program;
  if (kind_ == Kind::kAot) {
    KILN_ASSIGN_OR_RETURN(program, AotProgram::Create(self, device));
  } else {
    KILN_ASSIGN_OR_RETURN(program, GraphProgram::Create(graph_json_, self, device));
  }
  program->set_name(module_name_);
  return std::shared_ptr<const Program>(std::move(program));
}

ModulePtr ExecutorFactoryNode::WithoutParams() const {
  auto copy = std::make_shared<ExecutorFactoryNode>(kind_, module_name_, graph_json_, Params());
  for (const ModulePtr& import : imports()) copy->Import(import);
  return copy;
}

PackedFunc ExecutorFactoryNode::FindFunction(const std::string& name) {
  auto self = std::static_pointer_cast<ExecutorFactoryNode>(shared_from_this());
  if (name == module_name_) {
    return PackedFunc([self](const Args& args) -> absl::StatusOr<Value> {
      KILN_RETURN_IF_ERROR(args.CheckSize(1, 1));
      KILN_ASSIGN_OR_RETURN(const DLDevice device, args.Device(0));
      KILN_ASSIGN_OR_RETURN(std::shared_ptr<Executor> executor,
                            Executor::Create(Module(self), device));
      return Value(MakeExecutorModule(std::move(executor)).node());
    });
  }
  if (name == "list_module_names") {
    return PackedFunc(
        [self](const Args&) -> absl::StatusOr<Value> { return Value(self->module_name()); });
  }
  if (name == "remove_params") {
    return PackedFunc(
        [self](const Args&) -> absl::StatusOr<Value> { return Value(self->WithoutParams()); });
  }
  if (name == "get_graph_json" && kind_ == Kind::kGraph) {
    return PackedFunc(
        [self](const Args&) -> absl::StatusOr<Value> { return Value(self->graph_json_); });
  }
  return PackedFunc();
}

std::vector<std::string> ExecutorFactoryNode::FunctionNames() const {
  std::vector<std::string> names = {module_name_, "list_module_names", "remove_params"};
  if (kind_ == Kind::kGraph) names.push_back("get_graph_json");
  return names;
}

absl::StatusOr<ExecutorFactory> ExecutorFactory::From(const Module& module) {
  auto node = std::dynamic_pointer_cast<ExecutorFactoryNode>(module.node());
  if (node != nullptr) return ExecutorFactory(std::move(node));
  return absl::InvalidArgumentError(
      absl::StrCat("a module of type '", module.type_key(), "' makes no executors"));
}

absl::StatusOr<std::shared_ptr<Executor>> ExecutorFactory::Create(DLDevice device) const {
  KILN_ASSIGN_OR_RETURN(std::shared_ptr<const Program> program, MakeProgram(device));
  return Executor::Create(std::move(program), params());
}

}  // namespace kiln::runtime
