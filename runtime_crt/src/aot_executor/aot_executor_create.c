// SPDX-License-Identifier: Apache-2.0
//
// Creates an AOT executor in memory of the platform.
#include <stdint.h>

#include "../common/fail.h"
#include "tvm/runtime/crt/aot_executor.h"
#include "tvm/runtime/crt/platform.h"

tvm_crt_error_t TVMAotExecutor_Create(TVMModuleHandle module, DLDevice device,
                                      TVMAotExecutor** executor, const char* module_name) {
  const struct TVMMetadata* metadata;
  void* memory;
  size_t bytes;
  tvm_crt_error_t error = TVMAotExecutor_FindMetadata(module, module_name, &metadata);
  if (error != kTvmErrorNoError) return error;
  bytes = TVMAotExecutor_MemoryBytes(metadata);
  error = bytes > SIZE_MAX - sizeof(TVMAotExecutor)
              ? kTvmErrorPlatformNoMemory
              : TVMPlatformMemoryAllocate(sizeof(TVMAotExecutor) + bytes, device, &memory);
  if (error != kTvmErrorNoError) {
    return FAIL(error, "the platform has no memory on the device for the executor");
  }
  error = TVMAotExecutor_Init((TVMAotExecutor*)memory, module, device, module_name,
                              (uint8_t*)memory + sizeof(TVMAotExecutor), bytes);
  if (error != kTvmErrorNoError) {
    (void)TVMPlatformMemoryFree(memory, device);
    return error;
  }
  *executor = (TVMAotExecutor*)memory;
  return kTvmErrorNoError;
}

tvm_crt_error_t TVMAotExecutor_Release(TVMAotExecutor* executor, DLDevice device) {
  return TVMPlatformMemoryFree(executor, device);
}
