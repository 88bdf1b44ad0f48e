// SPDX-License-Identifier: Apache-2.0
//
// Runs a model call by call from its constant table.
#include <string.h>

#include "tools/model_test/model_case.h"
#include "tvm/runtime/crt/graph_executor.h"
#include "tvm/runtime/crt/platform.h"

static const char* Reason(const char* otherwise) {
  const char* text = TVMGetLastError();
  return text[0] != '\0' ? text : otherwise;
}

static const char* Run(const struct ModelCase* test, void* memory, size_t memory_bytes) {
  TVMGraphExecutor executor;
  int error, i;
  if (TVMGraphExecutor_Init(&executor, test->graph, 1, memory, memory_bytes) != kTvmErrorNoError) {
    return Reason("TVMGraphExecutor_Init failed");
  }
  if (TVMGraphExecutor_GetNumInputs(&executor) != test->num_inputs ||
      TVMGraphExecutor_GetNumOutputs(&executor) != test->num_outputs) {
    return "the executor has another number of inputs or outputs";
  }
  for (i = 0; i < test->num_inputs; ++i) {
    const struct ModelTensor* input = &test->inputs[i];
    if (TVMGraphExecutor_GetInputIndex(&executor, input->name) != i)
      return "the executor has an input of the model at another place";
    memcpy(TVMGraphExecutor_GetPort(&executor, i), input->data, input->size_bytes);
  }
  BeginInference();
  error = TVMGraphExecutor_Run(&executor);
  EndInference();
  if (error != 0) return Reason("TVMGraphExecutor_Run failed");
  for (i = 0; i < test->num_outputs; ++i) {
    const struct ModelTensor* output = &test->outputs[i];
    memcpy(output->data, TVMGraphExecutor_GetPort(&executor, test->num_inputs + i),
           output->size_bytes);
  }
  return NULL;
}

const char* RunModelGraph(const struct ModelCase* test) {
  const DLDevice cpu = {kDLCPU, 0};
  const size_t memory_bytes = TVMGraphExecutor_MemoryBytes(test->graph, 1);
  const char* error;
  void* memory;
  if (TVMPlatformMemoryAllocate(memory_bytes, cpu, &memory) != kTvmErrorNoError)
    return "there is too little memory for the model";
  error = Run(test, memory, memory_bytes);
  if (TVMPlatformMemoryFree(memory, cpu) != kTvmErrorNoError && error == NULL)
    return "TVMPlatformMemoryFree failed";
  return error;
}
