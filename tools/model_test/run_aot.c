// SPDX-License-Identifier: Apache-2.0
//
// Runs a model as one packed function, by name: registry, metadata and AOT executor.
#include <string.h>

#include "tools/model_test/model_case.h"
#include "tvm/runtime/crt/aot_executor.h"
#include "tvm/runtime/crt/crt.h"
#include "tvm/runtime/crt/module.h"

// Returns the runtime's error message, or `otherwise` if there is none.
static const char* Reason(const char* otherwise) {
  const char* text = TVMGetLastError();
  return text[0] != '\0' ? text : otherwise;
}

static const char* Run(const struct ModelCase* test, TVMAotExecutor* executor) {
  int error, i;
  if (TVMAotExecutor_GetNumInputs(executor) != test->num_inputs ||
      TVMAotExecutor_GetNumOutputs(executor) != test->num_outputs) {
    return "the executor has another number of inputs or outputs";
  }
  for (i = 0; i < test->num_inputs; ++i) {
    const struct ModelTensor* input = &test->inputs[i];
    const int64_t index = TVMAotExecutor_GetInputIndex(executor, input->runtime_name);
    if (index != i) return "the executor has an input of the model at another place";
    memcpy(TVMAotExecutor_GetInput(executor, index)->data, input->data, input->size_bytes);
  }
  BeginInference();
  error = TVMAotExecutor_Run(executor);
  EndInference();
  if (error != 0) return Reason("TVMAotExecutor_Run failed");
  for (i = 0; i < test->num_outputs; ++i) {
    const struct ModelTensor* output = &test->outputs[i];
    memcpy(output->data, TVMAotExecutor_GetOutput(executor, i)->data, output->size_bytes);
  }
  return NULL;
}

const char* RunModelAot(const struct ModelCase* test) {
  const DLDevice cpu = {kDLCPU, 0};
  TVMModuleHandle module;
  TVMAotExecutor* executor;
  const char* error;
  if (TVMInitializeRuntime() != kTvmErrorNoError) return Reason("TVMInitializeRuntime failed");
  if (TVMModCreateFromCModule(TVMSystemLibEntryPoint(), &module) != kTvmErrorNoError)
    return Reason("the runtime takes no module");
  if (TVMAotExecutor_Create(module, cpu, &executor, test->module_name) != kTvmErrorNoError)
    return Reason("TVMAotExecutor_Create failed");
  error = Run(test, executor);
  if (TVMAotExecutor_Release(executor, cpu) != kTvmErrorNoError && error == NULL)
    return "TVMAotExecutor_Release failed";
  return error;
}
