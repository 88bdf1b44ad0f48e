// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/prefault.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

namespace kiln::runtime {
namespace {

// MADV_POPULATE_READ of Linux 5.14. Older headers do not define it, and older kernels reject it.
constexpr int kPopulateRead = 22;

uintptr_t PageBytes() {
  static const auto bytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

void ReadPages(uintptr_t begin, uintptr_t end) {
  begin = begin / PageBytes() * PageBytes();
  if (madvise(reinterpret_cast<void*>(begin), end - begin, kPopulateRead) == 0) return;
  for (uintptr_t page = begin; page < end; page += PageBytes()) {
    (void)*reinterpret_cast<const volatile char*>(page);
  }
}

// Callback of dl_iterate_phdr. `data` is the address. Returns 1 to end the search.
int ReadObjectWith(dl_phdr_info* object, size_t, void* data) {
  const auto address = reinterpret_cast<uintptr_t>(data);
  const auto* const end = object->dlpi_phdr + object->dlpi_phnum;
  const auto begin_of = [&](const ElfW(Phdr) & segment) {
    return object->dlpi_addr + segment.p_vaddr;
  };
  bool has_address = false;
  for (const auto* segment = object->dlpi_phdr; segment != end; ++segment) {
    has_address |= segment->p_type == PT_LOAD && address >= begin_of(*segment) &&
                   address - begin_of(*segment) < segment->p_memsz;
  }
  if (!has_address) return 0;
  for (const auto* segment = object->dlpi_phdr; segment != end; ++segment) {
    if (segment->p_type != PT_LOAD || (segment->p_flags & PF_R) == 0) continue;
    ReadPages(begin_of(*segment), begin_of(*segment) + segment->p_memsz);
  }
  return 1;
}

}  // namespace

void PrefaultObject(const void* address) {
  dl_iterate_phdr(ReadObjectWith, const_cast<void*>(address));
}

void PrefaultBlock(void* begin, size_t bytes) {
  if (bytes > 0) std::memset(begin, 0, bytes);
}

}  // namespace kiln::runtime
