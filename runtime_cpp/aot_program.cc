// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/aot_program.h"

#include <atomic>
#include <chrono>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime_cpp/device_api.h"
#include "runtime_cpp/library_module.h"
#include "runtime_cpp/status/annotate.h"
#include "runtime_cpp/status/macros.h"
#include "runtime_cpp/tvm_metadata.h"

namespace kiln::runtime {
namespace {

using Clock = std::chrono::steady_clock;

constexpr DLDataType kByte = {kDLUInt, 8, 1};

// Hook that a model compiled with --profile calls before and after each operator function if set.
using ProfileHook = void (*)(int32_t function_index, int32_t begin);
constexpr char kProfileHookSymbol[] = "__kiln_profile_hook";

// Measurements of the hook for a thread that profiles.
struct ProfileRecorder {
  std::vector<OperatorTiming> timings;  // One per function of the metadata.
  Clock::time_point start;
};

thread_local ProfileRecorder* profile_recorder = nullptr;

// A thread that only runs the model has no recorder, so the hook costs it almost nothing.
void RecordOperator(int32_t function_index, int32_t begin) {
  ProfileRecorder* const recorder = profile_recorder;
  if (recorder == nullptr || function_index < 0 ||
      function_index >= static_cast<int32_t>(recorder->timings.size())) {
    return;
  }
  if (begin != 0) {
    recorder->start = Clock::now();
    return;
  }
  OperatorTiming& timing = recorder->timings[static_cast<size_t>(function_index)];
  timing.seconds += std::chrono::duration<double>(Clock::now() - recorder->start).count();
  ++timing.calls;
}

bool InstallProfileHook(const Module& module) {
  const std::shared_ptr<LibraryModule> library = FindLibrary(module.node());
  if (library == nullptr) return false;
  auto* const slot = static_cast<ProfileHook*>(library->FindSymbol(kProfileHookSymbol));
  if (slot == nullptr) return false;
  std::atomic_ref<ProfileHook>(*slot).store(RecordOperator);
  return true;
}

absl::Status CheckDevices(const ModelMetadata& metadata, DLDevice device) {
  KILN_RETURN_IF_ERROR(GetDeviceApi(device).status());
  if (!SameDevice(metadata.run_model().device(), device)) {
    return absl::InvalidArgumentError(
        absl::StrCat("model '", metadata.module_name(), "' is compiled for ",
                     DeviceName(metadata.run_model().device()), ", not for ", DeviceName(device)));
  }
  for (int32_t i = 0; i < metadata.num_functions(); ++i) {
    KILN_RETURN_IF_ERROR(Annotate(GetDeviceApi(metadata.function(i).device()).status(),
                                  absl::StrCat(metadata.function(i).function_name(), ": ")));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Program>> AotProgram::Create(const Module& module, DLDevice device) {
  KILN_ASSIGN_OR_RETURN(ModelMetadata metadata, ModelMetadata::Find(module));
  KILN_RETURN_IF_ERROR(CheckDevices(metadata, device));
  const std::string name = absl::StrCat("tvmgen_", metadata.module_name(), "___tvm_main__");
  PackedFunc entry = module.node()->FindFunctionInTree(name);
  if (!entry.defined()) {
    return absl::NotFoundError(
        absl::StrCat("model '", metadata.module_name(), "' has no entry function '", name, "'"));
  }
  std::unique_ptr<AotProgram> program(
      new AotProgram(std::move(metadata), std::move(entry), device));
  const FunctionInfoView run_model = program->metadata_.run_model();
  for (const auto& input : run_model.inputs()) program->inputs_.push_back(input.ToTensorInfo());
  for (const auto& output : run_model.outputs()) {
    program->outputs_.push_back(output.ToTensorInfo());
  }
  program->TakeAlignment(program->metadata_);
  KILN_RETURN_IF_ERROR(program->TakeStates(program->metadata_));
  KILN_RETURN_IF_ERROR(program->PlacePools(module));
  program->RegisterWorkspaces(&program->metadata_);
  program->has_profile_hook_ = InstallProfileHook(module);
  return program;
}

absl::Status AotProgram::PlacePools(const Module& module) {
  if (metadata_.is_complete()) {
    const int64_t bytes = metadata_.run_model().workspace_size_bytes();
    if (bytes > 0) pool_bytes_ = {bytes};
    KILN_ASSIGN_OR_RETURN(constants_, NDArray::Empty({0}, kByte));
  } else {
    KILN_ASSIGN_OR_RETURN(const TVMMetadata* const metadata, FindTvmMetadata(module));
    KILN_ASSIGN_OR_RETURN(TvmPools pools, PoolsOf(*metadata));
    pool_bytes_ = std::move(pools.workspace_bytes);
    constants_ = std::move(pools.constants);
  }
  for (const int64_t bytes : pool_bytes_) {
    constexpr int64_t kAlignment = kTensorAlignment;
    workspace_bytes_ = (workspace_bytes_ + kAlignment - 1) / kAlignment * kAlignment;
    pool_offsets_.push_back(workspace_bytes_);
    if (__builtin_add_overflow(workspace_bytes_, bytes, &workspace_bytes_) ||
        workspace_bytes_ > kMaxTensorBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("model '", metadata_.module_name(), "': its workspace is too large"));
    }
  }
  return absl::OkStatus();
}

absl::Status AotProgram::Run(const RunMemory& memory) const {
  // After the tensors come a pool of constants and, in models of Kiln, one workspace pool.
  absl::InlinedVector<DLTensor, kInlineTensors + 2> tensors;
  tensors.reserve(inputs_.size() + outputs_.size() + 1 + pool_bytes_.size());
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const TensorInfo& info = inputs_[i];
    tensors.push_back(CompactTensor(memory.inputs[i], info.device, info.dtype, info.shape));
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const TensorInfo& info = outputs_[i];
    tensors.push_back(CompactTensor(memory.outputs[i], info.device, info.dtype, info.shape));
  }
  if (!pool_bytes_.empty()) tensors.push_back(*constants_);
  for (size_t i = 0; i < pool_bytes_.size(); ++i) {
    char* const pool = static_cast<char*>(memory.workspace) + pool_offsets_[i];
    tensors.push_back(CompactTensor(pool, device_, kByte, {&pool_bytes_[i], 1}));
  }
  absl::InlinedVector<TVMValue, kInlineTensors + 2> values(tensors.size());
  const absl::InlinedVector<int, kInlineTensors + 2> codes(tensors.size(), kTVMDLTensorHandle);
  for (size_t i = 0; i < tensors.size(); ++i) values[i].v_handle = &tensors[i];
  return entry_.Call(Args(values.data(), codes.data(), static_cast<int>(values.size()))).status();
}

absl::StatusOr<std::vector<OperatorTiming>> AotProgram::Profile(const RunMemory& memory) const {
  if (!has_profile_hook_) {
    return absl::FailedPreconditionError(absl::StrCat(
        "model '", metadata_.module_name(),
        "' does not tell when its operators run; compile it with --profile to profile it"));
  }
  ProfileRecorder recorder;
  for (int32_t i = 0; i < metadata_.num_functions(); ++i) {
    recorder.timings.push_back(TimingOf(metadata_.function(i)));
  }
  profile_recorder = &recorder;
  const absl::Status status = Run(memory);
  profile_recorder = nullptr;
  KILN_RETURN_IF_ERROR(status);
  std::erase_if(recorder.timings, [](const OperatorTiming& timing) { return timing.calls == 0; });
  return std::move(recorder.timings);
}

}  // namespace kiln::runtime
