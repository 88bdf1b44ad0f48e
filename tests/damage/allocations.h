// SPDX-License-Identifier: Apache-2.0
// Measures the memory that the program allocates by operator new. Linking this library replaces it.
//
//   const AllocationPeak peak;
//   Read(bytes);
//   EXPECT_LT(peak.bytes(), limit);
#ifndef KILN_TESTS_DAMAGE_ALLOCATIONS_H_
#define KILN_TESTS_DAMAGE_ALLOCATIONS_H_

#include <cstddef>

namespace kiln::testing {

// A program with more memory than this is aborted before it exhausts the machine's memory.
inline constexpr size_t kMostBytes = size_t{1} << 30;

// Peak of the allocated bytes since construction, minus the bytes at construction. Only one object
// may exist at a time.
class AllocationPeak {
 public:
  AllocationPeak();
  size_t bytes() const;

 private:
  size_t before_;
};

}  // namespace kiln::testing

#endif  // KILN_TESTS_DAMAGE_ALLOCATIONS_H_
