// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/executor.h"

#include <chrono>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime_cpp/device_api.h"
#include "runtime_cpp/executor_factory.h"
#include "runtime_cpp/run_scope.h"
#include "runtime_cpp/status/macros.h"

namespace kiln::runtime {
namespace {

absl::Status CheckIndex(int index, size_t size, absl::string_view what) {
  if (index >= 0 && static_cast<size_t>(index) < size) return absl::OkStatus();
  return absl::OutOfRangeError(
      absl::StrCat(what, " ", index, ": the model has ", size, " ", what, "s, counted from 0"));
}

absl::StatusOr<NDArray> CopyOfArray(const TensorInfo& info, const NDArray& array) {
  KILN_ASSIGN_OR_RETURN(NDArray copy, NDArray::Empty(info.shape, info.dtype, info.device));
  KILN_RETURN_IF_ERROR(copy.CopyFrom(*array));
  return copy;
}

}  // namespace

absl::StatusOr<std::shared_ptr<Executor>> Executor::Create(const Module& factory, DLDevice device) {
  KILN_ASSIGN_OR_RETURN(const ExecutorFactory typed, ExecutorFactory::From(factory));
  return typed.Create(device);
}

absl::StatusOr<std::shared_ptr<Executor>> Executor::Create(std::shared_ptr<const Program> program,
                                                           const Params& params) {
  std::shared_ptr<Executor> executor(new Executor(std::move(program)));
  KILN_RETURN_IF_ERROR(executor->Allocate(params));
  return executor;
}

absl::Status Executor::Allocate(const Params& params) {
  inputs_.resize(program_->inputs().size());
  outputs_.resize(program_->outputs().size());
  for (const auto& [name, array] : params) {
    // Other compilers also pass parameters that are linked into the code and are not inputs.
    const absl::StatusOr<int> index = GetInputIndex(name);
    if (index.ok()) KILN_RETURN_IF_ERROR(UseParam(*index, array));
  }
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].is_param) continue;
    const TensorInfo& info = program_->inputs()[i];
    KILN_ASSIGN_OR_RETURN(inputs_[i].own, NDArray::Empty(info.shape, info.dtype, info.device));
    inputs_[i].current = inputs_[i].own;
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const TensorInfo& info = program_->outputs()[i];
    KILN_ASSIGN_OR_RETURN(outputs_[i].own, NDArray::Empty(info.shape, info.dtype, info.device));
    outputs_[i].current = outputs_[i].own;
  }
  for (const StateTensor& state : program_->states()) {
    KILN_ASSIGN_OR_RETURN(const int input, GetInputIndex(state.input));
    KILN_ASSIGN_OR_RETURN(const int output, GetOutputIndex(state.output));
    states_.push_back({static_cast<size_t>(input), static_cast<size_t>(output)});
  }
  const int64_t bytes = program_->workspace_bytes();
  if (bytes > 0) {
    KILN_ASSIGN_OR_RETURN(workspace_,
                          NDArray::Empty({bytes}, DLDataType{kDLUInt, 8, 1}, program_->device()));
  }
  return absl::OkStatus();
}

// Shares the parameter's memory if it is aligned and on the right device. Otherwise copies it.
absl::Status Executor::UseParam(int index, const NDArray& array) {
  const TensorInfo& info = program_->inputs()[static_cast<size_t>(index)];
  Slot& slot = inputs_[static_cast<size_t>(index)];
  KILN_RETURN_IF_ERROR(CheckTensor(info, *array, "parameter", static_cast<size_t>(index)));
  if (CheckTensorInPlace(info, *array, "parameter", static_cast<size_t>(index)).ok()) {
    slot.current = array;
  } else {
    KILN_RETURN_IF_ERROR(SetInput(index, *array));
  }
  slot.is_set = true;
  slot.is_param = true;
  return absl::OkStatus();
}

absl::Status Executor::CheckInputIndex(int index) const {
  return CheckIndex(index, inputs_.size(), "input");
}

absl::Status Executor::CheckOutputIndex(int index) const {
  return CheckIndex(index, outputs_.size(), "output");
}

absl::StatusOr<int> Executor::GetInputIndex(absl::string_view name) const {
  return FindTensor(program_->inputs(), name, "input");
}

absl::StatusOr<int> Executor::GetOutputIndex(absl::string_view name) const {
  return FindTensor(program_->outputs(), name, "output");
}

absl::Status Executor::SetInput(int index, const DLTensor& tensor) {
  KILN_RETURN_IF_ERROR(CheckInputIndex(index));
  const auto i = static_cast<size_t>(index);
  const TensorInfo& info = program_->inputs()[i];
  KILN_RETURN_IF_ERROR(CheckTensor(info, tensor, "input", i));
  Slot& slot = inputs_[i];
  if (!slot.own.defined()) {
    KILN_ASSIGN_OR_RETURN(slot.own, NDArray::Empty(info.shape, info.dtype, info.device));
  }
  KILN_RETURN_IF_ERROR(slot.own.CopyFrom(tensor));
  slot.current = slot.own;
  slot.is_set = true;
  if (State* const state = FindState(i); state != nullptr) state->is_written = false;
  return absl::OkStatus();
}

absl::Status Executor::SetInput(absl::string_view name, const DLTensor& tensor) {
  KILN_ASSIGN_OR_RETURN(const int index, GetInputIndex(name));
  return SetInput(index, tensor);
}

absl::Status Executor::SetInputZeroCopy(int index, const NDArray& array) {
  KILN_RETURN_IF_ERROR(CheckInputIndex(index));
  const auto i = static_cast<size_t>(index);
  KILN_RETURN_IF_ERROR(CheckTensorInPlace(program_->inputs()[i], *array, "input", i));
  inputs_[i].current = array;
  inputs_[i].is_set = true;
  if (State* const state = FindState(i); state != nullptr) state->is_written = false;
  return absl::OkStatus();
}

absl::Status Executor::SetInputZeroCopy(absl::string_view name, const NDArray& array) {
  KILN_ASSIGN_OR_RETURN(const int index, GetInputIndex(name));
  return SetInputZeroCopy(index, array);
}

absl::Status Executor::SetOutputZeroCopy(int index, const NDArray& array) {
  KILN_RETURN_IF_ERROR(CheckOutputIndex(index));
  const auto i = static_cast<size_t>(index);
  KILN_RETURN_IF_ERROR(CheckTensorInPlace(program_->outputs()[i], *array, "output", i));
  for (State& state : states_) {
    if (state.output == i) PassOn(state);  // Moves the value before its memory is replaced.
  }
  outputs_[i].current = array;
  return absl::OkStatus();
}

absl::Status Executor::SetOutputZeroCopy(absl::string_view name, const NDArray& array) {
  KILN_ASSIGN_OR_RETURN(const int index, GetOutputIndex(name));
  return SetOutputZeroCopy(index, array);
}

absl::StatusOr<NDArray> Executor::GetInput(int index) {
  KILN_RETURN_IF_ERROR(CheckInputIndex(index));
  const auto i = static_cast<size_t>(index);
  inputs_[i].is_set = true;
  const State* const state = FindState(i);
  return state != nullptr && state->is_written ? outputs_[state->output].current
                                               : inputs_[i].current;
}

absl::StatusOr<NDArray> Executor::GetInput(absl::string_view name) {
  KILN_ASSIGN_OR_RETURN(const int index, GetInputIndex(name));
  return GetInput(index);
}

absl::StatusOr<NDArray> Executor::GetOutput(int index) const {
  KILN_RETURN_IF_ERROR(CheckOutputIndex(index));
  return outputs_[static_cast<size_t>(index)].current;
}

absl::StatusOr<NDArray> Executor::GetOutput(absl::string_view name) const {
  KILN_ASSIGN_OR_RETURN(const int index, GetOutputIndex(name));
  return GetOutput(index);
}

absl::Status Executor::CheckAllSet() const {
  std::vector<std::string> missing;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (!inputs_[i].is_set) missing.push_back(absl::StrCat("'", program_->inputs()[i].name, "'"));
  }
  if (missing.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(inputs_.size() - missing.size(), " of ", inputs_.size(),
                   " inputs are set; missing: ", absl::StrJoin(missing, ", ")));
}

template <typename Function>
auto Executor::WithMemory(const Function& function) const {
  absl::InlinedVector<void*, kInlineTensors> inputs;
  absl::InlinedVector<void*, kInlineTensors> outputs;
  for (const Slot& slot : inputs_) inputs.push_back(slot.current.data());
  for (const Slot& slot : outputs_) outputs.push_back(slot.current.data());
  void* const workspace = workspace_.defined() ? workspace_.data() : nullptr;
  return function(RunMemory{.inputs = inputs, .outputs = outputs, .workspace = workspace});
}

absl::Status Executor::Run(const RunOptions& options) {
  RunOptions own = options;
  if (own.pool == nullptr) own.pool = pool_.get();
  RunScope scope(program_->name(), own);
  absl::Status status = scope.Check();
  if (status.ok()) status = CheckAllSet();
  if (status.ok()) {
    PassStatesOn();
    status = WithMemory([this](const RunMemory& memory) { return program_->Run(memory); });
  }
  status = scope.Finish(std::move(status));
  for (State& state : states_) state.is_written |= status.ok() && keeps_state_;
  return status;
}

Executor::State* Executor::FindState(size_t input) {
  for (State& state : states_) {
    if (state.input == input) return &state;
  }
  return nullptr;
}

void Executor::PassOn(State& state) {
  if (!std::exchange(state.is_written, false)) return;
  std::swap(inputs_[state.input].own, outputs_[state.output].own);
  std::swap(inputs_[state.input].current, outputs_[state.output].current);
}

void Executor::PassStatesOn() {
  for (State& state : states_) PassOn(state);
}

absl::Status Executor::keep_state(bool keep) {
  if (states_.empty()) {
    return absl::FailedPreconditionError(
        "the model has no state; --state input=output of kiln compile names one");
  }
  if (keep) {
    ShareMemoryOfStates();
    KILN_RETURN_IF_ERROR(ResetState());
    keeps_state_ = true;
    return absl::OkStatus();
  }
  KILN_RETURN_IF_ERROR(SeparateMemoryOfStates());
  keeps_state_ = false;
  for (const State& state : states_) {
    // Copies, so that the output keeps the values of the last run.
    if (!state.is_written) continue;
    KILN_RETURN_IF_ERROR(SetInput(static_cast<int>(state.input), *outputs_[state.output].current));
  }
  return absl::OkStatus();
}

void Executor::ShareMemoryOfStates() {
  for (size_t i = 0; i < states_.size(); ++i) {
    if (!program_->states()[i].is_in_place) continue;
    const Slot& input = inputs_[states_[i].input];
    Slot& output = outputs_[states_[i].output];
    if (!input.own.defined()) continue;  // A parameter whose memory is shared.
    const bool is_own = output.current.data() == output.own.data();
    output.own = input.own;
    if (is_own) output.current = output.own;
  }
}

absl::Status Executor::SeparateMemoryOfStates() {
  for (const State& state : states_) {
    const Slot& input = inputs_[state.input];
    Slot& output = outputs_[state.output];
    if (!input.own.defined() || output.own.data() != input.own.data()) continue;
    KILN_ASSIGN_OR_RETURN(NDArray own, CopyOfArray(program_->outputs()[state.output], input.own));
    if (output.current.data() == output.own.data()) output.current = own;
    output.own = std::move(own);
  }
  return absl::OkStatus();
}

absl::Status Executor::ResetState() {
  for (size_t i = 0; i < states_.size(); ++i) {
    Slot& slot = inputs_[states_[i].input];
    KILN_RETURN_IF_ERROR(slot.own.Fill(program_->states()[i].initial_value));
    slot.current = slot.own;
    slot.is_set = true;
    states_[i].is_written = false;
  }
  return absl::OkStatus();
}

absl::Status Executor::LoadParams(absl::string_view bytes) {
  KILN_ASSIGN_OR_RETURN(const Params params, runtime::LoadParams(bytes));
  for (const auto& [name, array] : params) {
    KILN_ASSIGN_OR_RETURN(const int index, GetInputIndex(name));
    KILN_RETURN_IF_ERROR(UseParam(index, array));
  }
  return absl::OkStatus();
}

absl::Status Executor::ShareParams(const Executor& other, absl::string_view bytes) {
  KILN_ASSIGN_OR_RETURN(const Params params, runtime::LoadParams(bytes));
  for (const auto& [name, array] : params) {
    KILN_ASSIGN_OR_RETURN(const int index, GetInputIndex(name));
    KILN_ASSIGN_OR_RETURN(const int other_index, other.GetInputIndex(name));
    const Slot& source = other.inputs_[static_cast<size_t>(other_index)];
    if (!source.is_set) {
      return absl::FailedPreconditionError(
          absl::StrCat("parameter '", name, "' is not set in the other executor"));
    }
    KILN_RETURN_IF_ERROR(UseParam(index, source.current));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> Executor::TimeEvaluator(const TimeEvaluatorOptions& options) {
  KILN_RETURN_IF_ERROR(CheckAllSet());
  PassStatesOn();
  KILN_RETURN_IF_ERROR(SeparateMemoryOfStates());
  const absl::Cleanup share = [this] {
    if (keeps_state_) ShareMemoryOfStates();
  };
  return WithMemory([&](const RunMemory& memory) {
    return runtime::TimeEvaluator([&] { return program_->Run(memory); }, options);
  });
}

absl::StatusOr<ProfileReport> Executor::Profile() {
  KILN_RETURN_IF_ERROR(CheckAllSet());
  PassStatesOn();
  KILN_RETURN_IF_ERROR(SeparateMemoryOfStates());
  const absl::Cleanup share = [this] {
    if (keeps_state_) ShareMemoryOfStates();
  };
  return WithMemory([this](const RunMemory& memory) -> absl::StatusOr<ProfileReport> {
    ProfileReport report;
    const auto start = std::chrono::steady_clock::now();
    KILN_ASSIGN_OR_RETURN(report.operators, program_->Profile(memory));
    const auto end = std::chrono::steady_clock::now();
    report.total_seconds = std::chrono::duration<double>(end - start).count();
    return report;
  });
}

}  // namespace kiln::runtime
