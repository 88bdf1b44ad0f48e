// SPDX-License-Identifier: Apache-2.0
//
// Memory of the caller's, handed out and given back like a stack.
//
//   static uint8_t buffer[4096];
//   tvm_workspace_t workspace;
//   StackMemoryManager_Init(&workspace, buffer, sizeof(buffer));
#ifndef TVM_RUNTIME_CRT_STACK_ALLOCATOR_H_
#define TVM_RUNTIME_CRT_STACK_ALLOCATOR_H_

#include <stddef.h>
#include <stdint.h>

#include "tvm/runtime/crt/error_codes.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  uint8_t* next_alloc;    // The first free byte.
  uint8_t* workspace;     // The first byte, aligned.
  size_t workspace_size;  // Bytes from there on.
} tvm_workspace_t;

// The start is rounded up to TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES. kTvmErrorPlatformNoMemory if
// nothing is left then.
tvm_crt_error_t StackMemoryManager_Init(tvm_workspace_t* workspace, uint8_t* memory, size_t size);

// kTvmErrorPlatformNoMemory. Sizes are rounded up to TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES.
tvm_crt_error_t StackMemoryManager_Allocate(tvm_workspace_t* workspace, int32_t num_bytes,
                                            void** block);

// Gives the youngest block back. With TVM_CRT_STACK_ALLOCATOR_ENABLE_LIFO_CHECK, another one is
// kTvmErrorPlatformStackAllocBadFree.
tvm_crt_error_t StackMemoryManager_Free(tvm_workspace_t* workspace, void* block);

// The same with the check chosen at run time; all calls on one workspace must choose alike. The
// check takes TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES more per block.
tvm_crt_error_t StackMemoryManager_Allocate_Body(tvm_workspace_t* workspace, int32_t num_bytes,
                                                 void** block, uint8_t do_lifo_check);
tvm_crt_error_t StackMemoryManager_Free_Body(tvm_workspace_t* workspace, void* block,
                                             uint8_t do_lifo_check);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TVM_RUNTIME_CRT_STACK_ALLOCATOR_H_
