// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/model.h"

#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "runtime_cpp/executor.h"
#include "runtime_cpp/executor_factory.h"
#include "runtime_cpp/library_module.h"
#include "runtime_cpp/metadata.h"
#include "runtime_cpp/params.h"
#include "runtime_cpp/prefault.h"
#include "runtime_cpp/run_scope.h"
#include "runtime_cpp/status/macros.h"
#include "runtime_cpp/thread_pool.h"
#include "runtime_cpp/workspace_pool.h"

namespace kiln::runtime {
namespace {

template <typename T>
using List = absl::InlinedVector<T, kInlineTensors>;

// Returns an aligned copy on the program's device.
absl::StatusOr<NDArray> CopyOf(const TensorInfo& info, const DLTensor& tensor) {
  KILN_ASSIGN_OR_RETURN(NDArray copy, NDArray::Empty(info.shape, info.dtype, info.device));
  KILN_RETURN_IF_ERROR(copy.CopyFrom(tensor));
  return copy;
}

absl::Status NullTensor(absl::string_view what, size_t index) {
  return absl::InvalidArgumentError(absl::StrCat(what, " ", index, " is NULL"));
}

}  // namespace

absl::StatusOr<Model> Model::Load(const std::string& path, DLDevice device,
                                  const LoadOptions& options) {
  KILN_ASSIGN_OR_RETURN(const Module module, Module::LoadFromFile(path, options));
  return FromModule(module, device);
}

absl::StatusOr<Model> Model::FromModule(const Module& factory, DLDevice device) {
  KILN_ASSIGN_OR_RETURN(const ExecutorFactory typed, ExecutorFactory::From(factory));
  auto data = std::make_shared<Data>();
  data->name = typed.module_names().front();
  data->factory = factory;
  const absl::StatusOr<ModelMetadata> metadata = ModelMetadata::Find(factory);
  if (metadata.ok()) {
    data->origin = metadata->ToModelOrigin();
    for (const PoolInfo& pool : metadata->pools()) {
      if (pool.kind == KILN_POOL_CONSTANT) data->constant_bytes += pool.size_bytes;
    }
  }
  KILN_ASSIGN_OR_RETURN(data->program, typed.MakeProgram(device));
  const std::vector<TensorInfo>& all_inputs = data->program->inputs();
  data->params.resize(all_inputs.size());
  for (const auto& [name, array] : typed.params()) {
    // Other compilers also pass parameters that are linked into the code and are not inputs.
    const absl::StatusOr<int> index = FindTensor(all_inputs, name, "input");
    if (!index.ok()) continue;
    const auto i = static_cast<size_t>(*index);
    KILN_RETURN_IF_ERROR(CheckTensor(all_inputs[i], *array, "parameter", i));
    data->params[i] = array;
    if (CheckTensorInPlace(all_inputs[i], *array, "parameter", i).ok()) continue;
    KILN_ASSIGN_OR_RETURN(data->params[i], CopyOf(all_inputs[i], *array));
  }
  for (size_t i = 0; i < all_inputs.size(); ++i) {
    if (data->params[i].defined()) continue;
    data->inputs.push_back(all_inputs[i]);
    data->input_places.push_back(i);
  }
  return Model(std::move(data));
}

int Model::num_threads() const {
  return (data_->pool == nullptr ? ThreadPool::Global() : *data_->pool).num_threads();
}

absl::StatusOr<std::shared_ptr<Executor>> Model::MakeExecutor() const {
  Params params;
  for (size_t i = 0; i < data_->params.size(); ++i) {
    if (data_->params[i].defined()) params[data_->program->inputs()[i].name] = data_->params[i];
  }
  KILN_ASSIGN_OR_RETURN(std::shared_ptr<Executor> executor,
                        Executor::Create(data_->program, params));
  executor->SetThreadPool(data_->pool);
  return executor;
}

absl::StatusOr<int> Model::InputIndex(absl::string_view name) const {
  return FindTensor(inputs(), name, "input");
}

absl::StatusOr<int> Model::OutputIndex(absl::string_view name) const {
  return FindTensor(outputs(), name, "output");
}

absl::Status Model::CheckCount(size_t found, size_t wanted, absl::string_view what) const {
  if (found == wanted) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("model '", name(), "': found ", found, " ", what, "s, wanted ", wanted));
}

absl::Status Model::CheckAll(const std::vector<TensorInfo>& infos,
                             absl::Span<const DLTensor* const> tensors,
                             absl::string_view what) const {
  KILN_RETURN_IF_ERROR(CheckCount(tensors.size(), infos.size(), what));
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i] == nullptr) return NullTensor(what, i);
    KILN_RETURN_IF_ERROR(CheckTensorInPlace(infos[i], *tensors[i], what, i));
  }
  return absl::OkStatus();
}

Model Model::WithThreadPool(std::shared_ptr<ThreadPool> pool) const {
  auto data = std::make_shared<Data>(*data_);
  data->pool = std::move(pool);
  return Model(std::move(data));
}

absl::Status Model::Prefault() const {
  const std::shared_ptr<LibraryModule> library = FindLibrary(data_->factory.node());
  if (library != nullptr) PrefaultObject(library->FindSymbol(kContextSymbol));
  const auto bytes = static_cast<size_t>(workspace_bytes());
  KILN_ASSIGN_OR_RETURN(const ScopedWorkspace workspace,
                        ScopedWorkspace::Allocate(data_->program->device(), bytes));
  if (data_->program->device().device_type == kDLCPU) PrefaultBlock(workspace.data(), bytes);
  ThreadPool& pool = data_->pool != nullptr ? *data_->pool : ThreadPool::Global();
  const auto nothing = [](int, TVMParallelGroupEnv*, void*) { return 0; };
  return pool.Launch(nothing, nullptr, 0);
}

template <typename Function>
absl::Status Model::InScope(const RunOptions& options, const Function& run) const {
  RunOptions own = options;
  if (own.pool == nullptr) own.pool = data_->pool.get();
  RunScope scope(name(), own);
  absl::Status status = scope.Check();
  if (status.ok()) status = run();
  return scope.Finish(std::move(status));
}

absl::StatusOr<std::vector<NDArray>> Model::Run(absl::Span<const NDArray> inputs,
                                                const RunOptions& options) const {
  List<const DLTensor*> tensors;
  for (const NDArray& input : inputs) tensors.push_back(input.tensor());
  return Run(tensors, options);
}

absl::StatusOr<std::vector<NDArray>> Model::Run(absl::Span<const DLTensor* const> inputs,
                                                const RunOptions& options) const {
  std::vector<NDArray> outputs;
  KILN_RETURN_IF_ERROR(InScope(options, [&] { return RunToNew(inputs, outputs); }));
  return outputs;
}

absl::Status Model::Run(absl::Span<const DLTensor* const> inputs,
                        absl::Span<const DLTensor* const> outputs,
                        const RunOptions& options) const {
  return InScope(options, [&] { return RunInKept(inputs, outputs); });
}

absl::Status Model::Run(absl::Span<const DLTensor* const> inputs,
                        absl::Span<const DLTensor* const> outputs, absl::Span<char> workspace,
                        const RunOptions& options) const {
  return InScope(options, [&] { return RunIn(inputs, outputs, workspace); });
}

absl::Status Model::RunToNew(absl::Span<const DLTensor* const> inputs,
                             std::vector<NDArray>& outputs) const {
  KILN_RETURN_IF_ERROR(CheckCount(inputs.size(), this->inputs().size(), "input"));
  List<const DLTensor*> input_tensors(inputs.begin(), inputs.end());
  List<NDArray> copies;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorInfo& info = this->inputs()[i];
    if (inputs[i] == nullptr) return NullTensor("input", i);
    KILN_RETURN_IF_ERROR(CheckTensor(info, *inputs[i], "input", i));
    if (CheckTensorInPlace(info, *inputs[i], "input", i).ok()) continue;
    KILN_ASSIGN_OR_RETURN(NDArray copy, CopyOf(info, *inputs[i]));
    input_tensors[i] = copy.tensor();
    copies.push_back(std::move(copy));
  }
  outputs.reserve(this->outputs().size());
  List<const DLTensor*> output_tensors;
  for (const TensorInfo& info : this->outputs()) {
    KILN_ASSIGN_OR_RETURN(NDArray array, NDArray::Empty(info.shape, info.dtype, info.device));
    output_tensors.push_back(array.tensor());
    outputs.push_back(std::move(array));
  }
  return RunInKept(input_tensors, output_tensors);
}

absl::Status Model::RunInKept(absl::Span<const DLTensor* const> inputs,
                              absl::Span<const DLTensor* const> outputs) const {
  const auto bytes = static_cast<size_t>(workspace_bytes());
  KILN_ASSIGN_OR_RETURN(const ScopedWorkspace workspace,
                        ScopedWorkspace::Allocate(data_->program->device(), bytes));
  return RunIn(inputs, outputs, absl::MakeSpan(static_cast<char*>(workspace.data()), bytes));
}

absl::Status Model::RunIn(absl::Span<const DLTensor* const> inputs,
                          absl::Span<const DLTensor* const> outputs,
                          absl::Span<char> workspace) const {
  KILN_RETURN_IF_ERROR(CheckAll(this->inputs(), inputs, "input"));
  KILN_RETURN_IF_ERROR(CheckAll(this->outputs(), outputs, "output"));
  if (static_cast<int64_t>(workspace.size()) < workspace_bytes()) {
    return absl::InvalidArgumentError(
        absl::StrCat("workspace: found ", workspace.size(), " bytes, wanted ", workspace_bytes()));
  }
  if (workspace_bytes() > 0 && !IsAligned(workspace.data(), kAlignment)) {
    return absl::InvalidArgumentError(
        absl::StrCat("workspace: not aligned to ", kAlignment, " bytes"));
  }
  List<void*> input_addresses;
  for (const NDArray& param : data_->params) {
    input_addresses.push_back(param.defined() ? param.data() : nullptr);
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    input_addresses[data_->input_places[i]] = DataOf(*inputs[i]);
  }
  List<void*> output_addresses;
  for (const DLTensor* const output : outputs) output_addresses.push_back(DataOf(*output));
  return data_->program->Run(
      {.inputs = input_addresses, .outputs = output_addresses, .workspace = workspace.data()});
}

}  // namespace kiln::runtime
