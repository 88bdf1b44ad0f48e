// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_COMPILER_BASE_ALIGN_H_
#define KILN_COMPILER_BASE_ALIGN_H_

#include <cstdint>

namespace kiln {

// The least multiple of `alignment`, which is above 0, that is not below `bytes`, which is not
// negative.
constexpr int64_t AlignUp(int64_t bytes, int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

}  // namespace kiln

#endif  // KILN_COMPILER_BASE_ALIGN_H_
