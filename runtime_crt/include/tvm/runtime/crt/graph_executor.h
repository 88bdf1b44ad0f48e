// SPDX-License-Identifier: Apache-2.0
//
// Runs a model call by call from its constant table (kiln/graph_table.h). It uses no heap: the
// caller provides all memory.
//
//   extern const struct GraphTable tvmgen_my_mod_graph;
//   static uint8_t memory[8192];
//   TVMGraphExecutor executor;
//   if (TVMGraphExecutor_Init(&executor, &tvmgen_my_mod_graph, 1, memory, sizeof(memory)) != 0) …
#ifndef TVM_RUNTIME_CRT_GRAPH_EXECUTOR_H_
#define TVM_RUNTIME_CRT_GRAPH_EXECUTOR_H_

#include <stddef.h>
#include <stdint.h>

#include "kiln/graph_table.h"
#include "tvm/runtime/c_runtime_api.h"
#include "tvm/runtime/crt/error_codes.h"

#ifdef __cplusplus
extern "C" {
#endif

// State of an executor. The application may read it, but only the functions below may change it.
typedef struct TVMGraphExecutor {
  const struct GraphTable* table;
  void** ports;       // Addresses of the memory of the inputs, then of the outputs.
  DLTensor* tensors;  // Arguments of one call.
  TVMValue* values;
  int* type_codes;
  uint8_t* memory;  // Memory of the intermediate tensors.
} TVMGraphExecutor;

// Returns the number of bytes that an executor needs. If `with_ports` is 0, they do not include the
// inputs and outputs, and the application must set each one with TVMGraphExecutor_SetPort before a
// run.
size_t TVMGraphExecutor_MemoryBytes(const struct GraphTable* table, int with_ports);

// Prepares an executor in `memory`, which must live as long as the executor. Returns
// kTvmErrorPlatformNoMemory if `memory_bytes` is too small, and kTvmErrorFunctionCallInvalidArg if
// the table has another version.
tvm_crt_error_t TVMGraphExecutor_Init(TVMGraphExecutor* executor, const struct GraphTable* table,
                                      int with_ports, void* memory, size_t memory_bytes);

int32_t TVMGraphExecutor_GetNumInputs(const TVMGraphExecutor* executor);
int32_t TVMGraphExecutor_GetNumOutputs(const TVMGraphExecutor* executor);
// Returns the index of the input `name`, or -1 if there is none.
int32_t TVMGraphExecutor_GetInputIndex(const TVMGraphExecutor* executor, const char* name);

// Copies a compact tensor into the input `name`. Returns kTvmErrorExecutorModuleNoSuchInput if
// there is no such input, kTvmErrorFunctionCallInvalidArg if the tensor has another type or shape
// or is not compact, and kTvmErrorExecutorModuleBadContext if the input has no memory.
tvm_crt_error_t TVMGraphExecutor_SetInput(TVMGraphExecutor* executor, const char* name,
                                          const DLTensor* tensor);
// Copies output `index` into a compact tensor of its type and shape. Returns
// kTvmErrorFunctionCallInvalidArg if there is no such output or the tensor differs from it, and
// kTvmErrorExecutorModuleBadContext if the output has no memory.
tvm_crt_error_t TVMGraphExecutor_GetOutput(const TVMGraphExecutor* executor, int32_t index,
                                           DLTensor* tensor);
// Makes `data` the memory of input `port`, or of output `port - num_inputs`. It must be aligned to
// TVM_CRT_TENSOR_ALIGNMENT_BYTES. Returns kTvmErrorFunctionCallInvalidArg if there is no such port.
tvm_crt_error_t TVMGraphExecutor_SetPort(TVMGraphExecutor* executor, int32_t port, void* data);
// Returns the memory of a port; NULL if there is no such port or it has no memory.
void* TVMGraphExecutor_GetPort(const TVMGraphExecutor* executor, int32_t port);

// Runs the model. Returns 0, kTvmErrorExecutorModuleBadContext if an input or output has no memory,
// or the result of the first operator function that failed. TVMGetLastError returns the text.
int TVMGraphExecutor_Run(TVMGraphExecutor* executor);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TVM_RUNTIME_CRT_GRAPH_EXECUTOR_H_
