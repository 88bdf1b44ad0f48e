// SPDX-License-Identifier: Apache-2.0
//
// The root module of a compiled model, which makes executors of it.
//
//   absl::StatusOr<ExecutorFactory> factory = ExecutorFactory::From(module);
//   factory->module_names();             // {"my_mod"}
//   factory->Create(DLDevice{kDLCPU, 0});
//
// Its functions by name: `<module name>`(device) -> module of an executor; list_module_names() ->
// the names, one per line; remove_params() -> a factory without parameters. A graph executor also
// has get_graph_json() -> the graph as JSON.
#ifndef KILN_RUNTIME_CPP_EXECUTOR_FACTORY_H_
#define KILN_RUNTIME_CPP_EXECUTOR_FACTORY_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime_cpp/bytes.h"
#include "runtime_cpp/executor.h"
#include "runtime_cpp/module.h"
#include "runtime_cpp/params.h"
#include "runtime_cpp/program.h"

namespace kiln::runtime {

class ExecutorFactoryNode final : public ModuleNode {
 public:
  enum class Kind { kAot, kGraph };

  // `graph_json` is empty for kAot. The library and its metadata are imported later.
  ExecutorFactoryNode(Kind kind, std::string module_name, std::string graph_json, Params params)
      : kind_(kind),
        module_name_(std::move(module_name)),
        graph_json_(std::move(graph_json)),
        params_(std::move(params)) {}

  absl::string_view type_key() const override {
    return kind_ == Kind::kAot ? "AotExecutorFactory" : "GraphExecutorFactory";
  }
  PackedFunc FindFunction(const std::string& name) override;
  std::vector<std::string> FunctionNames() const override;

  absl::StatusOr<std::shared_ptr<const Program>> MakeProgram(DLDevice device);
  const std::string& module_name() const { return module_name_; }
  const std::string& graph_json() const { return graph_json_; }
  const Params& params() const { return params_; }

 private:
  ModulePtr WithoutParams() const;

  const Kind kind_;
  const std::string module_name_;
  const std::string graph_json_;
  const Params params_;
};

// Typed access to a factory.
class ExecutorFactory {
 public:
  // Returns InvalidArgument if `module` is not a factory.
  static absl::StatusOr<ExecutorFactory> From(const Module& module);

  // Names of the models that the factory holds.
  std::vector<std::string> module_names() const { return {node_->module_name()}; }

  // Makes an executor with the factory's parameters set. Returns NotFound if `device` has no back
  // end.
  absl::StatusOr<std::shared_ptr<Executor>> Create(DLDevice device) const;

  // Makes the program of an executor, for use without an executor's state.
  absl::StatusOr<std::shared_ptr<const Program>> MakeProgram(DLDevice device) const {
    return node_->MakeProgram(device);
  }

  // Parameters that are not linked into the code. In most cases there are none.
  const Params& params() const { return node_->params(); }

 private:
  explicit ExecutorFactory(std::shared_ptr<ExecutorFactoryNode> node) : node_(std::move(node)) {}

  std::shared_ptr<ExecutorFactoryNode> node_;
};

// Loads the payload of "AotExecutorFactory": u64 count, strings of names, arrays, string module
// name.
absl::StatusOr<ModulePtr> LoadAotExecutorFactory(ByteReader& reader);
// Loads the payload of "GraphExecutorFactory": string graph JSON, then the fields above.
absl::StatusOr<ModulePtr> LoadGraphExecutorFactory(ByteReader& reader);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_EXECUTOR_FACTORY_H_
