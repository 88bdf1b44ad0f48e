// SPDX-License-Identifier: Apache-2.0
//
// Common parts of the two hand-written models of this folder: the parts that the compiler puts into
// every library, and operator functions on small float tensors.
#ifndef KILN_RUNTIME_CPP_TESTDATA_ADD_MODEL_H_
#define KILN_RUNTIME_CPP_TESTDATA_ADD_MODEL_H_

#include <stddef.h>

#include "kiln/metadata.h"
#include "tvm/runtime/c_backend_api.h"

#define EXPORT __attribute__((visibility("default")))

// Marks an array of characters without a terminating NUL. Newer compilers warn about it otherwise.
#if __has_attribute(nonstring)
#define UNTERMINATED __attribute__((nonstring))
#else
#define UNTERMINATED
#endif

// Set by the runtime that loads the library.
EXPORT void* __tvm_module_ctx = NULL;
EXPORT int (*__TVMBackendParallelLaunch)(FTVMParallelLambda, void*, int) = NULL;
EXPORT void* (*__TVMBackendAllocWorkspace)(int, int, uint64_t, int, int) = NULL;
EXPORT int (*__TVMBackendFreeWorkspace)(int, int, void*) = NULL;
EXPORT void (*__TVMAPISetLastError)(const char*) = NULL;

struct AddTask {
  const float* a;
  const float* b;
  float* sum;
};

// Each task adds its part of the 4 elements.
static int AddPart(int task_id, TVMParallelGroupEnv* env, void* data) {
  const struct AddTask* task = (const struct AddTask*)data;
  const int begin = 4 * task_id / env->num_task;
  const int end = 4 * (task_id + 1) / env->num_task;
  for (int i = begin; i < end; ++i) task->sum[i] = task->a[i] + task->b[i];
  return 0;
}

static int Add4(const float* a, const float* b, float* sum) {
  struct AddTask task = {a, b, sum};
  return __TVMBackendParallelLaunch(AddPart, &task, 0);
}

static float* DataOf(TVMValue value) { return (float*)((DLTensor*)value.v_handle)->data; }

#endif  // KILN_RUNTIME_CPP_TESTDATA_ADD_MODEL_H_
