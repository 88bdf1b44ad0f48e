// SPDX-License-Identifier: Apache-2.0
#include "tvm/runtime/crt/aot_executor.h"

#include <stdint.h>
#include <string.h>

#include "../common/fail.h"
#include "tvm/runtime/crt/crt_config.h"

#define TENSOR_ALIGNMENT ((size_t)TVM_CRT_TENSOR_ALIGNMENT_BYTES)
// Maximum length of a model's name, as in the compiler, and size of a function name made from it.
#define MAX_MODEL_NAME 128
#define FUNCTION_NAME_BYTES (sizeof("tvmgen_") - 1 + MAX_MODEL_NAME + sizeof("_get_c_metadata"))

// Saturates at SIZE_MAX.
static size_t Add(size_t a, size_t b) { return a > SIZE_MAX - b ? SIZE_MAX : a + b; }

// Rounds up to a multiple of TENSOR_ALIGNMENT; SIZE_MAX if there is none.
static size_t RoundUp(size_t bytes) {
  if (bytes > SIZE_MAX - TENSOR_ALIGNMENT) return SIZE_MAX;
  return (bytes + TENSOR_ALIGNMENT - 1) / TENSOR_ALIGNMENT * TENSOR_ALIGNMENT;
}

static int64_t NumArgs(const struct TVMMetadata* metadata) {
  return metadata->num_inputs + metadata->num_outputs + metadata->num_workspace_pools;
}

static const struct TVMTensorInfo* InfoOf(const struct TVMMetadata* metadata, int64_t arg) {
  if (arg < metadata->num_inputs) return &metadata->inputs[arg];
  arg -= metadata->num_inputs;
  if (arg < metadata->num_outputs) return &metadata->outputs[arg];
  return &metadata->workspace_pools[arg - metadata->num_outputs];
}

// Returns the size of the tensor, or SIZE_MAX if it exceeds the address space.
static size_t DataBytes(const struct TVMTensorInfo* info) {
  size_t bytes = ((size_t)info->dtype.bits * info->dtype.lanes + 7) / 8;
  int64_t i;
  for (i = 0; i < info->num_shape; ++i) {
    if (info->shape[i] == 0) return 0;
  }
  for (i = 0; i < info->num_shape; ++i) {
    if (info->shape[i] < 0 || (uint64_t)info->shape[i] > SIZE_MAX / bytes) return SIZE_MAX;
    bytes *= (size_t)info->shape[i];
  }
  return bytes;
}

// Writes the three texts one after the other. Returns 0 if they do not fit into `size` bytes.
static int Join(char* out, size_t size, const char* a, const char* b, const char* c) {
  const size_t a_size = strlen(a), b_size = strlen(b), c_size = strlen(c);
  if (a_size >= size || b_size >= size - a_size || c_size >= size - a_size - b_size) return 0;
  memcpy(out, a, a_size);
  memcpy(out + a_size, b, b_size);
  memcpy(out + a_size + b_size, c, c_size + 1);
  return 1;
}

tvm_crt_error_t TVMAotExecutor_FindMetadata(TVMModuleHandle module, const char* module_name,
                                            const struct TVMMetadata** metadata) {
  char name[FUNCTION_NAME_BYTES];
  TVMFunctionHandle getter;
  TVMValue result;
  int type_code = kTVMNullptr;
  int error;
  if (!Join(name, sizeof(name), "tvmgen_", module_name, "_get_c_metadata")) {
    return FAIL(kTvmErrorFunctionNameNotFound, "the name of the model is too long");
  }
  error = TVMModGetFunction(module, name, 0, &getter);
  if (error != 0) return FAIL((tvm_crt_error_t)error, "the module has no metadata of that model");
  error = TVMFuncCall(getter, NULL, NULL, 0, &result, &type_code);
  if (error != 0) return (tvm_crt_error_t)error;
  if (type_code != kTVMOpaqueHandle) {
    return FAIL(kTvmErrorFunctionCallWrongArgType, "the function for metadata returns none");
  }
  *metadata = (const struct TVMMetadata*)result.v_handle;
  if ((*metadata)->version != TVM_METADATA_VERSION) {
    return FAIL(kTvmErrorFunctionCallInvalidArg, "the metadata is of another version");
  }
  return kTvmErrorNoError;
}

size_t TVMAotExecutor_MemoryBytes(const struct TVMMetadata* metadata) {
  const int64_t num_args = NumArgs(metadata);
  // The caller's memory may be unaligned.
  size_t bytes = 2 * TENSOR_ALIGNMENT;
  int64_t i;
  bytes += (size_t)num_args * (sizeof(DLTensor) + sizeof(TVMValue) + sizeof(int));
  for (i = 0; i < num_args; ++i) {
    bytes = Add(bytes, RoundUp(DataBytes(InfoOf(metadata, i))));
  }
  return bytes;
}

// Fills in every argument and gives it a part of `memory`, which is large enough.
static void PlaceArguments(TVMAotExecutor* executor, void* memory) {
  const int64_t num_args = executor->num_args;
  uint8_t* next = (uint8_t*)memory;
  int64_t i;
  next += RoundUp((size_t)(uintptr_t)next) - (size_t)(uintptr_t)next;
  executor->args = (DLTensor*)(void*)next;
  next += (size_t)num_args * sizeof(DLTensor);
  executor->values = (TVMValue*)(void*)next;
  next += (size_t)num_args * sizeof(TVMValue);
  executor->type_codes = (int*)(void*)next;
  next += (size_t)num_args * sizeof(int);
  next += RoundUp((size_t)(uintptr_t)next) - (size_t)(uintptr_t)next;
  for (i = 0; i < num_args; ++i) {
    const struct TVMTensorInfo* info = InfoOf(executor->metadata, i);
    DLTensor* tensor = &executor->args[i];
    tensor->data = next;
    tensor->device = executor->device;
    tensor->ndim = (int32_t)info->num_shape;
    tensor->dtype = info->dtype;
    // DLTensor.shape is not const, but nothing writes to it here.
    memcpy(&tensor->shape, &info->shape, sizeof(tensor->shape));
    tensor->strides = NULL;
    tensor->byte_offset = 0;
    executor->values[i].v_handle = tensor;
    executor->type_codes[i] = kTVMDLTensorHandle;
    next += RoundUp(DataBytes(info));
  }
}

tvm_crt_error_t TVMAotExecutor_Init(TVMAotExecutor* executor, TVMModuleHandle module,
                                    DLDevice device, const char* module_name, void* memory,
                                    size_t memory_bytes) {
  char entry[FUNCTION_NAME_BYTES];
  size_t wanted_bytes;
  int error;
  memset(executor, 0, sizeof(*executor));
  if (device.device_type != kDLCPU) {
    return FAIL(kTvmErrorFunctionCallInvalidArg, "the C runtime has no device but the CPU");
  }
  error = (int)TVMAotExecutor_FindMetadata(module, module_name, &executor->metadata);
  if (error != 0) return (tvm_crt_error_t)error;
  if (executor->metadata->num_constant_pools != 0) {
    return FAIL(kTvmErrorFunctionCallNotImplemented, "the model wants constant pools to be loaded");
  }
  if (!Join(entry, sizeof(entry), executor->metadata->mod_name, "___tvm_main__", "")) {
    return FAIL(kTvmErrorFunctionNameNotFound, "the name of the model is too long");
  }
  error = TVMModGetFunction(module, entry, 0, &executor->entry);
  if (error != 0) return FAIL((tvm_crt_error_t)error, "the module has no entry function");
  wanted_bytes = TVMAotExecutor_MemoryBytes(executor->metadata);
  if (memory_bytes < wanted_bytes || wanted_bytes == SIZE_MAX) {
    return FAIL(kTvmErrorPlatformNoMemory, "too little memory for the model's tensors");
  }
  executor->module_handle = module;
  executor->device = device;
  executor->num_args = NumArgs(executor->metadata);
  PlaceArguments(executor, memory);
  return kTvmErrorNoError;
}

int64_t TVMAotExecutor_GetNumInputs(const TVMAotExecutor* executor) {
  return executor->metadata->num_inputs;
}

int64_t TVMAotExecutor_GetNumOutputs(const TVMAotExecutor* executor) {
  return executor->metadata->num_outputs;
}

int64_t TVMAotExecutor_GetInputIndex(const TVMAotExecutor* executor, const char* name) {
  int64_t i;
  for (i = 0; i < executor->metadata->num_inputs; ++i) {
    if (strcmp(executor->metadata->inputs[i].name, name) == 0) return i;
  }
  return -1;
}

DLTensor* TVMAotExecutor_GetInput(const TVMAotExecutor* executor, int64_t index) {
  if (index < 0 || index >= executor->metadata->num_inputs) return NULL;
  return &executor->args[index];
}

DLTensor* TVMAotExecutor_GetOutput(const TVMAotExecutor* executor, int64_t index) {
  if (index < 0 || index >= executor->metadata->num_outputs) return NULL;
  return &executor->args[executor->metadata->num_inputs + index];
}

int TVMAotExecutor_Run(TVMAotExecutor* executor) {
  TVMValue result;
  int type_code = kTVMNullptr;
  result.v_int64 = 0;
  return TVMFuncCall(executor->entry, executor->values, executor->type_codes,
                     (int)executor->num_args, &result, &type_code);
}
