/* SPDX-License-Identifier: Apache-2.0
 *
 * The hooks of crt/platform.h without a heap. The stack allocator hands out the RAM that static
 * data leave. There is no clock.
 */
#include "tvm/runtime/crt/platform.h"

#include "runtime_crt/platform/bare_metal/image.h"
#include "runtime_crt/platform/bare_metal/semihosting.h"
#include "tvm/runtime/crt/stack_allocator.h"

/* Exit status of a program that TVMPlatformAbort ends. */
#define STATUS_ABORT 199

static tvm_workspace_t pool;

tvm_crt_error_t TVMPlatformMemoryAllocate(size_t num_bytes, DLDevice device, void** out) {
  if (device.device_type != kDLCPU) return kTvmErrorFunctionCallInvalidArg;
  if (num_bytes > INT32_MAX) return kTvmErrorPlatformNoMemory;
  if (pool.workspace == NULL) {
    const tvm_crt_error_t error =
        StackMemoryManager_Init(&pool, pool_start, (size_t)(pool_end - pool_start));
    if (error != kTvmErrorNoError) return error;
  }
  return StackMemoryManager_Allocate(&pool, (int32_t)num_bytes, out);
}

tvm_crt_error_t TVMPlatformMemoryFree(void* memory, DLDevice device) {
  if (device.device_type != kDLCPU) return kTvmErrorFunctionCallInvalidArg;
  return StackMemoryManager_Free(&pool, memory);
}

void TVMPlatformAbort(tvm_crt_error_t code) {
  SemihostingWrite("the runtime has ended the program with ");
  SemihostingWriteHex((uint32_t)code);
  SemihostingWrite("\n");
  SemihostingExit(STATUS_ABORT);
}

tvm_crt_error_t TVMPlatformTimerStart(void) { return kTvmErrorPlatformTimerBadState; }

tvm_crt_error_t TVMPlatformTimerStop(double* elapsed_seconds) {
  (void)elapsed_seconds;
  return kTvmErrorPlatformTimerBadState;
}
