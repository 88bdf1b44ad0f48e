// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/idle_blocks.h"

#include <algorithm>

#include "runtime_cpp/data_type.h"
#include "runtime_cpp/device_api.h"
#include "runtime_cpp/status/macros.h"

namespace kiln::runtime {
namespace {

void Free(const Block& block) {
  const absl::StatusOr<DeviceApi*> api = GetDeviceApi(block.device);
  if (api.ok()) (*api)->Free(block.device, block.memory);
}

absl::StatusOr<Block> NewBlock(DLDevice device, size_t bytes) {
  KILN_ASSIGN_OR_RETURN(DeviceApi* const api, GetDeviceApi(device));
  KILN_ASSIGN_OR_RETURN(void* const memory, api->Allocate(device, bytes, kAllocationAlignment));
  return Block{.device = device, .memory = memory, .bytes = bytes};
}

}  // namespace

Block IdleBlocks::Take(size_t index) {
  const Block block = blocks_[index];
  blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(index));
  bytes_ -= block.bytes;
  return block;
}

absl::StatusOr<Block> IdleBlocks::Lend(DLDevice device, size_t bytes) {
  std::optional<Block> replaced;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::optional<size_t> smaller;
    for (size_t i = 0; i < blocks_.size(); ++i) {
      if (!SameDevice(blocks_[i].device, device)) continue;
      if (blocks_[i].bytes < bytes) {
        smaller = i;
        continue;
      }
      ++lent_;
      return Take(i);
    }
    // Reserves a place for every lent block, so that TakeBack does not allocate.
    blocks_.reserve(blocks_.size() + lent_ + 1);
    if (smaller.has_value()) replaced = Take(*smaller);
    ++lent_;
  }
  if (replaced.has_value()) Free(*replaced);
  absl::StatusOr<Block> block = NewBlock(device, bytes);
  if (block.ok()) return block;
  const std::lock_guard<std::mutex> lock(mutex_);
  --lent_;
  return block;
}

void IdleBlocks::TakeBack(const Block& block, uint64_t limit) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    --lent_;
    if (bytes_ + block.bytes <= limit) {
      // Inserted before blocks of the same size: the last used block is most likely in a cache.
      const auto smaller = [](const Block& a, const Block& b) { return a.bytes < b.bytes; };
      blocks_.insert(std::lower_bound(blocks_.begin(), blocks_.end(), block, smaller), block);
      bytes_ += block.bytes;
      return;
    }
  }
  Free(block);
}

std::optional<Block> IdleBlocks::TakeLarger(size_t max_bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (blocks_.empty() || blocks_.back().bytes <= max_bytes) return std::nullopt;
  return Take(blocks_.size() - 1);
}

uint64_t IdleBlocks::Trim(size_t max_bytes) {
  uint64_t bytes = 0;
  while (const std::optional<Block> block = TakeLarger(max_bytes)) {
    Free(*block);
    bytes += block->bytes;
  }
  return bytes;
}

uint64_t IdleBlocks::bytes() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return bytes_;
}

}  // namespace kiln::runtime
