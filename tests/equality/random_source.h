// SPDX-License-Identifier: Apache-2.0
// Random choices by seed, the same on every machine.
#ifndef KILN_TESTS_EQUALITY_RANDOM_SOURCE_H_
#define KILN_TESTS_EQUALITY_RANDOM_SOURCE_H_

#include <cstddef>
#include <cstdint>

namespace kiln::equality {

class RandomSource {
 public:
  explicit RandomSource(uint32_t seed) : state_(seed * 2654435761u + 12345) {}

  // Returns a number from 0 to n - 1.
  int Below(int n) {
    state_ = state_ * 1664525u + 1013904223u;
    return static_cast<int>((state_ >> 8) % static_cast<uint32_t>(n));
  }
  // Returns true once in n times.
  bool OneIn(int n) { return Below(n) == 0; }
  double Between(double least, double most) { return least + (most - least) * Below(4096) / 4095; }
  template <typename T, size_t n>
  T Pick(const T (&values)[n]) {
    return values[Below(static_cast<int>(n))];
  }
  // Returns a small extent of a dimension.
  int64_t Extent() {
    static constexpr int64_t kExtents[] = {1, 2, 3, 4, 5, 7, 8, 9, 16, 17};
    return Pick(kExtents);
  }
  // Seed for other random generators.
  uint32_t state() const { return state_; }

 private:
  uint32_t state_;
};

}  // namespace kiln::equality

#endif  // KILN_TESTS_EQUALITY_RANDOM_SOURCE_H_
