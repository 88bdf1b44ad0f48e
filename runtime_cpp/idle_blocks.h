// SPDX-License-Identifier: Apache-2.0
//
// Unused blocks of memory, which are kept to be lent again.
#ifndef KILN_RUNTIME_CPP_IDLE_BLOCKS_H_
#define KILN_RUNTIME_CPP_IDLE_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "dlpack/dlpack.h"

namespace kiln::runtime {

struct Block {
  DLDevice device;
  void* memory;
  size_t bytes;
};

// All methods are thread-safe.
class IdleBlocks {
 public:
  IdleBlocks() = default;
  IdleBlocks(const IdleBlocks&) = delete;
  IdleBlocks& operator=(const IdleBlocks&) = delete;
  ~IdleBlocks() { Trim(0); }

  // Returns the smallest block of at least `bytes` bytes. If there is none, allocates one, which
  // replaces the largest of the smaller blocks. Returns ResourceExhausted if there is no memory.
  absl::StatusOr<Block> Lend(DLDevice device, size_t bytes);

  // Takes back a block from Lend. Frees it if more than `limit` bytes would be kept. Allocates no
  // memory.
  void TakeBack(const Block& block, uint64_t limit);

  // Frees the idle blocks of more than `max_bytes` bytes and returns their total size.
  uint64_t Trim(size_t max_bytes);

  uint64_t bytes();

  // For fork(): in the child, the thread that holds the lock may not exist.
  std::mutex& mutex() { return mutex_; }

 private:
  // These methods require the lock. Take removes a block; `index` is below blocks_.size().
  Block Take(size_t index);
  std::optional<Block> TakeLarger(size_t max_bytes);

  std::mutex mutex_;           // Guards the members below.
  std::vector<Block> blocks_;  // Smallest first. Its capacity includes lent blocks.
  size_t lent_ = 0;            // Number of lent blocks.
  uint64_t bytes_ = 0;         // Total size of blocks_.
};

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_IDLE_BLOCKS_H_
