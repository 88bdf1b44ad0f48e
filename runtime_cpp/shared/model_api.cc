// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "kiln/runtime.h"
#include "runtime_cpp/model.h"
#include "runtime_cpp/ndarray.h"
#include "runtime_cpp/run_options.h"
#include "runtime_cpp/shared/answers.h"
#include "runtime_cpp/shared/arguments.h"
#include "runtime_cpp/shared/handles.h"
#include "runtime_cpp/status/macros.h"
#include "tvm/runtime/c_runtime_api.h"

using kiln::runtime::LoadOptions;
using kiln::runtime::Model;
using kiln::runtime::NDArray;
using kiln::runtime::RunOptions;
using kiln::runtime::c_api::Call;
using kiln::runtime::c_api::LoadOptionsOf;
using kiln::runtime::c_api::PoolOf;
using kiln::runtime::c_api::Return;
using kiln::runtime::c_api::ReturnInfo;
using kiln::runtime::c_api::ReturnOrigin;
using kiln::runtime::c_api::ReturnProperty;
using kiln::runtime::c_api::ReturnState;
using kiln::runtime::c_api::RunOptionsOf;
using kiln::runtime::c_api::TensorsOf;

KilnCode KilnModelLoad(const char* path, DLDevice device, const KilnLoadOptions* options,
                       KilnModel** model) {
  return Call(__func__, {{"path", path}, {"model", model}}, [&]() -> absl::Status {
    KILN_ASSIGN_OR_RETURN(const LoadOptions known, LoadOptionsOf(options));
    return Return(Model::Load(path, device, known), model);
  });
}

KilnCode KilnModelFromModule(const KilnModule* module, DLDevice device, KilnModel** model) {
  return Call(__func__, {{"module", module}, {"model", model}},
              [&] { return Return(Model::FromModule(module->module, device), model); });
}

void KilnModelFree(KilnModel* model) { delete model; }

const char* KilnModelName(const KilnModel* model) {
  return model == nullptr ? nullptr : model->model.name().c_str();
}

int32_t KilnModelNumInputs(const KilnModel* model) {
  return model == nullptr ? 0 : static_cast<int32_t>(model->model.inputs().size());
}

int32_t KilnModelNumOutputs(const KilnModel* model) {
  return model == nullptr ? 0 : static_cast<int32_t>(model->model.outputs().size());
}

KilnCode KilnModelGetInput(const KilnModel* model, int32_t index, KilnTensorInfo* info) {
  return Call(__func__, {{"model", model}, {"info", info}},
              [&] { return ReturnInfo(model->model.inputs(), "input", index, info); });
}

KilnCode KilnModelGetOutput(const KilnModel* model, int32_t index, KilnTensorInfo* info) {
  return Call(__func__, {{"model", model}, {"info", info}},
              [&] { return ReturnInfo(model->model.outputs(), "output", index, info); });
}

KilnCode KilnModelInputIndex(const KilnModel* model, const char* name, int32_t* index) {
  return Call(__func__, {{"model", model}, {"name", name}, {"index", index}},
              [&] { return Return(model->model.InputIndex(name), index); });
}

KilnCode KilnModelOutputIndex(const KilnModel* model, const char* name, int32_t* index) {
  return Call(__func__, {{"model", model}, {"name", name}, {"index", index}},
              [&] { return Return(model->model.OutputIndex(name), index); });
}

int32_t KilnModelNumStates(const KilnModel* model) {
  return model == nullptr ? 0 : static_cast<int32_t>(model->model.states().size());
}

KilnCode KilnModelGetState(const KilnModel* model, int32_t index, KilnStateInfo* info) {
  return Call(__func__, {{"model", model}, {"info", info}},
              [&] { return ReturnState(model->model.states(), index, info); });
}

int64_t KilnModelWorkspaceBytes(const KilnModel* model) {
  return model == nullptr ? 0 : model->model.workspace_bytes();
}

int64_t KilnModelConstantBytes(const KilnModel* model) {
  return model == nullptr ? 0 : model->model.constant_bytes();
}

int32_t KilnModelNumThreads(const KilnModel* model) {
  return model == nullptr ? 0 : model->model.num_threads();
}

KilnCode KilnModelGetOrigin(const KilnModel* model, KilnOrigin* origin) {
  return Call(__func__, {{"model", model}, {"origin", origin}},
              [&] { return ReturnOrigin(model->model.origin(), origin); });
}

KilnCode KilnModelGetProperty(const KilnModel* model, int32_t index, const char** key,
                              const char** value) {
  return Call(__func__, {{"model", model}, {"key", key}, {"value", value}},
              [&] { return ReturnProperty(model->model.origin(), index, key, value); });
}

size_t KilnModelAlignment() { return Model::kAlignment; }

KilnCode KilnModelWithThreadPool(const KilnModel* model, const KilnThreadPool* pool,
                                 KilnModel** result) {
  return Call(__func__, {{"model", model}, {"result", result}}, [&] {
    return Return(absl::StatusOr<Model>(model->model.WithThreadPool(PoolOf(pool))), result);
  });
}

KilnCode KilnModelPrefault(const KilnModel* model) {
  return Call(__func__, {{"model", model}}, [&] { return model->model.Prefault(); });
}

KilnCode KilnModelRun(const KilnModel* model, const DLTensor* const* inputs, int32_t num_inputs,
                      KilnArray** outputs, int32_t num_outputs, const KilnRunOptions* options) {
  return Call(__func__, {{"model", model}}, [&]() -> absl::Status {
    KILN_ASSIGN_OR_RETURN(const RunOptions known, RunOptionsOf(options));
    KILN_ASSIGN_OR_RETURN(const auto tensors, TensorsOf(inputs, num_inputs, "inputs"));
    const int32_t wanted = KilnModelNumOutputs(model);
    if (num_outputs != wanted || (wanted > 0 && outputs == nullptr)) {
      return absl::InvalidArgumentError(absl::StrCat("found room for ",
                                                     outputs == nullptr ? 0 : num_outputs,
                                                     " outputs, wanted it for ", wanted));
    }
    KILN_ASSIGN_OR_RETURN(std::vector<NDArray> arrays, model->model.Run(tensors, known));
    std::vector<std::unique_ptr<KilnArray>> handles;
    for (NDArray& array : arrays) {
      handles.push_back(std::make_unique<KilnArray>(KilnArray{std::move(array)}));
    }
    for (size_t i = 0; i < handles.size(); ++i) outputs[i] = handles[i].release();
    return absl::OkStatus();
  });
}

KilnCode KilnModelRunInto(const KilnModel* model, const DLTensor* const* inputs, int32_t num_inputs,
                          DLTensor* const* outputs, int32_t num_outputs, void* workspace,
                          size_t workspace_bytes, const KilnRunOptions* options) {
  return Call(__func__, {{"model", model}}, [&]() -> absl::Status {
    KILN_ASSIGN_OR_RETURN(const RunOptions known, RunOptionsOf(options));
    KILN_ASSIGN_OR_RETURN(const auto from, TensorsOf(inputs, num_inputs, "inputs"));
    KILN_ASSIGN_OR_RETURN(const auto to, TensorsOf(outputs, num_outputs, "outputs"));
    if (workspace == nullptr) return model->model.Run(from, to, known);
    return model->model.Run(from, to,
                            absl::MakeSpan(static_cast<char*>(workspace), workspace_bytes), known);
  });
}
