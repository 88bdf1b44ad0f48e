// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_COMPILER_BASE_ALIGN_H_
#define KILN_COMPILER_BASE_ALIGN_H_

#include <cstdint>

namespace kiln {

// The least multiple of `alignment` that is not below `bytes`; alignment > 0, bytes >= 0.
constexpr int64_t AlignUp(int64_t bytes, int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

// a / b, rounded up; b > 0.
constexpr int64_t DivideUp(int64_t a, int64_t b) { return a / b + (a % b > 0 ? 1 : 0); }

}  // namespace kiln

#endif  // KILN_COMPILER_BASE_ALIGN_H_
