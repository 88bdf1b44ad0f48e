// SPDX-License-Identifier: Apache-2.0
//
// Platform hooks that the C runtime calls. The application implements the hooks that its parts of
// the runtime need. platform/host implements them for programs on an operating system.
#ifndef TVM_RUNTIME_CRT_PLATFORM_H_
#define TVM_RUNTIME_CRT_PLATFORM_H_

#include <stddef.h>
#include <stdint.h>

#include "tvm/runtime/c_runtime_api.h"
#include "tvm/runtime/crt/error_codes.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TVM_CRT_NORETURN __attribute__((noreturn))
#else
#define TVM_CRT_NORETURN
#endif

// Allocate and free memory of a device. Blocks are aligned to at least
// TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES. Allocate returns kTvmErrorPlatformNoMemory if there is no
// memory.
tvm_crt_error_t TVMPlatformMemoryAllocate(size_t num_bytes, DLDevice device, void** out);
tvm_crt_error_t TVMPlatformMemoryFree(void* memory, DLDevice device);

// Ends the program, or resets the board.
void TVMPlatformAbort(tvm_crt_error_t code) TVM_CRT_NORETURN;

// A timer. Start returns kTvmErrorPlatformTimerBadState if the timer is running, Stop if it is not.
tvm_crt_error_t TVMPlatformTimerStart(void);
tvm_crt_error_t TVMPlatformTimerStop(double* elapsed_seconds);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TVM_RUNTIME_CRT_PLATFORM_H_
