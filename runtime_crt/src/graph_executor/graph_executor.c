// SPDX-License-Identifier: Apache-2.0
#include "tvm/runtime/crt/graph_executor.h"

#include <string.h>

#include "../common/fail.h"
#include "tvm/runtime/crt/crt_config.h"

#define TENSOR_ALIGNMENT ((size_t)TVM_CRT_TENSOR_ALIGNMENT_BYTES)

static size_t RoundUp(size_t bytes) {
  return (bytes + TENSOR_ALIGNMENT - 1) / TENSOR_ALIGNMENT * TENSOR_ALIGNMENT;
}

static uint8_t* Aligned(uint8_t* p) {
  return p + (RoundUp((size_t)(uintptr_t)p) - (size_t)(uintptr_t)p);
}

static int32_t NumPorts(const struct GraphTable* table) {
  return table->num_inputs + table->num_outputs;
}

size_t TVMGraphExecutor_MemoryBytes(const struct GraphTable* table, int with_ports) {
  // The caller's memory may be unaligned.
  size_t bytes = 2 * TENSOR_ALIGNMENT + RoundUp((size_t)table->memory_bytes);
  int32_t i;
  bytes += (size_t)table->max_args * (sizeof(DLTensor) + sizeof(TVMValue) + sizeof(int));
  bytes += (size_t)NumPorts(table) * sizeof(void*);
  for (i = 0; with_ports && i < NumPorts(table); ++i) {
    bytes += RoundUp((size_t)table->ports[i].size_bytes);
  }
  return bytes;
}

tvm_crt_error_t TVMGraphExecutor_Init(TVMGraphExecutor* executor, const struct GraphTable* table,
                                      int with_ports, void* memory, size_t memory_bytes) {
  uint8_t* next = Aligned((uint8_t*)memory);
  int32_t i;
  memset(executor, 0, sizeof(*executor));
  if (table->version != KILN_GRAPH_TABLE_VERSION) {
    return FAIL(kTvmErrorFunctionCallInvalidArg, "the graph is of another version");
  }
  if (memory_bytes < TVMGraphExecutor_MemoryBytes(table, with_ports)) {
    return FAIL(kTvmErrorPlatformNoMemory, "too little memory for the model's tensors");
  }
  executor->table = table;
  executor->tensors = (DLTensor*)(void*)next;
  next += (size_t)table->max_args * sizeof(DLTensor);
  executor->values = (TVMValue*)(void*)next;
  next += (size_t)table->max_args * sizeof(TVMValue);
  executor->ports = (void**)(void*)next;
  next += (size_t)NumPorts(table) * sizeof(void*);
  executor->type_codes = (int*)(void*)next;
  next += (size_t)table->max_args * sizeof(int);
  next = Aligned(next);
  executor->memory = next;
  next += RoundUp((size_t)table->memory_bytes);
  for (i = 0; i < NumPorts(table); ++i) {
    executor->ports[i] = with_ports ? next : NULL;
    next += RoundUp((size_t)table->ports[i].size_bytes);
  }
  return kTvmErrorNoError;
}

int32_t TVMGraphExecutor_GetNumInputs(const TVMGraphExecutor* executor) {
  return executor->table->num_inputs;
}

int32_t TVMGraphExecutor_GetNumOutputs(const TVMGraphExecutor* executor) {
  return executor->table->num_outputs;
}

int32_t TVMGraphExecutor_GetInputIndex(const TVMGraphExecutor* executor, const char* name) {
  int32_t i;
  for (i = 0; i < executor->table->num_inputs; ++i) {
    if (strcmp(executor->table->ports[i].name, name) == 0) return i;
  }
  return -1;
}

// True if `tensor` is compact and has the type and shape of the port.
static int IsLike(const TVMGraphExecutor* executor, int32_t port, const DLTensor* tensor) {
  const struct GraphTensor* wanted = &executor->table->tensors[executor->table->ports[port].tensor];
  int64_t stride = 1;
  int32_t i;
  if (tensor->ndim != wanted->ndim || tensor->dtype.code != wanted->dtype.code ||
      tensor->dtype.bits != wanted->dtype.bits || tensor->dtype.lanes != wanted->dtype.lanes) {
    return 0;
  }
  for (i = tensor->ndim - 1; i >= 0; --i) {
    if (tensor->shape[i] != wanted->shape[i]) return 0;
    if (tensor->strides != NULL && tensor->shape[i] != 1 && tensor->strides[i] != stride) return 0;
    stride *= tensor->shape[i];
  }
  return 1;
}

tvm_crt_error_t TVMGraphExecutor_SetInput(TVMGraphExecutor* executor, const char* name,
                                          const DLTensor* tensor) {
  const int32_t port = TVMGraphExecutor_GetInputIndex(executor, name);
  if (port < 0) return FAIL(kTvmErrorExecutorModuleNoSuchInput, "the model has no such input");
  if (!IsLike(executor, port, tensor)) {
    return FAIL(kTvmErrorFunctionCallInvalidArg,
                "the tensor has another type or shape than the input, or is not compact");
  }
  if (executor->ports[port] == NULL) {
    return FAIL(kTvmErrorExecutorModuleBadContext, "the input has no memory");
  }
  memcpy(executor->ports[port], (const char*)tensor->data + tensor->byte_offset,
         (size_t)executor->table->ports[port].size_bytes);
  return kTvmErrorNoError;
}

tvm_crt_error_t TVMGraphExecutor_GetOutput(const TVMGraphExecutor* executor, int32_t index,
                                           DLTensor* tensor) {
  const int32_t port = executor->table->num_inputs + index;
  if (index < 0 || index >= executor->table->num_outputs) {
    return FAIL(kTvmErrorFunctionCallInvalidArg, "the model has no such output");
  }
  if (!IsLike(executor, port, tensor)) {
    return FAIL(kTvmErrorFunctionCallInvalidArg,
                "the tensor has another type or shape than the output, or is not compact");
  }
  if (executor->ports[port] == NULL) {
    return FAIL(kTvmErrorExecutorModuleBadContext, "the output has no memory");
  }
  memcpy((char*)tensor->data + tensor->byte_offset, executor->ports[port],
         (size_t)executor->table->ports[port].size_bytes);
  return kTvmErrorNoError;
}

tvm_crt_error_t TVMGraphExecutor_SetPort(TVMGraphExecutor* executor, int32_t port, void* data) {
  if (port < 0 || port >= NumPorts(executor->table)) {
    return FAIL(kTvmErrorFunctionCallInvalidArg, "the model has no such input or output");
  }
  executor->ports[port] = data;
  return kTvmErrorNoError;
}

void* TVMGraphExecutor_GetPort(const TVMGraphExecutor* executor, int32_t port) {
  return port < 0 || port >= NumPorts(executor->table) ? NULL : executor->ports[port];
}

// Fills in argument `slot` of a call.
static void FillArgument(TVMGraphExecutor* executor, int32_t slot,
                         const struct GraphTensor* source) {
  DLTensor* tensor = &executor->tensors[slot];
  tensor->data = source->io >= 0 ? executor->ports[source->io]
                                 : (void*)(executor->memory + source->offset_bytes);
  tensor->device.device_type = kDLCPU;
  tensor->device.device_id = 0;
  tensor->ndim = source->ndim;
  tensor->dtype = source->dtype;
  // DLTensor.shape is not const, but nothing writes to it here.
  memcpy(&tensor->shape, &source->shape, sizeof(tensor->shape));
  tensor->strides = NULL;
  tensor->byte_offset = 0;
  executor->values[slot].v_handle = tensor;
  executor->type_codes[slot] = kTVMDLTensorHandle;
}

int TVMGraphExecutor_Run(TVMGraphExecutor* executor) {
  const struct GraphTable* table = executor->table;
  int32_t c, i;
  for (i = 0; i < NumPorts(table); ++i) {
    if (executor->ports[i] == NULL && table->ports[i].size_bytes > 0) {
      return (int)FAIL(kTvmErrorExecutorModuleBadContext, "an input or output has no memory");
    }
  }
  for (c = 0; c < table->num_calls; ++c) {
    const struct GraphCall* call = &table->calls[c];
    TVMValue result;
    int type_code = kTVMNullptr;
    int error;
    result.v_int64 = 0;
    for (i = 0; i < call->num_args; ++i) {
      FillArgument(executor, i, &table->tensors[call->args[i]]);
    }
    error = call->function(executor->values, executor->type_codes, call->num_args, &result,
                           &type_code, NULL);
    if (error != 0) return error;
  }
  return 0;
}
