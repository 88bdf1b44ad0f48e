// SPDX-License-Identifier: Apache-2.0
//
// Blocks of memory that nobody uses, kept to be lent again.
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

// Any thread may call any method.
class IdleBlocks {
 public:
  IdleBlocks() = default;
  IdleBlocks(const IdleBlocks&) = delete;
  IdleBlocks& operator=(const IdleBlocks&) = delete;
  ~IdleBlocks() { Trim(0); }

  // The smallest block of at least `bytes`, or a new one, which takes the place of the largest of
  // the smaller ones. ResourceExhausted if there is no memory.
  absl::StatusOr<Block> Lend(DLDevice device, size_t bytes);

  // Takes back a block that Lend has given, and frees it if more than `limit` bytes were kept. It
  // allocates no memory.
  void TakeBack(const Block& block, uint64_t limit);

  // Frees the blocks of more than `max_bytes` that are not lent; returns how many bytes these were.
  uint64_t Trim(size_t max_bytes);

  uint64_t bytes();

  // For a fork, in whose child the thread that has locked it may be missing.
  std::mutex& mutex() { return mutex_; }

 private:
  // Methods under the lock. Take removes a block; its index is below blocks_.size().
  Block Take(size_t index);
  std::optional<Block> TakeLarger(size_t max_bytes);

  std::mutex mutex_;           // of what follows
  std::vector<Block> blocks_;  // The smallest first; has room for lent blocks too.
  size_t lent_ = 0;
  uint64_t bytes_ = 0;  // of blocks_
};

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_IDLE_BLOCKS_H_
