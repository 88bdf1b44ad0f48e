// SPDX-License-Identifier: Apache-2.0
//
// Scratch memory of one thread, kept from one use to the next.
//
// Operator functions take and give back blocks in the order of a stack, the same sizes in every run
// of a model. The pool therefore keeps what is given back, and a model that has run once allocates
// no more. Memory returns to the system when the thread ends.
//
//   absl::StatusOr<void*> scratch = WorkspacePool::ThisThread().Allocate(kCpu, 4096);
//   WorkspacePool::ThisThread().Free(kCpu, *scratch);
#ifndef KILN_RUNTIME_CPP_WORKSPACE_POOL_H_
#define KILN_RUNTIME_CPP_WORKSPACE_POOL_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dlpack/dlpack.h"

namespace kiln::runtime {

class WorkspacePool {
 public:
  WorkspacePool() = default;
  ~WorkspacePool();
  WorkspacePool(const WorkspacePool&) = delete;
  WorkspacePool& operator=(const WorkspacePool&) = delete;

  static WorkspacePool& ThisThread();

  // A block of at least `bytes` bytes, aligned to kAllocationAlignment.
  absl::StatusOr<void*> Allocate(DLDevice device, uint64_t bytes);

  // InvalidArgument if `memory` is not a block that this pool has handed out.
  absl::Status Free(DLDevice device, void* memory);

 private:
  struct Block {
    DLDevice device;
    void* memory;
    size_t bytes;
  };

  std::vector<Block> free_;  // The smallest first.
  std::vector<Block> used_;  // In the order of their allocation.
};

// One block of this thread's pool, given back at the end of the scope.
class ScopedWorkspace {
 public:
  static absl::StatusOr<ScopedWorkspace> Allocate(DLDevice device, uint64_t bytes);
  ScopedWorkspace(ScopedWorkspace&& other) noexcept;
  ScopedWorkspace& operator=(ScopedWorkspace&&) = delete;
  ~ScopedWorkspace();

  void* data() const { return memory_; }

 private:
  ScopedWorkspace(DLDevice device, void* memory) : device_(device), memory_(memory) {}

  DLDevice device_;
  void* memory_;
};

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_WORKSPACE_POOL_H_
