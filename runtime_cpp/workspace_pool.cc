// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/workspace_pool.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime_cpp/data_type.h"
#include "runtime_cpp/device_api.h"
#include "runtime_cpp/status/macros.h"

namespace kiln::runtime {
namespace {

// Blocks are whole pages, so that few sizes occur and blocks fit again.
constexpr uint64_t kPageBytes = 4096;

}  // namespace

WorkspacePool::~WorkspacePool() {
  for (const auto* blocks : {&free_, &used_}) {
    for (const Block& block : *blocks) {
      absl::StatusOr<DeviceApi*> api = GetDeviceApi(block.device);
      if (api.ok()) (*api)->Free(block.device, block.memory);
    }
  }
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
  const uint64_t wanted = std::max<uint64_t>(1, (bytes + kPageBytes - 1) / kPageBytes) * kPageBytes;
  // Before there is a block to lose; and to give one back takes no memory.
  used_.reserve(used_.size() + 1);
  free_.reserve(free_.size() + used_.size() + 1);
  const auto found = std::find_if(free_.begin(), free_.end(), [&](const Block& block) {
    return block.bytes >= wanted && SameDevice(block.device, device);
  });
  if (found != free_.end()) {
    used_.push_back(*found);
    free_.erase(found);
    return used_.back().memory;
  }
  KILN_ASSIGN_OR_RETURN(DeviceApi* const api, GetDeviceApi(device));
  KILN_ASSIGN_OR_RETURN(void* const memory, api->Allocate(device, wanted, kAllocationAlignment));
  used_.push_back({.device = device, .memory = memory, .bytes = wanted});
  return memory;
}

absl::Status WorkspacePool::Free(DLDevice device, void* memory) {
  // Mostly the last one that was taken.
  const auto found = std::find_if(used_.rbegin(), used_.rend(), [&](const Block& block) {
    return block.memory == memory && SameDevice(block.device, device);
  });
  if (found == used_.rend()) {
    return absl::InvalidArgumentError(
        absl::StrCat("memory given back is no workspace of this thread on ", DeviceName(device)));
  }
  const Block block = *found;
  used_.erase(std::next(found).base());
  const auto smaller = [](const Block& a, const Block& b) { return a.bytes < b.bytes; };
  free_.insert(std::lower_bound(free_.begin(), free_.end(), block, smaller), block);
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
  // A block of this pool can always be given back.
  if (memory_ != nullptr) WorkspacePool::ThisThread().Free(device_, memory_).IgnoreError();
}

}  // namespace kiln::runtime
