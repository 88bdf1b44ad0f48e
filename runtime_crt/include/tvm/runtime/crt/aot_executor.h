// SPDX-License-Identifier: Apache-2.0
//
// Runs a model with a packed entry function, guided by its metadata. It uses no heap: the caller
// provides all memory.
//
//   static uint8_t memory[8192];
//   TVMAotExecutor executor;
//   if (TVMAotExecutor_Init(&executor, module, device, "my_mod", memory, sizeof(memory)) != 0) …
//   memcpy(TVMAotExecutor_GetInput(&executor, 0)->data, x, sizeof(x));
//   if (TVMAotExecutor_Run(&executor) != 0) puts(TVMGetLastError());
#ifndef TVM_RUNTIME_CRT_AOT_EXECUTOR_H_
#define TVM_RUNTIME_CRT_AOT_EXECUTOR_H_

#include <stddef.h>
#include <stdint.h>

#include "tvm/runtime/c_runtime_api.h"
#include "tvm/runtime/crt/error_codes.h"
#include "tvm/runtime/metadata_types.h"

#ifdef __cplusplus
extern "C" {
#endif

// State of an executor. The application may read it, but only the functions below may change it.
typedef struct TVMAotExecutor {
  const struct TVMMetadata* metadata;
  TVMModuleHandle module_handle;
  TVMFunctionHandle entry;  // The entry function of the model.
  DLDevice device;
  DLTensor* args;    // Inputs, outputs, workspace pools.
  TVMValue* values;  // One per argument: the address of its tensor in `args`.
  int* type_codes;   // One per argument.
  int64_t num_args;
} TVMAotExecutor;

// Finds the metadata of the model `module_name` in the module.
tvm_crt_error_t TVMAotExecutor_FindMetadata(TVMModuleHandle module, const char* module_name,
                                            const struct TVMMetadata** metadata);

// Returns the number of bytes that an executor of this model needs: its inputs, outputs and
// workspace pools, and their descriptions.
size_t TVMAotExecutor_MemoryBytes(const struct TVMMetadata* metadata);

// Prepares an executor in `memory`, which must live as long as the executor. `device` must be a
// CPU. Errors:
//   kTvmErrorPlatformNoMemory            `memory_bytes` is too small.
//   kTvmErrorFunctionNameNotFound        The module has no such model.
//   kTvmErrorFunctionCallInvalidArg      The device is no CPU, or the metadata has another version.
//   kTvmErrorFunctionCallNotImplemented  The model has constant pools that must be loaded.
tvm_crt_error_t TVMAotExecutor_Init(TVMAotExecutor* executor, TVMModuleHandle module,
                                    DLDevice device, const char* module_name, void* memory,
                                    size_t memory_bytes);

int64_t TVMAotExecutor_GetNumInputs(const TVMAotExecutor* executor);
int64_t TVMAotExecutor_GetNumOutputs(const TVMAotExecutor* executor);
// Returns the index of the input `name`, or -1 if there is none.
int64_t TVMAotExecutor_GetInputIndex(const TVMAotExecutor* executor, const char* name);
// Return the executor's tensor number `index`, or NULL if there is none. The caller fills an input
// before a run and reads an output after it. To avoid a copy, the caller may set `data` of the
// tensor to its own memory, aligned to TVM_CRT_TENSOR_ALIGNMENT_BYTES.
DLTensor* TVMAotExecutor_GetInput(const TVMAotExecutor* executor, int64_t index);
DLTensor* TVMAotExecutor_GetOutput(const TVMAotExecutor* executor, int64_t index);

// Runs the model. Returns 0, or the non-zero result of the entry function; TVMGetLastError returns
// the text.
int TVMAotExecutor_Run(TVMAotExecutor* executor);

// Create and release an executor whose memory comes from TVMPlatformMemoryAllocate.
tvm_crt_error_t TVMAotExecutor_Create(TVMModuleHandle module, DLDevice device,
                                      TVMAotExecutor** executor, const char* module_name);
tvm_crt_error_t TVMAotExecutor_Release(TVMAotExecutor* executor, DLDevice device);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TVM_RUNTIME_CRT_AOT_EXECUTOR_H_
