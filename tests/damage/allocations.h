// SPDX-License-Identifier: Apache-2.0
// What the program has allocated by operator new, which a test that links this replaces.
//
//   const AllocationPeak peak;
//   Read(bytes);
//   EXPECT_LT(peak.bytes(), limit);
#ifndef KILN_TESTS_DAMAGE_ALLOCATIONS_H_
#define KILN_TESTS_DAMAGE_ALLOCATIONS_H_

#include <cstddef>

namespace kiln::testing {

// More than this at once ends the program, before the machine has no memory left.
inline constexpr size_t kMostBytes = size_t{1} << 30;

// The most that there was, since this was made, beyond what there was then. One at a time.
class AllocationPeak {
 public:
  AllocationPeak();
  size_t bytes() const;

 private:
  size_t before_;
};

}  // namespace kiln::testing

#endif  // KILN_TESTS_DAMAGE_ALLOCATIONS_H_
