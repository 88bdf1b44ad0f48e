// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_COMPILER_BASE_ALIGN_H_
#define KILN_COMPILER_BASE_ALIGN_H_

#include <cstdint>

namespace kiln {

// Rounds `bytes` up to a multiple of `alignment`. `bytes` must be at least 0, `alignment` above 0.
constexpr int64_t AlignUp(int64_t bytes, int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

}  // namespace kiln

#endif  // KILN_COMPILER_BASE_ALIGN_H_
