// SPDX-License-Identifier: Apache-2.0
//
// Runs a model call by call from its constant table (kiln/graph_table.h). No heap: all memory is
// the caller's.
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

// The application may read it; only these functions change it.
typedef struct TVMGraphExecutor {
  const struct GraphTable* table;
  void** ports;       // Memory of every input and output.
  DLTensor* tensors;  // For the arguments of one call.
  TVMValue* values;
  int* type_codes;
  uint8_t* memory;  // Of intermediate tensors.
} TVMGraphExecutor;

// Bytes of memory that an executor takes; with `with_ports` 0, inputs and outputs are not among
// them, and the application sets each by TVMGraphExecutor_SetPort before it runs.
size_t TVMGraphExecutor_MemoryBytes(const struct GraphTable* table, int with_ports);

// kTvmErrorPlatformNoMemory if `memory_bytes` is too little; kTvmErrorFunctionCallInvalidArg for a
// table of another version.
tvm_crt_error_t TVMGraphExecutor_Init(TVMGraphExecutor* executor, const struct GraphTable* table,
                                      int with_ports, void* memory, size_t memory_bytes);

int32_t TVMGraphExecutor_GetNumInputs(const TVMGraphExecutor* executor);
int32_t TVMGraphExecutor_GetNumOutputs(const TVMGraphExecutor* executor);
// -1 if there is no such input.
int32_t TVMGraphExecutor_GetInputIndex(const TVMGraphExecutor* executor, const char* name);

// Copies a compact tensor of the input's size into it. kTvmErrorExecutorModuleNoSuchInput,
// kTvmErrorFunctionCallInvalidArg.
tvm_crt_error_t TVMGraphExecutor_SetInput(TVMGraphExecutor* executor, const char* name,
                                          const DLTensor* tensor);
// Copies an output into a compact tensor of its size.
tvm_crt_error_t TVMGraphExecutor_GetOutput(const TVMGraphExecutor* executor, int32_t index,
                                           DLTensor* tensor);
// Makes `data`, aligned to TVM_CRT_TENSOR_ALIGNMENT_BYTES, the memory of input `port`, or of output
// `port - num_inputs`.
tvm_crt_error_t TVMGraphExecutor_SetPort(TVMGraphExecutor* executor, int32_t port, void* data);
// That memory; NULL if there is no such port, or it has none.
void* TVMGraphExecutor_GetPort(const TVMGraphExecutor* executor, int32_t port);

// 0, or what the first failing operator function returned; the text comes from TVMGetLastError.
int TVMGraphExecutor_Run(TVMGraphExecutor* executor);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TVM_RUNTIME_CRT_GRAPH_EXECUTOR_H_
