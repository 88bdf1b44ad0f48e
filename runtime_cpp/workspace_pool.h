// SPDX-License-Identifier: Apache-2.0
//
// Scratch memory of one thread, kept from one use to the next.
//
// Operator functions take and give back blocks in the order of a stack, the same sizes in every run
// of a model, and a run takes one block for the model's workspace. Blocks that are given back are
// kept, so a model that has run once allocates no more. Blocks of up to kThreadBlockBytes stay with
// their thread, without contention and in the caches of its CPU. Larger ones go to any thread: the
// process then has as many as are in use at the same time, not one per thread that ever ran a model.
// workspaces.h is the program's side of it.
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
  // Frees the thread's blocks, also those in use.
  ~WorkspacePool();
  WorkspacePool(const WorkspacePool&) = delete;
  WorkspacePool& operator=(const WorkspacePool&) = delete;

  static WorkspacePool& ThisThread();

  // A block of at least `bytes` bytes, aligned to kAllocationAlignment. If there is no memory, all
  // idle blocks of the process are freed first; then ResourceExhausted.
  absl::StatusOr<void*> Allocate(DLDevice device, uint64_t bytes);

  // InvalidArgument if `memory` is not a block that this pool has handed out.
  absl::Status Free(DLDevice device, void* memory);

 private:
  friend struct AllWorkspaces;

  const std::thread::id thread_ = std::this_thread::get_id();
  IdleBlocks small_;         // Up to kThreadBlockBytes.
  std::vector<Block> used_;  // In the order of their allocation.
  // The list of all pools.
  WorkspacePool* previous_ = nullptr;
  WorkspacePool* next_ = nullptr;
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

// A loaded model whose runs take blocks of at most `bytes`, for its workspace or as scratch memory of
// an operator. At its end the idle blocks that are larger than the largest that is left are freed, and
// all of them after the last one.
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
