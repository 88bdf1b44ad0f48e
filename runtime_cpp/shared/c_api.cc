// SPDX-License-Identifier: Apache-2.0
// kiln/runtime.h on top of the C++ classes.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "kiln/runtime.h"
#include "runtime_cpp/call_from_c.h"
#include "runtime_cpp/executor.h"
#include "runtime_cpp/model.h"
#include "runtime_cpp/module.h"
#include "runtime_cpp/ndarray.h"
#include "runtime_cpp/run_observer.h"
#include "runtime_cpp/run_options.h"
#include "runtime_cpp/status/macros.h"
#include "runtime_cpp/thread_pool.h"
#include "runtime_cpp/workspaces.h"
#include "tvm/runtime/c_runtime_api.h"

using kiln::runtime::Executor;
using kiln::runtime::LoadOptions;
using kiln::runtime::Model;
using kiln::runtime::ModelOrigin;
using kiln::runtime::Module;
using kiln::runtime::NDArray;
using kiln::runtime::RunOptions;
using kiln::runtime::StateTensor;
using kiln::runtime::TensorInfo;
using kiln::runtime::ThreadPool;

struct KilnModule {
  Module module;
};
struct KilnModel {
  Model model;
};
struct KilnExecutor {
  std::shared_ptr<Executor> executor;
};
struct KilnArray {
  NDArray array;
};
struct KilnCancellation {
  kiln::runtime::CancellationToken token;
};
struct KilnThreadPool {
  std::shared_ptr<ThreadPool> pool;
};

namespace {

using kiln::runtime::NamedPointer;

// The body of a function of this interface.
template <typename Function>
KilnCode Call(const char* name, std::initializer_list<NamedPointer> pointers,
              const Function& function) {
  return static_cast<KilnCode>(kiln::runtime::CodeOfCall(name, pointers, function));
}

// Stores what `value` holds as a new handle.
template <typename Handle, typename T>
absl::Status Return(absl::StatusOr<T> value, Handle** handle) {
  if (!value.ok()) return value.status();
  *handle = new Handle{*std::move(value)};
  return absl::OkStatus();
}

absl::Status Return(const absl::StatusOr<int>& value, int32_t* result) {
  if (!value.ok()) return value.status();
  *result = *value;
  return absl::OkStatus();
}

// Options, of the type of that name, as this version of the library knows them. Bytes that it does not
// know have to be 0.
template <typename Options>
absl::StatusOr<Options> KnownOptions(const Options* given, absl::string_view type) {
  Options options = {};
  if (given == nullptr) return options;
  if (given->struct_size < sizeof(given->struct_size)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "found options of struct_size ", given->struct_size, ", wanted sizeof(", type, ")"));
  }
  const auto* bytes = reinterpret_cast<const char*>(given);
  for (size_t i = sizeof(options); i < given->struct_size; ++i) {
    if (bytes[i] != 0) {
      return absl::UnimplementedError(absl::StrCat(
          "found ", type, " of a newer version of libkiln_runtime, wanted that of this one"));
    }
  }
  std::memcpy(&options, given, std::min(sizeof(options), given->struct_size));
  return options;
}

absl::StatusOr<LoadOptions> LoadOptionsOf(const KilnLoadOptions* given) {
  KILN_ASSIGN_OR_RETURN(const KilnLoadOptions known, KnownOptions(given, "KilnLoadOptions"));
  LoadOptions options;
  options.check_checksum = known.skip_checksum == 0;
  if (known.verify != nullptr) {
    options.verify = [known](const std::string& path, absl::string_view bytes) -> absl::Status {
      char message[KILN_VERIFIER_MESSAGE_BYTES] = "";
      const KilnCode code =
          known.verify(known.verify_context, path.c_str(), bytes.data(), bytes.size(), message);
      message[sizeof(message) - 1] = '\0';
      return absl::Status(static_cast<absl::StatusCode>(code), message);
    };
  }
  return options;
}

absl::StatusOr<RunOptions> RunOptionsOf(const KilnRunOptions* given) {
  KILN_ASSIGN_OR_RETURN(const KilnRunOptions known, KnownOptions(given, "KilnRunOptions"));
  RunOptions options;
  if (known.timeout_ns < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("found a timeout of ", known.timeout_ns, " ns, wanted 0 or more"));
  }
  if (known.timeout_ns > 0) {
    options.deadline =
        std::chrono::steady_clock::now() + std::chrono::nanoseconds(known.timeout_ns);
  }
  if (known.cancellation != nullptr) options.cancellation = &known.cancellation->token;
  if (known.pool != nullptr) options.pool = known.pool->pool.get();
  return options;
}

std::shared_ptr<ThreadPool> PoolOf(const KilnThreadPool* pool) {
  return pool == nullptr ? nullptr : pool->pool;
}

absl::StatusOr<Module> LoadModule(const char* path, const KilnLoadOptions* options) {
  KILN_ASSIGN_OR_RETURN(const LoadOptions known, LoadOptionsOf(options));
  return Module::LoadFromFile(path, known);
}

absl::Status CheckIndex(absl::string_view what, int32_t index, size_t count) {
  if (index >= 0 && static_cast<size_t>(index) < count) return absl::OkStatus();
  return absl::OutOfRangeError(
      absl::StrCat("found ", what, " ", index, ", wanted 0 to ", static_cast<int64_t>(count) - 1));
}

// Checks the size of a struct for an answer.
absl::Status CheckSize(size_t struct_size, absl::string_view type) {
  if (struct_size >= sizeof(struct_size)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("found struct_size ", struct_size, ", wanted sizeof(", type, ")"));
}

absl::Status CheckInfo(absl::string_view what, int32_t index, size_t count, size_t struct_size,
                       absl::string_view type) {
  KILN_RETURN_IF_ERROR(CheckIndex(what, index, count));
  return CheckSize(struct_size, type);
}

absl::Status ReturnInfo(const std::vector<TensorInfo>& infos, absl::string_view what, int32_t index,
                        KilnTensorInfo* result) {
  const size_t size = result->struct_size;
  KILN_RETURN_IF_ERROR(CheckInfo(what, index, infos.size(), size, "KilnTensorInfo"));
  const TensorInfo& info = infos[static_cast<size_t>(index)];
  KilnTensorInfo known = {};
  known.struct_size = size;
  known.name = info.name.c_str();
  known.shape = info.shape.data();
  known.ndim = static_cast<int32_t>(info.shape.size());
  known.dtype = info.dtype;
  known.device = info.device;
  known.size_bytes = info.size_bytes;
  known.alignment_bytes = info.alignment_bytes;
  known.scales = info.quantization.scales.data();
  known.zero_points = info.quantization.zero_points.data();
  known.num_scales = static_cast<int32_t>(info.quantization.scales.size());
  known.quantized_axis = info.quantization.axis;
  std::memcpy(result, &known, std::min(size, sizeof(known)));
  return absl::OkStatus();
}

int32_t CountOf(const std::vector<StateTensor>& states) {
  return static_cast<int32_t>(states.size());
}

absl::Status ReturnState(const std::vector<StateTensor>& states, int32_t index,
                         KilnStateInfo* result) {
  KILN_RETURN_IF_ERROR(
      CheckInfo("state", index, states.size(), result->struct_size, "KilnStateInfo"));
  const StateTensor& state = states[static_cast<size_t>(index)];
  KilnStateInfo known = {};
  known.struct_size = result->struct_size;
  known.input = state.input.c_str();
  known.output = state.output.c_str();
  known.initial_value = state.initial_value;
  known.is_in_place = state.is_in_place ? 1 : 0;
  std::memcpy(result, &known, std::min(known.struct_size, sizeof(known)));
  return absl::OkStatus();
}

absl::Status ReturnOrigin(const ModelOrigin& origin, KilnOrigin* result) {
  const size_t size = result->struct_size;
  KILN_RETURN_IF_ERROR(CheckSize(size, "KilnOrigin"));
  KilnOrigin known = {};
  known.struct_size = size;
  known.compiler = origin.compiler.c_str();
  known.model_sha256 = origin.model_sha256.c_str();
  known.options_sha256 = origin.options_sha256.c_str();
  known.num_properties = static_cast<int32_t>(origin.properties.size());
  std::memcpy(result, &known, std::min(size, sizeof(known)));
  return absl::OkStatus();
}

absl::Status ReturnProperty(const ModelOrigin& origin, int32_t index, const char** key,
                            const char** value) {
  KILN_RETURN_IF_ERROR(CheckIndex("property", index, origin.properties.size()));
  const auto& property = origin.properties[static_cast<size_t>(index)];
  *key = property.first.c_str();
  *value = property.second.c_str();
  return absl::OkStatus();
}

// Lists of tensors of the caller's.
absl::StatusOr<absl::Span<const DLTensor* const>> TensorsOf(const DLTensor* const* tensors,
                                                            int32_t count, const char* what) {
  if (count < 0 || (count > 0 && tensors == nullptr)) {
    return absl::InvalidArgumentError(
        absl::StrCat("found ", count, " ", what, tensors == nullptr ? " at NULL" : ""));
  }
  for (int32_t i = 0; i < count; ++i) {
    if (tensors[i] == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(what, "[", i, "] is NULL"));
    }
  }
  return absl::MakeConstSpan(tensors, static_cast<size_t>(count));
}

}  // namespace

const char* KilnLastError() { return TVMGetLastError(); }

const char* KilnRuntimeVersion() { return KILN_VERSION; }

// Libraries.

KilnCode KilnModuleLoad(const char* path, const KilnLoadOptions* options, KilnModule** module) {
  return Call(__func__, {{"path", path}, {"module", module}},
              [&] { return Return(LoadModule(path, options), module); });
}

KilnCode KilnModuleSystemLib(const char* name, KilnModule** module) {
  return Call(__func__, {{"module", module}},
              [&] { return Return(Module::SystemLib(name == nullptr ? "" : name), module); });
}

void KilnModuleFree(KilnModule* module) { delete module; }

// Runs.

KilnCode KilnCancellationCreate(KilnCancellation** cancellation) {
  return Call(__func__, {{"cancellation", cancellation}}, [&] {
    *cancellation = new KilnCancellation;
    return absl::OkStatus();
  });
}

void KilnCancellationCancel(KilnCancellation* cancellation) {
  if (cancellation != nullptr) cancellation->token.Cancel();
}

void KilnCancellationReset(KilnCancellation* cancellation) {
  if (cancellation != nullptr) cancellation->token.Reset();
}

void KilnCancellationFree(KilnCancellation* cancellation) { delete cancellation; }

KilnCode KilnThreadPoolCreate(int32_t num_threads, const int32_t* cpus, int32_t num_cpus,
                              KilnThreadPool** pool) {
  return Call(__func__, {{"pool", pool}}, [&]() -> absl::Status {
    if (num_cpus < 0 || (num_cpus > 0 && cpus == nullptr)) {
      return absl::InvalidArgumentError(
          absl::StrCat("found ", num_cpus, " CPUs", cpus == nullptr ? " at NULL" : ""));
    }
    return Return(ThreadPool::Create({.num_threads = num_threads, .cpus = {cpus, cpus + num_cpus}}),
                  pool);
  });
}

void KilnThreadPoolFree(KilnThreadPool* pool) { delete pool; }

KilnCode KilnSetRunObserver(KilnRunObserver observer, void* context) {
  return Call(__func__, {}, [&] {
    if (observer == nullptr) {
      kiln::runtime::SetRunObserver(nullptr);
      return absl::OkStatus();
    }
    kiln::runtime::SetRunObserver([observer, context](const kiln::runtime::RunEvent& run) {
      const std::string model(run.model), message(run.status.message());
      KilnRunEvent event = {};
      event.struct_size = sizeof(event);
      event.model = model.c_str();
      event.code = static_cast<KilnCode>(run.status.code());
      event.message = message.c_str();
      event.seconds = run.seconds;
      event.parallel_operators = run.parallel_operators;
      event.without_threads = run.without_threads;
      observer(context, &event);
    });
    return absl::OkStatus();
  });
}

// Models.

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
  return model == nullptr ? 0 : CountOf(model->model.states());
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

// Arrays.

KilnCode KilnArrayEmpty(const int64_t* shape, int32_t ndim, DLDataType dtype, DLDevice device,
                        KilnArray** array) {
  return Call(__func__, {{"array", array}}, [&]() -> absl::Status {
    if (ndim < 0 || (ndim > 0 && shape == nullptr)) {
      return absl::InvalidArgumentError(absl::StrCat("found a shape of ", ndim, " dimensions",
                                                     shape == nullptr ? " at NULL" : ""));
    }
    return Return(
        NDArray::Empty(absl::MakeConstSpan(shape, static_cast<size_t>(ndim)), dtype, device),
        array);
  });
}

const DLTensor* KilnArrayTensor(const KilnArray* array) {
  return array == nullptr ? nullptr : array->array.tensor();
}

KilnCode KilnArrayCopyFrom(KilnArray* array, const DLTensor* source) {
  return Call(__func__, {{"array", array}, {"source", source}},
              [&] { return array->array.CopyFrom(*source); });
}

KilnCode KilnArrayCopyTo(const KilnArray* array, DLTensor* target) {
  return Call(__func__, {{"array", array}, {"target", target}},
              [&] { return array->array.CopyTo(*target); });
}

KilnCode KilnArrayFromDLPack(DLManagedTensor* managed, KilnArray** array) {
  return Call(__func__, {{"managed", managed}, {"array", array}},
              [&] { return Return(NDArray::FromDLPack(managed), array); });
}

KilnCode KilnArrayToDLPack(const KilnArray* array, DLManagedTensor** managed) {
  return Call(__func__, {{"array", array}, {"managed", managed}}, [&] {
    *managed = array->array.ToDLPack();
    return absl::OkStatus();
  });
}

void KilnArrayFree(KilnArray* array) { delete array; }

// Executors.

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
  return executor == nullptr ? 0 : CountOf(executor->executor->states());
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

void KilnStringFree(char* text) { delete[] text; }

// The process.

KilnCode KilnSetNumThreads(int32_t num_threads) {
  return Call(__func__, {},
              [&] { return kiln::runtime::ThreadPool::Global().SetNumThreads(num_threads); });
}

int32_t KilnNumThreads() { return kiln::runtime::ThreadPool::Global().num_threads(); }

uint64_t KilnIdleWorkspaceBytes() { return kiln::runtime::IdleWorkspaceBytes(); }

uint64_t KilnTrimWorkspaces() { return kiln::runtime::TrimWorkspaces(); }

KilnCode KilnSetIdleWorkspaceLimit(uint64_t bytes) {
  return Call(__func__, {}, [&] {
    kiln::runtime::SetIdleWorkspaceLimit(bytes);
    return absl::OkStatus();
  });
}
