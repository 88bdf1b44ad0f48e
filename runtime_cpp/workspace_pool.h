// SPDX-License-Identifier: Apache-2.0
//
// Scratch memory of one thread, kept from one use to the next.
//
// Operator functions allocate and free blocks in stack order, with the same sizes in every run of a
// model. A run takes one block for the model's workspace. Freed blocks are kept, so a model that
// has run once allocates no more memory. Blocks of up to kThreadBlockBytes stay with their thread,
// without contention and in the caches of its CPU. Larger blocks may go to any thread. The process
// then has as many of them as are in use at the same time, not one for each thread that ever ran a
// model. workspaces.h is the public interface for programs.
//
//   absl::StatusOr<void*> scratch = WorkspacePool::ThisThread().Allocate(kCpu, 4096);
//   WorkspacePool::ThisThread().Free(kCpu, *scratch);
#ifndef KILN_RUNTIME_CPP_WORKSPACE_POOL_H_
#define KILN_RUNTIME_CPP_WORKSPACE_POOL_H_

#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dlpack/dlpack.h"
#include "runtime_cpp/idle_blocks.h"

namespace kiln::runtime {

inline constexpr size_t kThreadBlockBytes = size_t{256} << 10;

class WorkspacePool {
 public:
  WorkspacePool();
  // Frees all blocks of the thread, including those in use.
  ~WorkspacePool();
  WorkspacePool(const WorkspacePool&) = delete;
  WorkspacePool& operator=(const WorkspacePool&) = delete;

  static WorkspacePool& ThisThread();

  // Returns a block of at least `bytes` bytes, aligned to kAllocationAlignment. If there is no
  // memory, frees all idle blocks of the process and tries again. Then returns ResourceExhausted.
  absl::StatusOr<void*> Allocate(DLDevice device, uint64_t bytes);

  // Returns InvalidArgument if `memory` is not a block that this pool has handed out.
  absl::Status Free(DLDevice device, void* memory);

 private:
  friend struct AllWorkspaces;

  const std::thread::id thread_ = std::this_thread::get_id();
  IdleBlocks small_;         // Blocks of up to kThreadBlockBytes.
  std::vector<Block> used_;  // Blocks in use, in the order of their allocation.
  // Links of the list of all pools.
  WorkspacePool* previous_ = nullptr;
  WorkspacePool* next_ = nullptr;
};

// A block of this thread's pool, which is freed at the end of the scope.
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

// A loaded model whose runs take blocks of at most `bytes` bytes, for its workspace or as scratch
// memory of an operator. Its destructor frees the idle blocks that are larger than any other user
// needs. The destructor of the last user frees all idle blocks.
class WorkspaceUser {
 public:
  explicit WorkspaceUser(uint64_t bytes);
  ~WorkspaceUser();
  WorkspaceUser(const WorkspaceUser&) = delete;
  WorkspaceUser& operator=(const WorkspaceUser&) = delete;

 private:
  uint64_t bytes_;
};

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_WORKSPACE_POOL_H_
