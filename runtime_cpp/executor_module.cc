// SPDX-License-Identifier: Apache-2.0
//
// Calls of an executor by name.
#include <cstring>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "runtime_cpp/executor.h"
#include "runtime_cpp/status/annotate.h"
#include "runtime_cpp/status/macros.h"

namespace kiln::runtime {
namespace {

using Method = absl::StatusOr<Value> (*)(Executor& executor, const Args& args);

// Maps an index that does not fit into an int to -1, which is invalid, too.
int ToIndex(int64_t index) {
  return index == static_cast<int>(index) ? static_cast<int>(index) : -1;
}

absl::StatusOr<int> InputKey(const Executor& executor, const Args& args) {
  if (args.code(0) == kTVMArgInt) return ToIndex(*args.Int(0));
  KILN_ASSIGN_OR_RETURN(const absl::string_view name, args.String(0));
  return executor.GetInputIndex(name);
}

absl::StatusOr<int> OutputKey(const Executor& executor, const Args& args) {
  if (args.code(0) == kTVMArgInt) return ToIndex(*args.Int(0));
  KILN_ASSIGN_OR_RETURN(const absl::string_view name, args.String(0));
  return executor.GetOutputIndex(name);
}

absl::StatusOr<Value> ToValue(const absl::Status& status) {
  if (!status.ok()) return status;
  return Value();
}

absl::StatusOr<Value> SetInput(Executor& executor, const Args& args) {
  KILN_RETURN_IF_ERROR(args.CheckSize(2, 2));
  KILN_ASSIGN_OR_RETURN(const int index, InputKey(executor, args));
  KILN_ASSIGN_OR_RETURN(const DLTensor* const tensor, args.Tensor(1));
  return ToValue(executor.SetInput(index, *tensor));
}

absl::StatusOr<Value> SetInputZeroCopy(Executor& executor, const Args& args) {
  KILN_RETURN_IF_ERROR(args.CheckSize(2, 2));
  KILN_ASSIGN_OR_RETURN(const int index, InputKey(executor, args));
  KILN_ASSIGN_OR_RETURN(const NDArray array, args.Array(1));
  return ToValue(executor.SetInputZeroCopy(index, array));
}

absl::StatusOr<Value> SetOutputZeroCopy(Executor& executor, const Args& args) {
  KILN_RETURN_IF_ERROR(args.CheckSize(2, 2));
  KILN_ASSIGN_OR_RETURN(const int index, OutputKey(executor, args));
  KILN_ASSIGN_OR_RETURN(const NDArray array, args.Array(1));
  return ToValue(executor.SetOutputZeroCopy(index, array));
}

// Returns the array or, if there is a second argument, copies it to that tensor.
absl::StatusOr<Value> Hand(const NDArray& array, const Args& args) {
  if (args.size() == 1) return Value(array);
  KILN_ASSIGN_OR_RETURN(const DLTensor* const target, args.Tensor(1));
  return ToValue(array.CopyTo(*target));
}

absl::StatusOr<Value> GetInput(Executor& executor, const Args& args) {
  KILN_RETURN_IF_ERROR(args.CheckSize(1, 2));
  KILN_ASSIGN_OR_RETURN(const int index, InputKey(executor, args));
  KILN_ASSIGN_OR_RETURN(const NDArray array, executor.GetInput(index));
  return Hand(array, args);
}

absl::StatusOr<Value> GetOutput(Executor& executor, const Args& args) {
  KILN_RETURN_IF_ERROR(args.CheckSize(1, 2));
  KILN_ASSIGN_OR_RETURN(const int index, OutputKey(executor, args));
  KILN_ASSIGN_OR_RETURN(const NDArray array, executor.GetOutput(index));
  return Hand(array, args);
}

absl::StatusOr<Value> GetInputIndex(Executor& executor, const Args& args) {
  KILN_RETURN_IF_ERROR(args.CheckSize(1, 1));
  KILN_ASSIGN_OR_RETURN(const absl::string_view name, args.String(0));
  return Value(int64_t{executor.GetInputIndex(name).value_or(-1)});
}

absl::StatusOr<Value> GetInputName(Executor& executor, const Args& args) {
  KILN_RETURN_IF_ERROR(args.CheckSize(1, 1));
  KILN_ASSIGN_OR_RETURN(const int64_t index, args.Int(0));
  if (index < 0 || index >= executor.num_inputs()) {
    return absl::OutOfRangeError(
        absl::StrCat("input ", index, ": the model has ", executor.num_inputs(), " inputs"));
  }
  return Value(executor.input_infos()[static_cast<size_t>(index)].name);
}

absl::StatusOr<Value> GetNumInputs(Executor& executor, const Args&) {
  return Value(int64_t{executor.num_inputs()});
}

absl::StatusOr<Value> GetNumOutputs(Executor& executor, const Args&) {
  return Value(int64_t{executor.num_outputs()});
}

void AddInfo(const TensorInfo& info, nlohmann::ordered_json& json) {
  json["shape"][info.name] = info.shape;
  json["dtype"][info.name] = DataTypeName(info.dtype);
}

std::string Dump(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

absl::StatusOr<Value> GetInputInfo(Executor& executor, const Args&) {
  nlohmann::ordered_json json = {{"shape", nlohmann::ordered_json::object()},
                                 {"dtype", nlohmann::ordered_json::object()}};
  for (int i = 0; i < executor.num_inputs(); ++i) {
    if (!executor.IsParam(i)) AddInfo(executor.input_infos()[static_cast<size_t>(i)], json);
  }
  return Value(Dump(json));
}

absl::StatusOr<Value> GetOutputInfo(Executor& executor, const Args&) {
  nlohmann::ordered_json json = {{"shape", nlohmann::ordered_json::object()},
                                 {"dtype", nlohmann::ordered_json::object()}};
  for (const TensorInfo& info : executor.output_infos()) AddInfo(info, json);
  return Value(Dump(json));
}

absl::StatusOr<Value> Run(Executor& executor, const Args&) { return ToValue(executor.Run()); }

absl::StatusOr<Value> KeepState(Executor& executor, const Args& args) {
  KILN_RETURN_IF_ERROR(args.CheckSize(1, 1));
  KILN_ASSIGN_OR_RETURN(const int64_t keep, args.Int(0));
  return ToValue(executor.keep_state(keep != 0));
}

absl::StatusOr<Value> ResetState(Executor& executor, const Args&) {
  return ToValue(executor.ResetState());
}

absl::StatusOr<Value> LoadParams(Executor& executor, const Args& args) {
  KILN_RETURN_IF_ERROR(args.CheckSize(1, 1));
  KILN_ASSIGN_OR_RETURN(const absl::string_view bytes, args.String(0));
  return ToValue(executor.LoadParams(bytes));
}

absl::StatusOr<Value> ShareParams(Executor& executor, const Args& args) {
  KILN_RETURN_IF_ERROR(args.CheckSize(2, 2));
  KILN_ASSIGN_OR_RETURN(ModulePtr module, args.Module(0));
  KILN_ASSIGN_OR_RETURN(const std::shared_ptr<Executor> other,
                        Executor::FromModule(Module(std::move(module))));
  KILN_ASSIGN_OR_RETURN(const absl::string_view bytes, args.String(1));
  return ToValue(executor.ShareParams(*other, bytes));
}

absl::StatusOr<Value> TimeEvaluatorByName(Executor& executor, const Args& args) {
  KILN_RETURN_IF_ERROR(args.CheckSize(0, 3));
  TimeEvaluatorOptions options;
  if (args.size() > 0) {
    KILN_ASSIGN_OR_RETURN(options.number, args.Int(0));
  }
  if (args.size() > 1) {
    KILN_ASSIGN_OR_RETURN(options.repeat, args.Int(1));
  }
  if (args.size() > 2) {
    KILN_ASSIGN_OR_RETURN(options.min_repeat_ms, args.Float(2));
  }
  KILN_ASSIGN_OR_RETURN(const std::vector<double> seconds, executor.TimeEvaluator(options));
  Bytes bytes;
  bytes.data.resize(seconds.size() * sizeof(double));
  memcpy(bytes.data.data(), seconds.data(), bytes.data.size());
  return Value(std::move(bytes));
}

absl::StatusOr<Value> Profile(Executor& executor, const Args&) {
  KILN_ASSIGN_OR_RETURN(const ProfileReport report, executor.Profile());
  return Value(report.ToJson());
}

absl::StatusOr<Value> ProfileText(Executor& executor, const Args&) {
  KILN_ASSIGN_OR_RETURN(const ProfileReport report, executor.Profile());
  return Value(report.ToText());
}

const std::map<std::string, Method>& Methods() {
  static const auto* const methods = new std::map<std::string, Method>{
      {"get_input", GetInput},
      {"get_input_index", GetInputIndex},
      {"get_input_info", GetInputInfo},
      {"get_input_name", GetInputName},
      {"get_num_inputs", GetNumInputs},
      {"get_num_outputs", GetNumOutputs},
      {"get_output", GetOutput},
      {"get_output_info", GetOutputInfo},
      {"keep_state", KeepState},
      {"load_params", LoadParams},
      {"profile", Profile},
      {"profile_text", ProfileText},
      {"reset_state", ResetState},
      {"run", Run},
      {"set_input", SetInput},
      {"set_input_zero_copy", SetInputZeroCopy},
      {"set_output_zero_copy", SetOutputZeroCopy},
      {"share_params", ShareParams},
      {"time_evaluator", TimeEvaluatorByName},
  };
  return *methods;
}

class ExecutorModuleNode final : public ModuleNode {
 public:
  explicit ExecutorModuleNode(std::shared_ptr<Executor> executor)
      : executor_(std::move(executor)) {}

  absl::string_view type_key() const override {
    return executor_->program().executor() == "aot" ? "AotExecutor" : "GraphExecutor";
  }

  PackedFunc FindFunction(const std::string& name) override {
    const auto found = Methods().find(name);
    if (found == Methods().end()) return PackedFunc();
    return PackedFunc([executor = executor_, name,
                       method = found->second](const Args& args) -> absl::StatusOr<Value> {
      absl::StatusOr<Value> result = method(*executor, args);
      if (result.ok()) return result;
      return Annotate(result.status(), absl::StrCat(name, ": "));
    });
  }

  std::vector<std::string> FunctionNames() const override {
    std::vector<std::string> names;
    for (const auto& entry : Methods()) names.push_back(entry.first);
    return names;
  }

  const std::shared_ptr<Executor>& executor() const { return executor_; }

 private:
  std::shared_ptr<Executor> executor_;
};

}  // namespace

Module MakeExecutorModule(std::shared_ptr<Executor> executor) {
  return Module(std::make_shared<ExecutorModuleNode>(std::move(executor)));
}

absl::StatusOr<std::shared_ptr<Executor>> Executor::FromModule(const Module& module) {
  const auto* const node = dynamic_cast<const ExecutorModuleNode*>(module.node().get());
  if (node != nullptr) return node->executor();
  return absl::InvalidArgumentError(
      absl::StrCat("a module of type '", module.type_key(), "' is not an executor"));
}

}  // namespace kiln::runtime
