// SPDX-License-Identifier: Apache-2.0
//
// Runs a model whose entry function is packed, from its metadata. No heap: all memory is the
// caller's.
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

// The application may read it; only these functions change it.
typedef struct TVMAotExecutor {
  const struct TVMMetadata* metadata;
  TVMModuleHandle module_handle;
  TVMFunctionHandle entry;  // The entry function.
  DLDevice device;
  DLTensor* args;    // Inputs, outputs, workspace pools.
  TVMValue* values;  // One per argument: its address in `args`.
  int* type_codes;   // One per argument.
  int64_t num_args;
} TVMAotExecutor;

// Metadata of the model `module_name`, which must be in the module.
tvm_crt_error_t TVMAotExecutor_FindMetadata(TVMModuleHandle module, const char* module_name,
                                            const struct TVMMetadata** metadata);

// Bytes of memory that an executor of this model takes: tensors of inputs and outputs, workspace
// pools, and what describes them.
size_t TVMAotExecutor_MemoryBytes(const struct TVMMetadata* metadata);

// Only the CPU is there. kTvmErrorPlatformNoMemory if `memory_bytes` is too little,
// kTvmErrorFunctionNameNotFound if the module has no such model, kTvmErrorFunctionCallInvalidArg
// for another device or metadata of another version. `memory` lives as long as the executor.
tvm_crt_error_t TVMAotExecutor_Init(TVMAotExecutor* executor, TVMModuleHandle module,
                                    DLDevice device, const char* module_name, void* memory,
                                    size_t memory_bytes);

int64_t TVMAotExecutor_GetNumInputs(const TVMAotExecutor* executor);
int64_t TVMAotExecutor_GetNumOutputs(const TVMAotExecutor* executor);
// -1 if there is no such input.
int64_t TVMAotExecutor_GetInputIndex(const TVMAotExecutor* executor, const char* name);
// The executor's tensor, to be filled before, or read after a run; NULL if there is none. A caller
// that sets its `data` to memory of its own, aligned to TVM_CRT_TENSOR_ALIGNMENT_BYTES, saves the
// copy.
DLTensor* TVMAotExecutor_GetInput(const TVMAotExecutor* executor, int64_t index);
DLTensor* TVMAotExecutor_GetOutput(const TVMAotExecutor* executor, int64_t index);

// 0, or what the entry function returned; the text comes from TVMGetLastError.
int TVMAotExecutor_Run(TVMAotExecutor* executor);

// The form with memory from TVMPlatformMemoryAllocate.
tvm_crt_error_t TVMAotExecutor_Create(TVMModuleHandle module, DLDevice device,
                                      TVMAotExecutor** executor, const char* module_name);
tvm_crt_error_t TVMAotExecutor_Release(TVMAotExecutor* executor, DLDevice device);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TVM_RUNTIME_CRT_AOT_EXECUTOR_H_
