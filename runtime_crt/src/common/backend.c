// SPDX-License-Identifier: Apache-2.0
//
// Backend functions for generated code: one thread, memory from the platform.
#include "tvm/runtime/c_backend_api.h"
#include "tvm/runtime/crt/platform.h"

void* TVMBackendAllocWorkspace(int device_type, int device_id, uint64_t nbytes, int dtype_code_hint,
                               int dtype_bits_hint) {
  const DLDevice device = {(DLDeviceTypeCode)device_type, device_id};
  void* memory = NULL;
  (void)dtype_code_hint;
  (void)dtype_bits_hint;
  if (nbytes > (uint64_t)(SIZE_MAX / 2)) return NULL;
  if (TVMPlatformMemoryAllocate((size_t)nbytes, device, &memory) != kTvmErrorNoError) return NULL;
  return memory;
}

int TVMBackendFreeWorkspace(int device_type, int device_id, void* ptr) {
  const DLDevice device = {(DLDeviceTypeCode)device_type, device_id};
  return (int)TVMPlatformMemoryFree(ptr, device);
}

int TVMBackendParallelLaunch(FTVMParallelLambda flambda, void* cdata, int num_task) {
  TVMParallelGroupEnv env;
  (void)num_task;
  env.sync_handle = NULL;
  env.num_task = 1;
  return flambda(0, &env, cdata) == 0 ? 0 : -1;
}

int TVMBackendParallelBarrier(int task_id, TVMParallelGroupEnv* penv) {
  (void)task_id;
  // A single task has no other task to wait for.
  return penv->num_task == 1 ? 0 : -1;
}

int TVMBackendRunOnce(void** handle, int (*f)(void*), void* cdata, int nbytes) {
  int result;
  (void)nbytes;
  if (*handle != NULL) return 0;
  result = f(cdata);
  if (result == 0) *handle = (void*)handle;
  return result;
}
