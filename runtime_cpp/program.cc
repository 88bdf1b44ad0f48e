// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/program.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime_cpp/device_api.h"
#include "runtime_cpp/status/macros.h"
#include "runtime_cpp/workspace_pool.h"

namespace kiln::runtime {
namespace {

std::string Describe(const TensorInfo& info, absl::string_view what, size_t index) {
  return absl::StrCat(what, " '", info.name, "' (index ", index, ")");
}

// Returns the index of the tensor that the metadata calls `name`. A graph table may use the
// tensor's other name.
absl::StatusOr<int> FindDescribed(const std::vector<TensorInfo>& infos,
                                  const std::vector<ParameterInfoView>& described,
                                  absl::string_view name, absl::string_view what) {
  const absl::StatusOr<int> found = FindTensor(infos, name, what);
  if (found.ok()) return found;
  for (const ParameterInfoView& parameter : described) {
    if (parameter.relay_name_hint() != name) continue;
    const absl::StatusOr<int> other = FindTensor(infos, parameter.tir_name_hint(), what);
    if (other.ok()) return other;
  }
  return found;
}

}  // namespace

OperatorTiming TimingOf(const FunctionInfoView& function) {
  OperatorTiming timing = {.function_name = std::string(function.function_name()),
                           .op_names = std::string(function.op_names()),
                           .source = std::string(function.source()),
                           .schedule = std::string(function.schedule())};
  if (const ::CostInfo* cost = function.cost(); cost != nullptr) {
    timing.operations = cost->operations;
    timing.accessed_bytes = cost->accessed_bytes;
  }
  return timing;
}

void Program::TakeAlignment(const ModelMetadata& metadata) {
  bool own_code = metadata.is_complete();
  for (int32_t i = 0; i < metadata.num_functions(); ++i) {
    own_code &= metadata.function(i).module_type() == "library";
  }
  if (!own_code) return;
  for (std::vector<TensorInfo>* const infos : {&inputs_, &outputs_}) {
    for (TensorInfo& info : *infos) {
      info.alignment_bytes = std::max<size_t>(1, static_cast<size_t>(ElementBytes(info.dtype)));
    }
  }
}

absl::Status Program::TakeStates(const ModelMetadata& metadata) {
  const FunctionInfoView model = metadata.run_model();
  for (const ::StateInfo& state : metadata.states()) {
    const absl::StatusOr<int> input = FindDescribed(inputs_, model.inputs(), state.input, "input");
    const absl::StatusOr<int> output =
        FindDescribed(outputs_, model.outputs(), state.output, "output");
    if (!input.ok() || !output.ok()) {
      return absl::DataLossError(absl::StrCat(
          "state '", state.input, "': ", (input.ok() ? output : input).status().message()));
    }
    const TensorInfo& from = outputs_[static_cast<size_t>(*output)];
    const TensorInfo& to = inputs_[static_cast<size_t>(*input)];
    if (from.shape != to.shape || !SameDataType(from.dtype, to.dtype)) {
      return absl::DataLossError(absl::StrCat("state '", state.input, "': found ",
                                              DataTypeName(from.dtype), " ", ShapeName(from.shape),
                                              " as output '", state.output, "', wanted ",
                                              DataTypeName(to.dtype), " ", ShapeName(to.shape)));
    }
    states_.push_back({to.name, from.name, state.initial_value, state.is_in_place != 0});
  }
  return absl::OkStatus();
}

void Program::RegisterWorkspaces(const ModelMetadata* metadata) {
  int64_t bytes = workspace_bytes_;
  for (int32_t i = 0; metadata != nullptr && i < metadata->num_functions(); ++i) {
    bytes = std::max(bytes, metadata->function(i).workspace_size_bytes());
  }
  workspace_user_ = std::make_shared<const WorkspaceUser>(static_cast<uint64_t>(bytes));
}

absl::StatusOr<int> FindTensor(const std::vector<TensorInfo>& infos, absl::string_view name,
                               absl::string_view what) {
  for (size_t i = 0; i < infos.size(); ++i) {
    if (infos[i].name == name) return static_cast<int>(i);
  }
  const std::string names = absl::StrJoin(
      infos, ", ",
      [](std::string* out, const TensorInfo& info) { absl::StrAppend(out, "'", info.name, "'"); });
  return absl::NotFoundError(
      absl::StrCat("the model has no ", what, " '", name, "'; it has ", names));
}

absl::Status CheckTensor(const TensorInfo& info, const DLTensor& tensor, absl::string_view what,
                         size_t index) {
  if (tensor.ndim < 0 || (tensor.ndim > 0 && tensor.shape == nullptr)) {
    return absl::InvalidArgumentError(
        absl::StrCat(Describe(info, what, index), ": the tensor has no shape"));
  }
  if (ShapeOf(tensor) != absl::MakeConstSpan(info.shape) ||
      !SameDataType(tensor.dtype, info.dtype)) {
    return absl::InvalidArgumentError(
        absl::StrCat(Describe(info, what, index), ": found ", DataTypeName(tensor.dtype), " ",
                     ShapeName(ShapeOf(tensor)), ", wanted ", DataTypeName(info.dtype), " ",
                     ShapeName(info.shape)));
  }
  if (!IsCompact(tensor)) {
    return absl::InvalidArgumentError(
        absl::StrCat(Describe(info, what, index),
                     ": found strides with gaps or in another order, wanted compact row-major"));
  }
  if (tensor.data == nullptr && info.size_bytes > 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(Describe(info, what, index), ": the data pointer is NULL"));
  }
  return absl::OkStatus();
}

absl::Status CheckTensorInPlace(const TensorInfo& info, const DLTensor& tensor,
                                absl::string_view what, size_t index) {
  KILN_RETURN_IF_ERROR(CheckTensor(info, tensor, what, index));
  if (!SameDevice(tensor.device, info.device)) {
    return absl::InvalidArgumentError(absl::StrCat(Describe(info, what, index),
                                                   ": found memory on ", DeviceName(tensor.device),
                                                   ", wanted ", DeviceName(info.device)));
  }
  if (!IsAligned(DataOf(tensor), info.alignment_bytes)) {
    const uint64_t address = reinterpret_cast<uintptr_t>(DataOf(tensor));
    return absl::InvalidArgumentError(
        absl::StrCat(Describe(info, what, index), ": found data aligned to ",
                     address & (~address + 1), " bytes, wanted ", info.alignment_bytes));
  }
  return absl::OkStatus();
}

bool IsAligned(const void* address, size_t alignment_bytes) {
  return reinterpret_cast<uintptr_t>(address) % alignment_bytes == 0;
}

}  // namespace kiln::runtime
