// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/workspace_pool.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <set>

#include "absl/strings/str_cat.h"
#include "runtime_cpp/data_type.h"
#include "runtime_cpp/device_api.h"
#include "runtime_cpp/status/macros.h"
#include "runtime_cpp/workspaces.h"

namespace kiln::runtime {
namespace {

// Blocks have whole pages, so that there are few sizes and freed blocks often fit.
constexpr uint64_t kPageBytes = 4096;

size_t WholePages(uint64_t bytes) {
  return std::max<uint64_t>(1, (bytes + kPageBytes - 1) / kPageBytes) * kPageBytes;
}

}  // namespace

struct AllWorkspaces {
  static AllWorkspaces& Global();

  // Frees the idle blocks larger than `max_bytes` and returns their size.
  uint64_t Trim(size_t max_bytes);
  uint64_t IdleBytes();
  void Add(WorkspacePool* pool);
  void Remove(WorkspacePool* pool);

  // Handlers of fork(): the child has only the thread that forked, and the locks must be free.
  static void BeforeFork();
  static void AfterForkInParent();
  static void AfterForkInChild();

  std::atomic<uint64_t> limit = std::numeric_limits<uint64_t>::max();
  IdleBlocks large;  // Blocks larger than kThreadBlockBytes. Its lock is taken after `mutex`.

  std::mutex mutex;                // Guards the members below.
  WorkspacePool* first = nullptr;  // List of the pools of all threads.
  std::multiset<uint64_t> users;   // `bytes` of each WorkspaceUser.
};

AllWorkspaces& AllWorkspaces::Global() {
  static AllWorkspaces* const workspaces = new AllWorkspaces;
  static const int registered = pthread_atfork(BeforeFork, AfterForkInParent, AfterForkInChild);
  (void)registered;
  return *workspaces;
}

uint64_t AllWorkspaces::Trim(size_t max_bytes) {
  uint64_t bytes = large.Trim(max_bytes);
  const std::lock_guard<std::mutex> lock(mutex);
  for (WorkspacePool* pool = first; pool != nullptr; pool = pool->next_) {
    bytes += pool->small_.Trim(max_bytes);
  }
  return bytes;
}

uint64_t AllWorkspaces::IdleBytes() {
  uint64_t bytes = large.bytes();
  const std::lock_guard<std::mutex> lock(mutex);
  for (WorkspacePool* pool = first; pool != nullptr; pool = pool->next_) {
    bytes += pool->small_.bytes();
  }
  return bytes;
}

void AllWorkspaces::Add(WorkspacePool* pool) {
  const std::lock_guard<std::mutex> lock(mutex);
  pool->next_ = first;
  if (first != nullptr) first->previous_ = pool;
  first = pool;
}

void AllWorkspaces::Remove(WorkspacePool* pool) {
  const std::lock_guard<std::mutex> lock(mutex);
  (pool->previous_ == nullptr ? first : pool->previous_->next_) = pool->next_;
  if (pool->next_ != nullptr) pool->next_->previous_ = pool->previous_;
}

void AllWorkspaces::BeforeFork() {
  Global().mutex.lock();
  Global().large.mutex().lock();
}

void AllWorkspaces::AfterForkInParent() {
  Global().large.mutex().unlock();
  Global().mutex.unlock();
}

// Pools of other threads are in memory that new threads may get.
void AllWorkspaces::AfterForkInChild() {
  AfterForkInParent();
  WorkspacePool* const all = Global().first;
  Global().first = nullptr;
  for (WorkspacePool *pool = all, *next = nullptr; pool != nullptr; pool = next) {
    next = pool->next_;
    pool->previous_ = pool->next_ = nullptr;
    if (pool->thread_ == std::this_thread::get_id()) Global().Add(pool);
  }
}

WorkspacePool::WorkspacePool() { AllWorkspaces::Global().Add(this); }

WorkspacePool::~WorkspacePool() {
  AllWorkspaces::Global().Remove(this);
  while (!used_.empty()) Free(used_.back().device, used_.back().memory).IgnoreError();
}

WorkspacePool& WorkspacePool::ThisThread() {
  thread_local WorkspacePool pool;
  return pool;
}

absl::StatusOr<void*> WorkspacePool::Allocate(DLDevice device, uint64_t bytes) {
  if (bytes > static_cast<uint64_t>(kMaxTensorBytes)) {
    return absl::ResourceExhaustedError(
        absl::StrCat("a workspace of ", bytes, " bytes, at most ", kMaxTensorBytes, " work"));
  }
  const size_t wanted = WholePages(bytes);
  // Done first, so that an exception loses no block.
  used_.reserve(used_.size() + 1);
  AllWorkspaces& all = AllWorkspaces::Global();
  IdleBlocks& idle = wanted <= kThreadBlockBytes ? small_ : all.large;
  absl::StatusOr<Block> block = idle.Lend(device, wanted);
  if (absl::IsResourceExhausted(block.status()) && all.Trim(0) > 0) {
    block = idle.Lend(device, wanted);
  }
  KILN_RETURN_IF_ERROR(block.status());
  used_.push_back(*block);
  return block->memory;
}

absl::Status WorkspacePool::Free(DLDevice device, void* memory) {
  // In most cases this is the last block that was allocated.
  const auto found = std::find_if(used_.rbegin(), used_.rend(), [&](const Block& block) {
    return block.memory == memory && SameDevice(block.device, device);
  });
  if (found == used_.rend()) {
    return absl::InvalidArgumentError(
        absl::StrCat("memory given back is no workspace of this thread on ", DeviceName(device)));
  }
  const Block block = *found;
  used_.erase(std::next(found).base());
  AllWorkspaces& all = AllWorkspaces::Global();
  const uint64_t limit = all.limit.load(std::memory_order_relaxed);
  if (block.bytes > kThreadBlockBytes) {
    all.large.TakeBack(block, limit);
  } else {
    small_.TakeBack(block, limit == 0 ? 0 : std::numeric_limits<uint64_t>::max());
  }
  return absl::OkStatus();
}

absl::StatusOr<ScopedWorkspace> ScopedWorkspace::Allocate(DLDevice device, uint64_t bytes) {
  KILN_ASSIGN_OR_RETURN(void* const memory, WorkspacePool::ThisThread().Allocate(device, bytes));
  return ScopedWorkspace(device, memory);
}

ScopedWorkspace::ScopedWorkspace(ScopedWorkspace&& other) noexcept
    : device_(other.device_), memory_(other.memory_) {
  other.memory_ = nullptr;
}

ScopedWorkspace::~ScopedWorkspace() {
  // Freeing a block of this pool cannot fail.
  if (memory_ != nullptr) WorkspacePool::ThisThread().Free(device_, memory_).IgnoreError();
}

WorkspaceUser::WorkspaceUser(uint64_t bytes) : bytes_(bytes) {
  AllWorkspaces& all = AllWorkspaces::Global();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.users.insert(bytes);
}

WorkspaceUser::~WorkspaceUser() {
  AllWorkspaces& all = AllWorkspaces::Global();
  size_t largest = 0;
  {
    const std::lock_guard<std::mutex> lock(all.mutex);
    all.users.erase(all.users.find(bytes_));
    if (!all.users.empty()) largest = WholePages(*all.users.rbegin());
  }
  all.Trim(largest);
}

uint64_t IdleWorkspaceBytes() { return AllWorkspaces::Global().IdleBytes(); }

uint64_t TrimWorkspaces() { return AllWorkspaces::Global().Trim(0); }

void SetIdleWorkspaceLimit(uint64_t bytes) {
  AllWorkspaces& all = AllWorkspaces::Global();
  all.limit.store(bytes, std::memory_order_relaxed);
  if (all.large.bytes() > bytes) all.large.Trim(0);
  if (bytes == 0) all.Trim(0);
}

}  // namespace kiln::runtime
