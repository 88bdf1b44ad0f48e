// SPDX-License-Identifier: Apache-2.0
//
// Calls a model with the C interface in a way that stays the same when the model is compiled anew:
//
//   #include <kiln/model.h>
//   #include "digits.h"
//
//   struct tvmgen_digits_inputs inputs = {.image = image};
//   struct tvmgen_digits_outputs outputs = {.probabilities = probabilities};
//   TVMContext context = {0};
//   static uint8_t sram[TVMGEN_DIGITS_WORKSPACE_SIZE_BYTES]
//       __attribute__((aligned(TVMGEN_DIGITS_WORKSPACE_ALIGNMENT_BYTES)));
//   const TVMWorkspace workspace = {sram, sizeof(sram)};
//   if (TVMSetWorkspaces(&context, &workspace, 1) != 0) …
//   if (TVMExecute(&digits, &inputs, &outputs, &context) != 0) puts(TVMGetLastError());
//
// `digits` is defined in the generated digits_model.c, and digits.h declares it where this header is
// included before. Without workspaces, or without a context,
// the model runs in static memory of its own, if it has some. A program that calls
// tvmgen_digits_run_model or the C++ interface of the header needs none of this.
#ifndef KILN_MODEL_H_
#define KILN_MODEL_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Version of these structs, the value of TVMModel.version.
#define KILN_MODEL_VERSION 1
// The most workspaces that a model has.
#define TVM_MAX_WORKSPACES 8

// What a model wants of one piece of memory.
typedef struct TVMModelMemory {
  const char* name;
  int64_t size_bytes;
  int32_t alignment_bytes;  // Of its first byte, a power of two.
} TVMModelMemory;

// A model, as constant data. Made by the compiler.
typedef struct TVMModel {
  int32_t version;               // KILN_MODEL_VERSION.
  const char* name;              // The module's.
  const TVMModelMemory* inputs;  // `num_inputs`, in the order of the struct of inputs.
  int32_t num_inputs;
  const TVMModelMemory* outputs;  // `num_outputs`.
  int32_t num_outputs;
  const TVMModelMemory* workspaces;  // `num_workspaces`.
  int32_t num_workspaces;
  int32_t num_devices;
  // Runs the model with an address for each of the above; 0 is success.
  int32_t (*run)(void* const* inputs, void* const* outputs, void* const* workspaces,
                 void* const* devices);
  // The same with static workspaces of the model's; NULL if it has none.
  int32_t (*run_static)(void* const* inputs, void* const* outputs, void* const* workspaces,
                        void* const* devices);
} TVMModel;

// Scratch memory of the application's.
typedef struct TVMWorkspace {
  void* data;
  size_t size_bytes;
} TVMWorkspace;

typedef struct TVMMemoryLayout {
  const TVMWorkspace* workspaces;  // `num_workspaces`, in the order of the model's.
  int32_t num_workspaces;          // 0: the model's static memory.
} TVMMemoryLayout;

// What a run may use besides its tensors; static, on the stack or absent. All zero: nothing.
typedef struct TVMContext {
  TVMMemoryLayout memory_layout;
  void* const* devices;  // `num_devices` pointers for the devices' hooks, in the model's order.
  int32_t num_devices;
} TVMContext;

// Gives runs with this context memory of the application's, which must live as long as the context.
// 0; kTvmErrorFunctionCallInvalidArg (crt/error_codes.h) for null pointers;
// kTvmErrorFunctionCallNumArguments for a count that no model has.
int32_t TVMSetWorkspaces(TVMContext* context, const TVMWorkspace* workspaces,
                         int32_t num_workspaces);

// Runs a model. `inputs` and `outputs` are the structs of the model's header; they may be NULL
// where the model has none; `context` may be NULL. 0 is success. Everything else leaves a text for
// TVMGetLastError; nothing is written in the case of kTvmErrorFunctionCallInvalidArg for a null
// pointer, memory that is not aligned, or a model of another version;
// kTvmErrorFunctionCallNumArguments for another number of workspaces or devices than the model's;
// kTvmErrorPlatformNoMemory for a workspace that is too small, or none where the model needs some.
// What a device's hook or a function of the application's returns is handed on as it is, and may
// leave some outputs written.
int32_t TVMExecute(const TVMModel* model, const void* inputs, const void* outputs,
                   const TVMContext* context);

// The text of the last error; "" before the first. One for the whole program.
const char* TVMGetLastError(void);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // KILN_MODEL_H_
