// SPDX-License-Identifier: Apache-2.0
#include "kiln/model.h"

#include <string.h>

#include "../common/fail.h"

// FAIL_AT prefixes the text with the name of the wrong memory. A long name is truncated.
#if TVM_CRT_ERROR_TEXT_BYTES > 0
#define MAX_TEXT_BYTES 96
static int32_t FailAt(tvm_crt_error_t code, const char* name, const char* text) {
  char message[MAX_TEXT_BYTES];
  const size_t text_bytes = strlen(text) + 1;
  size_t length = strlen(name);
  if (length > sizeof(message) - text_bytes) length = sizeof(message) - text_bytes;
  memcpy(message, name, length);
  memcpy(message + length, text, text_bytes);
  return (int32_t)FAIL(code, message);
}
#define FAIL_AT(code, name, text) FailAt((code), (name), (text))
#else
#define FAIL_AT(code, name, text) ((int32_t)(code))
#endif

static int IsAligned(const void* data, int32_t alignment_bytes) {
  return ((uintptr_t)data & (uintptr_t)(alignment_bytes - 1)) == 0;
}

// Checks that `count` pieces of memory meet the model's requirements.
static int32_t CheckTensors(const TVMModelMemory* wanted, int32_t count, void* const* given) {
  int32_t i;
  for (i = 0; i < count; ++i) {
    if (given == NULL || (given[i] == NULL && wanted[i].size_bytes > 0)) {
      return FAIL_AT(kTvmErrorFunctionCallInvalidArg, wanted[i].name, ": the tensor is null");
    }
    if (wanted[i].size_bytes > 0 && !IsAligned(given[i], wanted[i].alignment_bytes)) {
      return FAIL_AT(kTvmErrorFunctionCallInvalidArg, wanted[i].name,
                     ": the tensor is not aligned as its type");
    }
  }
  return 0;
}

// Stores the addresses of the workspaces if they meet the model's requirements.
static int32_t TakeWorkspaces(const TVMModel* model, const TVMMemoryLayout* layout,
                              void* addresses[TVM_MAX_WORKSPACES]) {
  int32_t i;
  if (layout->num_workspaces != model->num_workspaces ||
      model->num_workspaces > TVM_MAX_WORKSPACES) {
    return (int32_t)FAIL(kTvmErrorFunctionCallNumArguments,
                         "the context has another number of workspaces than the model");
  }
  if (layout->workspaces == NULL) {
    return (int32_t)FAIL(kTvmErrorFunctionCallInvalidArg, "the context's workspaces are null");
  }
  for (i = 0; i < model->num_workspaces; ++i) {
    const TVMWorkspace* given = &layout->workspaces[i];
    const TVMModelMemory* wanted = &model->workspaces[i];
    addresses[i] = given->data;
    if (wanted->size_bytes == 0) continue;
    if (given->data == NULL) {
      return FAIL_AT(kTvmErrorFunctionCallInvalidArg, wanted->name, ": the workspace is null");
    }
    if ((uint64_t)given->size_bytes < (uint64_t)wanted->size_bytes) {
      return FAIL_AT(kTvmErrorPlatformNoMemory, wanted->name,
                     ": the workspace is smaller than the header's size");
    }
    if (!IsAligned(given->data, wanted->alignment_bytes)) {
      return FAIL_AT(kTvmErrorFunctionCallInvalidArg, wanted->name,
                     ": the workspace is not aligned to the header's alignment");
    }
  }
  return 0;
}

int32_t TVMSetWorkspaces(TVMContext* context, const TVMWorkspace* workspaces,
                         int32_t num_workspaces) {
  if (context == NULL || (workspaces == NULL && num_workspaces > 0)) {
    return (int32_t)FAIL(kTvmErrorFunctionCallInvalidArg, "the context or its workspaces are null");
  }
  if (num_workspaces < 0 || num_workspaces > TVM_MAX_WORKSPACES) {
    return (int32_t)FAIL(kTvmErrorFunctionCallNumArguments,
                         "no model has that number of workspaces");
  }
  context->memory_layout.workspaces = workspaces;
  context->memory_layout.num_workspaces = num_workspaces;
  return 0;
}

// Handles the result of the model's function. Sets a text for an error that has none: functions of
// the application set none, and the text of an older error would be misleading.
static int32_t Finish(const TVMModel* model, int32_t error) {
  (void)model;  // unused if there are no texts
  if (error == 0 || TVMGetLastError()[0] != '\0') return error;
  (void)FAIL_AT(kTvmErrorNoError, model->name,
                ": a hook of a device or a function of the application's failed");
  return error;
}

int32_t TVMExecute(const TVMModel* model, const void* inputs, const void* outputs,
                   const TVMContext* context) {
  // The structs of tensors consist of pointers only.
  void* const* const input_addresses = (void* const*)inputs;
  void* const* const output_addresses = (void* const*)outputs;
  void* workspaces[TVM_MAX_WORKSPACES];
  int32_t error;
  if (model == NULL) return (int32_t)FAIL(kTvmErrorFunctionCallInvalidArg, "the model is null");
  if (model->version != KILN_MODEL_VERSION) {
    return (int32_t)FAIL(kTvmErrorFunctionCallInvalidArg, "the model is of another version");
  }
  error = CheckTensors(model->inputs, model->num_inputs, input_addresses);
  if (error != 0) return error;
  error = CheckTensors(model->outputs, model->num_outputs, output_addresses);
  if (error != 0) return error;
  if ((context == NULL ? 0 : context->num_devices) != model->num_devices) {
    return (int32_t)FAIL(kTvmErrorFunctionCallNumArguments,
                         "the context has another number of devices than the model");
  }
  if (model->num_devices > 0 && context->devices == NULL) {
    return (int32_t)FAIL(kTvmErrorFunctionCallInvalidArg, "the context's devices are null");
  }
  if (context == NULL || context->memory_layout.num_workspaces == 0) {
    if (model->num_workspaces > 0 && model->run_static == NULL) {
      return (int32_t)FAIL(kTvmErrorPlatformNoMemory,
                           "the model needs workspaces: TVMSetWorkspaces");
    }
    TVMAPISetLastError("");
    return Finish(model, (model->run_static != NULL ? model->run_static : model->run)(
                             input_addresses, output_addresses, NULL,
                             context == NULL ? NULL : context->devices));
  }
  error = TakeWorkspaces(model, &context->memory_layout, workspaces);
  if (error != 0) return error;
  TVMAPISetLastError("");
  return Finish(model, model->run(input_addresses, output_addresses, workspaces, context->devices));
}
