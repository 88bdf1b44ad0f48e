// SPDX-License-Identifier: Apache-2.0
#include "tests/damage/allocations.h"

#include <malloc.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace kiln::testing {
namespace {

std::atomic<size_t> bytes_now = 0, most_bytes = 0;

void* Allocate(size_t size) {
  if (size > kMostBytes || bytes_now + size > kMostBytes) {
    std::fprintf(stderr, "an allocation of %zu bytes, where there are %zu\n", size,
                 bytes_now.load());
    std::abort();
  }
  void* block = std::malloc(size);
  if (block == nullptr) std::abort();
  const size_t now = bytes_now += malloc_usable_size(block);
  if (now > most_bytes) most_bytes = now;
  return block;
}

void Free(void* block) {
  if (block == nullptr) return;
  bytes_now -= malloc_usable_size(block);
  std::free(block);
}

}  // namespace

AllocationPeak::AllocationPeak() : before_(bytes_now) { most_bytes = before_; }

size_t AllocationPeak::bytes() const { return most_bytes - before_; }

}  // namespace kiln::testing

// All forms but the aligned ones are replaced, so that each block is freed by its own allocator.
void* operator new(size_t size) { return kiln::testing::Allocate(size); }
void* operator new[](size_t size) { return kiln::testing::Allocate(size); }
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return kiln::testing::Allocate(size);
}
void* operator new[](size_t size, const std::nothrow_t&) noexcept {
  return kiln::testing::Allocate(size);
}
void operator delete(void* block) noexcept { kiln::testing::Free(block); }
void operator delete[](void* block) noexcept { kiln::testing::Free(block); }
void operator delete(void* block, size_t) noexcept { kiln::testing::Free(block); }
void operator delete[](void* block, size_t) noexcept { kiln::testing::Free(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { kiln::testing::Free(block); }
void operator delete[](void* block, const std::nothrow_t&) noexcept { kiln::testing::Free(block); }
