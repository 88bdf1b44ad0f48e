// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "kiln/runtime.h"
#include "runtime_cpp/executor.h"
#include "runtime_cpp/run_options.h"
#include "runtime_cpp/shared/answers.h"
#include "runtime_cpp/shared/arguments.h"
#include "runtime_cpp/shared/handles.h"
#include "runtime_cpp/status/macros.h"
#include "tvm/runtime/c_runtime_api.h"

using kiln::runtime::Executor;
using kiln::runtime::RunOptions;
using kiln::runtime::c_api::Call;
using kiln::runtime::c_api::PoolOf;
using kiln::runtime::c_api::Return;
using kiln::runtime::c_api::ReturnInfo;
using kiln::runtime::c_api::ReturnState;
using kiln::runtime::c_api::RunOptionsOf;

KilnCode KilnExecutorCreate(const KilnModule* module, DLDevice device, KilnExecutor** executor) {
  return Call(__func__, {{"module", module}, {"executor", executor}},
              [&] { return Return(Executor::Create(module->module, device), executor); });
}

KilnCode KilnModelMakeExecutor(const KilnModel* model, KilnExecutor** executor) {
  return Call(__func__, {{"model", model}, {"executor", executor}},
              [&] { return Return(model->model.MakeExecutor(), executor); });
}

void KilnExecutorFree(KilnExecutor* executor) { delete executor; }

int32_t KilnExecutorNumInputs(const KilnExecutor* executor) {
  return executor == nullptr ? 0 : executor->executor->num_inputs();
}

int32_t KilnExecutorNumOutputs(const KilnExecutor* executor) {
  return executor == nullptr ? 0 : executor->executor->num_outputs();
}

KilnCode KilnExecutorGetInputInfo(const KilnExecutor* executor, int32_t index,
                                  KilnTensorInfo* info) {
  return Call(__func__, {{"executor", executor}, {"info", info}},
              [&] { return ReturnInfo(executor->executor->input_infos(), "input", index, info); });
}

KilnCode KilnExecutorGetOutputInfo(const KilnExecutor* executor, int32_t index,
                                   KilnTensorInfo* info) {
  return Call(__func__, {{"executor", executor}, {"info", info}}, [&] {
    return ReturnInfo(executor->executor->output_infos(), "output", index, info);
  });
}

KilnCode KilnExecutorInputIndex(const KilnExecutor* executor, const char* name, int32_t* index) {
  return Call(__func__, {{"executor", executor}, {"name", name}, {"index", index}},
              [&] { return Return(executor->executor->GetInputIndex(name), index); });
}

KilnCode KilnExecutorOutputIndex(const KilnExecutor* executor, const char* name, int32_t* index) {
  return Call(__func__, {{"executor", executor}, {"name", name}, {"index", index}},
              [&] { return Return(executor->executor->GetOutputIndex(name), index); });
}

int KilnExecutorIsParam(const KilnExecutor* executor, int32_t index) {
  return executor != nullptr && index >= 0 && index < executor->executor->num_inputs() &&
                 executor->executor->IsParam(index)
             ? 1
             : 0;
}

KilnCode KilnExecutorSetInput(KilnExecutor* executor, int32_t index, const DLTensor* tensor) {
  return Call(__func__, {{"executor", executor}, {"tensor", tensor}},
              [&] { return executor->executor->SetInput(index, *tensor); });
}

KilnCode KilnExecutorSetInputZeroCopy(KilnExecutor* executor, int32_t index,
                                      const KilnArray* array) {
  return Call(__func__, {{"executor", executor}, {"array", array}},
              [&] { return executor->executor->SetInputZeroCopy(index, array->array); });
}

KilnCode KilnExecutorSetOutputZeroCopy(KilnExecutor* executor, int32_t index,
                                       const KilnArray* array) {
  return Call(__func__, {{"executor", executor}, {"array", array}},
              [&] { return executor->executor->SetOutputZeroCopy(index, array->array); });
}

KilnCode KilnExecutorGetInput(KilnExecutor* executor, int32_t index, KilnArray** array) {
  return Call(__func__, {{"executor", executor}, {"array", array}},
              [&] { return Return(executor->executor->GetInput(index), array); });
}

KilnCode KilnExecutorGetOutput(const KilnExecutor* executor, int32_t index, KilnArray** array) {
  return Call(__func__, {{"executor", executor}, {"array", array}},
              [&] { return Return(executor->executor->GetOutput(index), array); });
}

KilnCode KilnExecutorRun(KilnExecutor* executor, const KilnRunOptions* options) {
  return Call(__func__, {{"executor", executor}}, [&]() -> absl::Status {
    KILN_ASSIGN_OR_RETURN(const RunOptions known, RunOptionsOf(options));
    return executor->executor->Run(known);
  });
}

KilnCode KilnExecutorSetThreadPool(KilnExecutor* executor, const KilnThreadPool* pool) {
  return Call(__func__, {{"executor", executor}}, [&] {
    executor->executor->SetThreadPool(PoolOf(pool));
    return absl::OkStatus();
  });
}

int32_t KilnExecutorNumStates(const KilnExecutor* executor) {
  return executor == nullptr ? 0 : static_cast<int32_t>(executor->executor->states().size());
}

KilnCode KilnExecutorGetState(const KilnExecutor* executor, int32_t index, KilnStateInfo* info) {
  return Call(__func__, {{"executor", executor}, {"info", info}},
              [&] { return ReturnState(executor->executor->states(), index, info); });
}

KilnCode KilnExecutorKeepState(KilnExecutor* executor, int keep) {
  return Call(__func__, {{"executor", executor}},
              [&] { return executor->executor->keep_state(keep != 0); });
}

KilnCode KilnExecutorResetState(KilnExecutor* executor) {
  return Call(__func__, {{"executor", executor}}, [&] { return executor->executor->ResetState(); });
}

KilnCode KilnExecutorLoadParams(KilnExecutor* executor, const void* bytes, size_t size) {
  return Call(__func__, {{"executor", executor}, {"bytes", bytes}}, [&] {
    return executor->executor->LoadParams({static_cast<const char*>(bytes), size});
  });
}

KilnCode KilnExecutorShareParams(KilnExecutor* executor, const KilnExecutor* other,
                                 const void* bytes, size_t size) {
  return Call(__func__, {{"executor", executor}, {"other", other}, {"bytes", bytes}}, [&] {
    return executor->executor->ShareParams(*other->executor,
                                           {static_cast<const char*>(bytes), size});
  });
}

KilnCode KilnExecutorTimeEvaluator(KilnExecutor* executor, int64_t number, int64_t repeat,
                                   double min_repeat_ms, double* seconds) {
  return Call(__func__, {{"executor", executor}, {"seconds", seconds}}, [&]() -> absl::Status {
    KILN_ASSIGN_OR_RETURN(
        const std::vector<double> measured,
        executor->executor->TimeEvaluator(
            {.number = number, .repeat = repeat, .min_repeat_ms = min_repeat_ms}));
    std::copy(measured.begin(), measured.end(), seconds);
    return absl::OkStatus();
  });
}

KilnCode KilnExecutorProfile(KilnExecutor* executor, char** json) {
  return Call(__func__, {{"executor", executor}, {"json", json}}, [&]() -> absl::Status {
    KILN_ASSIGN_OR_RETURN(const kiln::runtime::ProfileReport report, executor->executor->Profile());
    const std::string text = report.ToJson();
    *json = new char[text.size() + 1];
    std::memcpy(*json, text.c_str(), text.size() + 1);
    return absl::OkStatus();
  });
}
