// SPDX-License-Identifier: Apache-2.0
#include "tvm/runtime/crt/stack_allocator.h"

#include <string.h>

#include "tvm/runtime/crt/crt_config.h"

#define ALIGNMENT ((size_t)TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES)
#define TAG_KEY 0xabcd1234u

#ifdef TVM_CRT_STACK_ALLOCATOR_ENABLE_LIFO_CHECK
#define LIFO_CHECK 1
#else
#define LIFO_CHECK 0
#endif

static size_t RoundUp(size_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

tvm_crt_error_t StackMemoryManager_Init(tvm_workspace_t* workspace, uint8_t* memory, size_t size) {
  const size_t skip = RoundUp((size_t)(uintptr_t)memory) - (size_t)(uintptr_t)memory;
  workspace->workspace = memory;
  workspace->next_alloc = memory;
  workspace->workspace_size = 0;
  if (skip >= size) return kTvmErrorPlatformNoMemory;
  workspace->workspace = memory + skip;
  workspace->next_alloc = workspace->workspace;
  workspace->workspace_size = size - skip;
  return kTvmErrorNoError;
}

tvm_crt_error_t StackMemoryManager_Allocate_Body(tvm_workspace_t* workspace, int32_t num_bytes,
                                                 void** block, uint8_t do_lifo_check) {
  const size_t used = (size_t)(workspace->next_alloc - workspace->workspace);
  size_t size;
  // The additions below cannot overflow: size_t has at least 32 bits, and num_bytes is an int32_t.
  if (num_bytes < 0) return kTvmErrorPlatformNoMemory;
  size = RoundUp((size_t)num_bytes) + (do_lifo_check ? ALIGNMENT : 0);
  if (size > workspace->workspace_size - used) return kTvmErrorPlatformNoMemory;
  *block = workspace->next_alloc;
  workspace->next_alloc += size;
  if (do_lifo_check) {
    // The last bytes of a block hold its size.
    const uint32_t tag = (uint32_t)size ^ TAG_KEY;
    memcpy(workspace->next_alloc - sizeof(tag), &tag, sizeof(tag));
  }
  return kTvmErrorNoError;
}

tvm_crt_error_t StackMemoryManager_Free_Body(tvm_workspace_t* workspace, void* block,
                                             uint8_t do_lifo_check) {
  uint8_t* const start = (uint8_t*)block;
  if (start < workspace->workspace || start > workspace->next_alloc) {
    return kTvmErrorPlatformStackAllocBadFree;
  }
  if (do_lifo_check) {
    const size_t size = (size_t)(workspace->next_alloc - start);
    uint32_t tag;
    if (size < ALIGNMENT) return kTvmErrorPlatformStackAllocBadFree;
    memcpy(&tag, workspace->next_alloc - sizeof(tag), sizeof(tag));
    if ((uint32_t)size != (tag ^ TAG_KEY)) return kTvmErrorPlatformStackAllocBadFree;
  }
  workspace->next_alloc = start;
  return kTvmErrorNoError;
}

tvm_crt_error_t StackMemoryManager_Allocate(tvm_workspace_t* workspace, int32_t num_bytes,
                                            void** block) {
  return StackMemoryManager_Allocate_Body(workspace, num_bytes, block, LIFO_CHECK);
}

tvm_crt_error_t StackMemoryManager_Free(tvm_workspace_t* workspace, void* block) {
  return StackMemoryManager_Free_Body(workspace, block, LIFO_CHECK);
}
