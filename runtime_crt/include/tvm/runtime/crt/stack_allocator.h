// SPDX-License-Identifier: Apache-2.0
//
// Allocator for memory of the caller. Blocks are freed in reverse order, as on a stack.
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
  size_t workspace_size;  // Number of bytes from `workspace` on.
} tvm_workspace_t;

// Makes an allocator for `size` bytes at `memory`. Blocks begin at the first multiple of
// TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES. Returns kTvmErrorPlatformNoMemory if no bytes are left after
// it.
tvm_crt_error_t StackMemoryManager_Init(tvm_workspace_t* workspace, uint8_t* memory, size_t size);

// Allocates a block. `num_bytes` is rounded up to a multiple of TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES.
// Returns kTvmErrorPlatformNoMemory if the rest is too small.
tvm_crt_error_t StackMemoryManager_Allocate(tvm_workspace_t* workspace, int32_t num_bytes,
                                            void** block);

// Frees the block that was allocated last. With TVM_CRT_STACK_ALLOCATOR_ENABLE_LIFO_CHECK, any
// other block is refused with kTvmErrorPlatformStackAllocBadFree.
tvm_crt_error_t StackMemoryManager_Free(tvm_workspace_t* workspace, void* block);

// Same functions, with the check chosen at run time. All calls on one workspace must make the same
// choice. The check needs another TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES per block.
tvm_crt_error_t StackMemoryManager_Allocate_Body(tvm_workspace_t* workspace, int32_t num_bytes,
                                                 void** block, uint8_t do_lifo_check);
tvm_crt_error_t StackMemoryManager_Free_Body(tvm_workspace_t* workspace, void* block,
                                             uint8_t do_lifo_check);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TVM_RUNTIME_CRT_STACK_ALLOCATOR_H_
