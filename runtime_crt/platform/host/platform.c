// SPDX-License-Identifier: Apache-2.0
//
// The platform hooks for an operating system with malloc and a clock.
#include "tvm/runtime/crt/platform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tvm/runtime/crt/crt_config.h"

static int timer_runs;
static clock_t timer_start;

#define ALIGNMENT ((size_t)TVM_CRT_TENSOR_ALIGNMENT_BYTES)

tvm_crt_error_t TVMPlatformMemoryAllocate(size_t num_bytes, DLDevice device, void** out) {
  char* whole;
  char* aligned;
  if (device.device_type != kDLCPU) return kTvmErrorFunctionCallInvalidArg;
  if (num_bytes > SIZE_MAX - 2 * ALIGNMENT) return kTvmErrorPlatformNoMemory;
  whole = (char*)malloc(num_bytes + ALIGNMENT + sizeof(void*));
  if (whole == NULL) return kTvmErrorPlatformNoMemory;
  // The pointer for free() is stored before the block.
  aligned = whole + sizeof(void*);
  aligned += (ALIGNMENT - (size_t)(uintptr_t)aligned % ALIGNMENT) % ALIGNMENT;
  memcpy(aligned - sizeof(void*), &whole, sizeof(whole));
  *out = aligned;
  return kTvmErrorNoError;
}

tvm_crt_error_t TVMPlatformMemoryFree(void* memory, DLDevice device) {
  char* whole = NULL;
  (void)device;
  if (memory != NULL) memcpy(&whole, (char*)memory - sizeof(void*), sizeof(whole));
  free(whole);
  return kTvmErrorNoError;
}

void TVMPlatformAbort(tvm_crt_error_t code) {
  (void)fprintf(stderr, "abort: error 0x%x\n", (unsigned)code);
  exit(1);
}

tvm_crt_error_t TVMPlatformTimerStart(void) {
  if (timer_runs) return kTvmErrorPlatformTimerBadState;
  timer_runs = 1;
  timer_start = clock();
  return kTvmErrorNoError;
}

tvm_crt_error_t TVMPlatformTimerStop(double* elapsed_seconds) {
  if (!timer_runs) return kTvmErrorPlatformTimerBadState;
  timer_runs = 0;
  *elapsed_seconds = (double)(clock() - timer_start) / (double)CLOCKS_PER_SEC;
  return kTvmErrorNoError;
}
